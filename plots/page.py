"""The page of the report: its document, the sections that are not of one figure, its style sheet and scripts.

The page loads no other files. `explore.js` makes the drawings interactive; print shows the static ones, and so does a
browser without scripts, from the files beside the page.
"""

from collections import Counter
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
from cepbench.plots.claims import all_claims, by_paper, paper_of, systems, verdicts
from cepbench.plots.effects import effects
from cepbench.plots.explore import bundle, license_of_bundle
from cepbench.plots.html import Cell, Html, join, table, tag, trusted
from cepbench.plots.rules import younger_rules
from cepbench.plots.section import anchor
from cepbench.plots.style import label
from cepbench.plots.tables import AGREEMENT_KIND, badge, counted, statuses

TITLE = "cepbench report"
CHANGED_RULES = "These rules of verdicts changed after the first cell was measured; each with its reason."
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
    missing: Sequence[str] = (),
) -> str:
    """The whole document. With `progress`, it reports how many experiments of the running sweep were measured.

    `missing` has a line for each experiment of the sweep whose data are missing.
    """
    last = (
        ("claims", "What holds", _all_claims(everything, progress is None)),
        ("cells", "Figures and cells", _cells(everything) if everything else None),
        ("changes", "Changed after it was measured", _changes(everything)),
        ("validity", "Threats to validity", _threats(everything)),
        ("capabilities", "What each algorithm can evaluate", None if capable is None else _capabilities(capable)),
        ("licenses", "Licenses", _licenses() if everything else None),
    )
    contents = [("summary", "Summary"), *(("explore", "Explore") for _ in everything[:1])]
    contents += [(name, head) for name, head, content in last if content is not None]
    rest = [
        tag("section", tag("h2", head, id=f"{name}-title"), content, id=name, aria_labelledby=f"{name}-title")
        for name, head, content in last
        if content is not None
    ]
    body = tag(
        "body",
        tag("a", "Skip to the figures", href="#main", class_="skip"),
        tag(
            "nav",
            tag("ul", [tag("li", tag("a", head, href=f"#{name}")) for name, head in contents]),
            aria_label="Contents",
        ),
        tag("main", _summary(everything, progress, missing), EXPLORER, list(sections), rest, id="main"),
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


def _summary(everything: Sequence[Results], progress: tuple[int, int] | None, missing: Sequence[str]) -> Html:
    """The first screen: what was run, where and how long, what holds of each system, and all figures, small."""
    records = [record for results in everything for record in results.records]
    parts = [tag("h1", TITLE, id="summary")]
    if progress is not None:
        parts.append(_progress(*progress))
    parts += [tag("p", line, class_="note") for line in missing]
    if not everything:
        parts.append(tag("p", "There are no results yet: run an experiment first.", class_="warning"))
        return join(parts)
    hours = sum(record.seconds for record in records) / 3600
    took = f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.0f} minutes"
    parts.append(
        tag(
            "p",
            f"{len(records)} cells of {len(everything)} figures in {took}, {_period(records)} (UTC). ",
            _places(records),
        )
    )
    if any(record.cell_status is Status.WRONG for record in records) or _agreements(everything)[Agreement.DISAGREE]:
        parts.append(
            tag("p", "Some answers are wrong. Their times are not drawn; see the red rows below.", class_="warning")
        )
    parts += [part for part in (_runs(everything), systems(everything, anchor, progress is None)) if part is not None]
    small = {results.figure.key: _small(results) for results in reversed(by_paper(everything))}
    parts.append(tag("div", list(reversed(small.values())), class_="strip", role="group", aria_label="Figures"))
    return join(parts)


def _small(results: Results) -> Html:
    """A link to a figure; the script shows its drawing in it."""
    figure = results.figure
    name = f"{paper_of(figure).partition(' ')[0]} {figure.id}" if figure.published else figure.id
    return tag("a", tag("span", name), href=f"#{anchor(results)}", title=figure.title, data_key=" ".join(figure.key))


def _places(records: Sequence[Record]) -> str:
    """The machines and commits."""
    machines, commits = (dict.fromkeys(map(of, records)) for of in (machine, _commit))
    return f"On {'; '.join(machines)}, commit {', '.join(commits)}."


def _agreements(everything: Sequence[Results]) -> Counter[Agreement]:
    """The number of inputs by the agreement of answers."""
    return Counter(group.agreement for results in everything for group in groups(results.records))


def _all_claims(everything: Sequence[Results], complete: bool) -> Html | None:
    """All claims; if the sweep is complete, with their effects, which take a third of the time of a growing page."""
    claims = all_claims(everything, anchor)
    return None if claims is None else join([claims, effects(everything) if complete else None])


def _cells(everything: Sequence[Results]) -> Html:
    """The numbers of cells and answers by status, and a row per figure."""
    several_runs = len({results.source for results in everything}) > 1
    records = [record for results in everything for record in results.records]
    answers = _agreements(everything)
    tiles = [
        (len(everything), "figures"),
        (len(records), "cells"),
        *((sum(r.cell_status is s for r in records), LABELS.get(s, "ok")) for s in Status),
        (answers[Agreement.AGREE], "inputs with equal answers"),
        (answers[Agreement.DISAGREE], "inputs with unequal answers"),
    ]
    shown = [tag("li", tag("b", number), tag("span", text)) for number, text in tiles if number or "unequal" in text]
    heads = ("Figure", "Title", "Profile", *(["Run"] if several_runs else []), "Cells", "Answers", "Claims")
    rows = [_figure_row(results, several_runs) for results in by_paper(everything)]
    return join([tag("ul", shown, class_="tiles"), table("Figures", heads, rows, sortable=True)])


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
    """A row per source: machine, commit, time, cells and verdicts; None without several sources."""
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
    return table("Runs", heads, rows) if len(rows) > 1 else None


def _period(records: Sequence[Record]) -> str:
    """The times of the first and the last cell; empty if no cell has one."""
    times = sorted(record.started for record in records if record.started)
    return " to ".join(time[:16].replace("T", " ") for time in (times[0], times[-1])) if times else ""


def _commit(record: Record) -> str:
    commit = record.provenance.get("commit")
    return f"{str(commit)[:SHORT]}{'+' if record.provenance.get('dirty') else ''}" if commit else "not recorded"


def _changes(everything: Sequence[Results]) -> Html | None:
    """The rules that changed after the first cell was measured, and a row per changed claim; None without changes."""
    rules = [tag("li", f"{rule.text} ", tag("span", rule.reason, class_="meta")) for rule in younger_rules(everything)]
    parts = [tag("p", CHANGED_RULES, class_="note"), tag("ul", rules)] if rules else []
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
    parts += [tag("p", CHANGES, class_="note"), table("Changes of claims", heads, rows)] if rows else []
    return join(parts) if parts else None


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
