"""The page of the report: its document, the sections that are not of one figure, its style sheet and scripts.

The page loads no other files.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from cepbench.metrics.capabilities import Capabilities
from cepbench.metrics.commits import SHORT
from cepbench.metrics.record import Record
from cepbench.metrics.results import Results
from cepbench.metrics.status import Status
from cepbench.metrics.table import machine
from cepbench.plots.agreement import Agreement, groups
from cepbench.plots.censored import LABELS
from cepbench.plots.claims import all_claims, by_paper, verdicts, what_holds
from cepbench.plots.effects import effects
from cepbench.plots.html import Cell, Html, join, table, tag, trusted
from cepbench.plots.section import anchor
from cepbench.plots.style import label
from cepbench.plots.tables import AGREEMENT_KIND, badge, counted, statuses

TITLE = "cepbench report"
CHANGES = (
    "The number, the expectation and the size of each claim are stored before the first cell is measured. This table "
    "lists claims in which one of them was changed later, with the reasons."
)
THREATS = (
    (
        "A virtual clock.",
        "Service times are measured, and arrivals are replayed on a schedule without sleeping. Queues are "
        "exact for these times, but nothing competes for the machine as it would in a live system.",
    ),
    (
        "One machine.",
        "The cells of a run were measured on the machine that its environment names. Ratios carry over to "
        "other machines better than seconds do.",
    ),
    (
        "Compiled loops instead of Java.",
        "All algorithms are compiled the same way here, while the authors used Java, where objects cost more than "
        "arithmetic. Constant factors differ from those of the papers; the growth of costs does not.",
    ),
    (
        "Generated streams.",
        "A generator with the attributes and rates of the data set replaces a data set that is not published. What "
        "the text leaves open, such as the overlap of queries, is varied or listed as a departure.",
    ),
    (
        "Smaller sizes.",
        "Windows and workloads are only as large as this machine can finish. Each claim names the size at which it "
        "is judged, and is open if that is too small.",
    ),
)
"""Threats to the validity of the measurements on the page."""


def page(
    everything: Sequence[Results],
    sections: Sequence[Html],
    capable: Capabilities | None = None,
    progress: tuple[int, int] | None = None,
    missing: Sequence[str] = (),
) -> str:
    """The whole document. With `progress`, it reports how many experiments of the running sweep were measured.

    `missing` has a line for each experiment of the sweep whose data are missing.
    """
    several_runs = len({results.source for results in everything}) > 1
    several_profiles = len({results.figure.profile for results in everything}) > 1
    contents = [tag("li", tag("a", "Summary", href="#summary"))]
    for results in by_paper(everything):
        title = " ".join(dict.fromkeys((results.figure.id, results.figure.title)))
        profile = f" {results.figure.profile}" if several_profiles else None
        run = f" {results.source}" if several_runs else None
        contents.append(tag("li", tag("a", title, href=f"#{anchor(results)}"), profile, run))
    last = (
        ("changes", "Changed after it was measured", _changes(everything)),
        ("validity", "Threats to validity", _threats(everything)),
        ("capabilities", "What each algorithm can evaluate", None if capable is None else _capabilities(capable)),
    )
    contents += [tag("li", tag("a", head, href=f"#{name}")) for name, head, content in last if content is not None]
    rest = [
        tag("section", tag("h2", head, id=f"{name}-title"), content, id=name, aria_labelledby=f"{name}-title")
        for name, head, content in last
        if content is not None
    ]
    body = tag(
        "body",
        tag("a", "Skip to the figures", href="#main", class_="skip"),
        tag(
            "div",
            tag("nav", tag("h2", "Contents"), tag("ol", contents), aria_label="Contents"),
            tag("main", _summary(everything, progress, missing), list(sections), rest, id="main"),
            class_="layout",
        ),
        tag("script", trusted(SCRIPT)),
        None if progress is None else tag("script", trusted(REFRESHING)),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", TITLE),
        tag("style", trusted(STYLE)),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _summary(everything: Sequence[Results], progress: tuple[int, int] | None, missing: Sequence[str]) -> Html:
    records = [record for results in everything for record in results.records]
    several_runs = len({results.source for results in everything}) > 1
    inputs = [group for results in everything for group in groups(results.records)]
    period = _period(records)
    parts = [tag("h1", TITLE, id="summary"), tag("p", f"Measured {period} (UTC)." if period else None, class_="meta")]
    if progress is not None:
        parts.append(_progress(*progress))
    parts += [tag("p", line, class_="note") for line in missing]
    if not everything:
        parts.append(tag("p", "There are no results yet: run an experiment first.", class_="warning"))
        return join(parts)
    counts = {status: sum(record.cell_status is status for record in records) for status in Status}
    disagreeing = sum(group.agreement is Agreement.DISAGREE for group in inputs)
    agreeing = sum(group.agreement is Agreement.AGREE for group in inputs)
    tiles = [
        (len(everything), "figures"),
        (len(records), "cells"),
        *((count, LABELS.get(status, "ok")) for status, count in counts.items() if count),
        (agreeing, "inputs with equal answers"),
        (disagreeing, "inputs with unequal answers"),
    ]
    if disagreeing or counts[Status.WRONG]:
        parts.append(
            tag("p", "Some answers are wrong. Their times are not drawn; see the red rows below.", class_="warning")
        )
    # Of all claims, and drawn again with each: a growing page has it at the end, and else takes a third more time.
    drawn = effects(everything) if progress is None else None
    parts += [part for part in (what_holds(everything), drawn, _runs(everything)) if part is not None]
    parts.append(tag("ul", [tag("li", tag("b", number), tag("span", text)) for number, text in tiles], class_="tiles"))
    parts += all_claims(everything, anchor)
    parts.append(
        table(
            "Figures",
            ("Figure", "Title", "Profile", *(["Run"] if several_runs else []), "Cells", "Answers", "Claims"),
            [_figure_row(results, several_runs) for results in by_paper(everything)],
            sortable=True,
        )
    )
    return join(parts)


def _progress(measured: int, planned: int) -> Html:
    now = datetime.now(UTC).strftime("%H:%M:%S")
    done = f"{measured} of {planned} experiment{'s' if planned > 1 else ''} so far, at {now} (UTC). "
    return tag("p", done, tag("span", "This page refreshes automatically.", id="refreshing"), class_="running")


def _figure_row(results: Results, with_run: bool) -> list[Cell]:
    figure, records = results.figure, results.records
    answers = [group.agreement for group in groups(records)]
    return [
        Cell(tag("a", figure.id, href=f"#{anchor(results)}")),
        Cell(figure.title, kind="text"),
        Cell(figure.profile),
        *([Cell(results.source)] if with_run else []),
        Cell(statuses(records), float(len(records))),
        Cell(counted([(badge(a, AGREEMENT_KIND[a]), answers.count(a)) for a in Agreement])),
        Cell(verdicts(figure.claims)),
    ]


def _runs(everything: Sequence[Results]) -> Html | None:
    """A row per source: machine, commit, time, cells and verdicts; None if no source has a name."""
    sources = sorted({results.source for results in everything if results.source})
    heads = ("Run", "Machine", "Commit", "Measured (UTC)", "Figures", "Cells", "Claims")
    rows = []
    for source in sources:
        figures = [results for results in everything if results.source == source]
        records = [record for results in figures for record in results.records]
        rows.append(
            [
                Cell(source),
                Cell("; ".join(dict.fromkeys(map(machine, records))), kind="text"),
                Cell(", ".join(dict.fromkeys(map(_commit, records)))),
                Cell(_period(records), kind="text"),
                Cell(len(figures)),
                Cell(statuses(records)),
                Cell(verdicts([claim for results in figures for claim in results.figure.claims])),
            ]
        )
    return table("Runs", heads, rows) if rows else None


def _period(records: Sequence[Record]) -> str:
    """The times of the first and the last cell; empty if no cell has one."""
    times = sorted(record.started for record in records if record.started)
    return f"{times[0]} to {times[-1]}" if times else ""


def _commit(record: Record) -> str:
    commit = record.provenance.get("commit")
    return f"{str(commit)[:SHORT]}{'+' if record.provenance.get('dirty') else ''}" if commit else "not recorded"


def _changes(everything: Sequence[Results]) -> Html | None:
    """A row per claim that was changed after the first cell was measured; None without changes."""
    rows = []
    for results in by_paper(everything):
        figure = results.figure
        changed = [("dropped", claim) for claim in figure.dropped] + [("added", claim) for claim in figure.added]
        if not changed and not figure.revised:
            continue
        link = Cell(tag("a", figure.id, href=f"#{anchor(results)}"))
        reason = Cell(" ".join(figure.revised) or "No reason is given.", kind="cause")
        rows += [
            [link, Cell(change), Cell(claim.text, kind="claim"), claim.what, claim.expected, claim.size, reason]
            for change, claim in changed
        ] or [[link, Cell("run or rules"), Cell("all"), "", "", "", reason]]
    heads = ("Figure", "Change", "Claim", "Number", "Expected", "Size", "Reason")
    return join([tag("p", CHANGES, class_="note"), table("Changes of claims", heads, rows)]) if rows else None


def _threats(everything: Sequence[Results]) -> Html | None:
    """The threats as a list; None without claims."""
    if not any(results.figure.claims for results in everything):
        return None
    return tag("ul", [tag("li", tag("strong", head), " ", text) for head, text in THREATS])


def _capabilities(capable: Capabilities) -> Html:
    """A table per group of features, a row per feature, and below them the reasons of refusals."""
    heads = ("", *map(label, capable.algorithms))
    rows: dict[str, list[list[Cell]]] = {}
    for row in capable.rows:
        refused = [name in row.reasons for name in capable.algorithms]
        cells = [Cell("–", kind="no") if refusal else Cell("yes", kind="yes") for refusal in refused]
        rows.setdefault(row.group, []).append([Cell(tag("span", row.name, title=row.workload), kind="text"), *cells])
    return join(
        [
            tag("p", "Each row was tested with a small workload, shown as its tooltip.", class_="meta"),
            [tag("p", f"{label(name)} cannot run here: {why}", class_="note") for name, why in capable.absent.items()],
            [table(group, heads, members) for group, members in rows.items()],
            tag("h3", "Reasons"),
            [_reasons(capable, name) for name in capable.algorithms],
        ]
    )


def _reasons(capable: Capabilities, name: str) -> Html:
    refusals = capable.refusals(name)
    if not refusals:
        return tag("p", tag("strong", label(name)), " refuses none of these.")
    entries = [tag("li", f"{why}: ", tag("span", ", ".join(names), class_="meta")) for why, names in refusals.items()]
    total = sum(name in row.reasons for row in capable.rows)
    return tag("details", tag("summary", f"{label(name)} refuses {total} of {len(capable.rows)}"), tag("ul", entries))


STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --page: #ffffff; --band: #f6f8fa;
  --link: #0550ae; --good: #116329; --good-band: #dafbe1; --bad: #a40e26; --bad-band: #ffebe9; --mid: #7d4e00;
  --mid-band: #fff3cd; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b3; --line: #3d444d; --page: #0d1117;
  --band: #161b22; --link: #79b8ff; --good: #7ee787; --good-band: #12301c; --bad: #ffa198; --bad-band: #421317;
  --mid: #e3b341; --mid-band: #3a2d0b; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; font: 16px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; color: var(--ink);
  background: var(--page); }
a { color: var(--link); }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--page); padding: .3rem; }
.layout { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 2.5rem; max-width: 84rem; margin: 0 auto;
  padding: 1.5rem; }
nav { position: sticky; top: 1.5rem; align-self: start; font-size: .9rem; max-height: calc(100vh - 3rem);
  overflow-y: auto; }
nav h2 { font-size: .8rem; text-transform: uppercase; letter-spacing: .06em; color: var(--soft); margin: 0 0 .4rem; }
nav ol { list-style: none; margin: 0; padding: 0; }
nav li { padding: .2rem 0; }
nav a { text-decoration: none; }
nav a:hover { text-decoration: underline; }
@media (max-width: 40rem) { table { font-size: .8rem; } th, td { padding: .2rem .3rem; }
  td.text, th.text { min-width: 7rem; } }
@media (max-width: 60rem) { .layout { grid-template-columns: minmax(0, 1fr); gap: 1rem; padding: 1rem; }
  nav { order: 1; position: static; max-height: none; } }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.35rem; line-height: 1.25; margin: 0 0 .2rem; }
h3 { font-size: 1.02rem; margin: 1.6rem 0 .4rem; }
section { border-top: 1px solid var(--line); padding-top: 1.6rem; margin-top: 2.2rem; scroll-margin-top: 1rem; }
.meta, .note { color: var(--soft); font-size: .88rem; margin: .2rem 0; }
.tiles { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; padding: 0; list-style: none; }
.tiles li { border: 1px solid var(--line); border-radius: .5rem; padding: .45rem .8rem; min-width: 6rem; }
.tiles b { display: block; font-size: 1.35rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.tiles span { color: var(--soft); font-size: .82rem; }
figure { margin: 1rem 0; }
figure img { display: block; width: 100%; height: auto; background: #fff; border: 1px solid var(--line);
  border-radius: .5rem; padding: .7rem; }
figure img { min-width: 40rem; } figure img.narrow { max-width: 34rem; min-width: 0; }
figcaption { font-size: .93rem; margin-top: .5rem; }
.files a { margin-right: .8rem; }
.scroll { overflow-x: auto; margin: .4rem 0; }
table { border-collapse: collapse; font-size: .86rem; min-width: 30%; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { text-align: left; vertical-align: top; padding: .28rem .6rem; border-bottom: 1px solid var(--line); }
thead th { background: var(--band); white-space: nowrap; }
tbody th { font-weight: 600; }
tbody th.text { font-weight: 400; white-space: normal; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.text, th.text { min-width: 11rem; } td.claim { min-width: 14rem; } td.cause { min-width: 12rem; }
td.yes { color: var(--good); } td.no { color: var(--soft); } td.yes, td.no { text-align: center; }
td.differs { background: var(--bad-band); color: var(--bad); }
code, pre { font: .84rem/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
pre { background: var(--band); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem; overflow-x: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; }
th button { all: unset; cursor: pointer; }
th button:focus-visible, summary:focus-visible, .scroll:focus-visible { outline: 2px solid var(--link);
  outline-offset: 2px; }
th button::after { content: " \\2195"; color: var(--soft); }
th[aria-sort=ascending] button::after { content: " \\2191"; color: inherit; }
th[aria-sort=descending] button::after { content: " \\2193"; color: inherit; }
.badge { display: inline-block; border-radius: 1rem; padding: 0 .55rem; white-space: nowrap; font-size: .82rem;
  font-weight: 600; background: var(--band); color: var(--soft); border: 1px solid currentcolor; }
.count { display: inline-block; white-space: nowrap; margin: .1rem 0; }
.departures { font-size: .93rem; margin: .4rem 0; padding-left: 1.2rem; } .departures li { margin: .25rem 0; }
.good { color: var(--good); background: var(--good-band); } .bad { color: var(--bad); background: var(--bad-band); }
.mid { color: var(--mid); background: var(--mid-band); }
.running { border-left: .25rem solid var(--mid); background: var(--mid-band); padding: .5rem .8rem; margin: .8rem 0; }
.warning { border-left: .25rem solid var(--bad); background: var(--bad-band); padding: .5rem .8rem; margin: .8rem 0; }
details { margin: .6rem 0; } summary { cursor: pointer; font-weight: 600; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1rem; font-size: .86rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
@media print { nav, .skip, th button::after { display: none; } .layout { display: block; padding: 0; max-width: none; }
  body { font-size: 10pt; } section { break-before: page; border: 0; } figure, tr { break-inside: avoid; }
  .scroll { overflow: visible; } figure img { min-width: 0; } }
"""

SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = row => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
    const empty = text => text === "" || text === "\\u2013";
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => {
      const x = key(a), y = key(b);
      if (empty(x) || empty(y)) return empty(x) - empty(y);
      const order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
      return up ? order : -order;
    });
    table.tBodies[0].append(...rows);
  }));
}
for (const image of document.querySelectorAll("img[data-svg]")) {
  const packed = Uint8Array.from(atob(image.dataset.svg), letter => letter.charCodeAt(0));
  new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).blob()
    .then(svg => image.src = URL.createObjectURL(new Blob([svg], {type: "image/svg+xml"})));
}
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(part => part.open = true));
"""

REFRESHING = """
const refreshing = setInterval(() => getSelection().isCollapsed && location.reload(), 15000);
document.addEventListener("click", event => {
  if (!event.target.closest("summary, th button")) return;
  clearInterval(refreshing);
  document.getElementById("refreshing").textContent =
    "Automatic refresh is off, because you opened or sorted a table: reload the page for newer figures.";
});
"""
"""Refreshes the page of a running sweep, until the reader opens or sorts a table, which a reload would undo."""
