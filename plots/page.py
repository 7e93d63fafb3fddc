"""The page of the report: its document, the sections that are not of one figure, its style sheet and scripts.

The page loads no other files. `explore.js` makes the drawings interactive; without scripts, and in print, it shows the
static ones.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

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
from cepbench.plots.explore import bundle, license_of_bundle
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
EXPLORER = tag("div", tag("h2", "Explore"), id="explore", hidden=True)
"""Filled by the script."""


def page(
    everything: Sequence[Results],
    sections: Sequence[Html],
    capable: Capabilities | None = None,
    progress: tuple[int, int] | None = None,
) -> str:
    """The whole document. With `progress`, it reports how many experiments of the running sweep were measured."""
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
        ("licenses", "Licenses", _licenses() if everything else None),
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
            tag("main", _summary(everything, progress), EXPLORER, list(sections), rest, id="main"),
            class_="layout",
        ),
        tag("script", bundle(), type="application/gzip", id="plotly"),
        tag("script", trusted(_file("explore.js"))),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", TITLE),
        tag("style", trusted(_file("page.css"))),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _summary(everything: Sequence[Results], progress: tuple[int, int] | None) -> Html:
    records = [record for results in everything for record in results.records]
    several_runs = len({results.source for results in everything}) > 1
    inputs = [group for results in everything for group in groups(results.records)]
    period = _period(records)
    parts = [tag("h1", TITLE, id="summary"), tag("p", f"Measured {period} (UTC)." if period else None, class_="meta")]
    if progress is not None:
        parts.append(_progress(*progress))
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


def _licenses() -> Html:
    """The licenses of what the page carries."""
    text = "The drawings are made by plotly.js, under this license:"
    return tag("details", tag("summary", "plotly.js, MIT"), tag("p", text), tag("pre", license_of_bundle()))


def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text()


def _reasons(capable: Capabilities, name: str) -> Html:
    refusals = capable.refusals(name)
    if not refusals:
        return tag("p", tag("strong", label(name)), " refuses none of these.")
    entries = [tag("li", f"{why}: ", tag("span", ", ".join(names), class_="meta")) for why, names in refusals.items()]
    total = sum(name in row.reasons for row in capable.rows)
    return tag("details", tag("summary", f"{label(name)} refuses {total} of {len(capable.rows)}"), tag("ul", entries))
