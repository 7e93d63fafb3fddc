import base64
import gzip
import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from cepbench.metrics.capabilities import Capabilities, Capability
from cepbench.metrics.figure import Axis, ClaimResult, Panel, Scale, Verdict
from cepbench.metrics.record import Load, Summary
from cepbench.metrics.results import ResultsError, load_results, names, write_pack
from cepbench.metrics.status import Status
from cepbench.plots.agreement import Agreement, groups
from cepbench.plots.draw import write_drawings
from cepbench.plots.html import Html, tag
from cepbench.plots.provenance import common, differences
from cepbench.plots.report import GrowingReport, write_report
from tests.plots.conftest import ONE

ATTACK = '<script>alert("x")</script>\'"&<img src=x onerror=alert(1)>'


class Balance(HTMLParser):
    """Checks nesting and collects attributes and texts for the tests."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.attributes = [], [], []

    def handle_starttag(self, name, attributes):
        self.seen.append(name)
        self.attributes.append((name, dict(attributes)))
        if name not in ("meta", "img", "br"):
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name


def parse(text):
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    return parser


def test_every_figure_is_there_with_its_files(tmp_path, figure, sweep, record, save):
    save(tmp_path, figure(panels=ONE), sweep)
    axis = Axis(name="semantics", label="Semantics", scale=Scale.CATEGORY)
    save(
        tmp_path,
        figure(id="19.2", experiment="cogra-19.2", title="Semantics", x=axis, panels=ONE),
        [record(point={"semantics": "any"}, experiment="cogra-19.2", summary=Summary(latency_p50=1.0))],
    )
    save(tmp_path, figure(id="19.10", experiment="cogra-19.10", title="Not yet run", panels=ONE), [])
    out = write_report(tmp_path, tmp_path / "report.html", formats=("pdf",))
    text = out.read_text()
    page = parse(text)
    order = [text.index(f"Figure {number} ·") for number in ("19.2", "19.10", "13.1")]  # by system
    assert order == sorted(order)
    links = [a["href"] for name, a in page.attributes if name == "a"]
    for link in links:
        assert (f'id="{link[1:]}"' in text) if link.startswith("#") else (tmp_path / link).exists()
    assert {"greta-13.1/headline/greta-13.1.pdf", "greta-13.1/headline/greta-13.1.svg"} <= set(links)
    assert not list(tmp_path.rglob("*.png"))
    assert "greta-13.1/headline/figure.json" in links
    images = [a for name, a in page.attributes if name == "img" and "src" not in a]
    assert len(images) == 3 + 1 + 2  # a drawing of each figure, the effects of all, and those of two papers
    files = [a["src"] for name, a in page.attributes if name == "img" and "src" in a]  # without scripts
    assert len(files) == 3
    assert all((tmp_path / file).exists() for file in files)
    assert all(image["alt"] for image in images)
    assert all(gzip.decompress(base64.b64decode(image["data-svg"])).startswith(b"<?xml") for image in images)
    assert all(a.get("scope") for name, a in page.attributes if name == "th")
    assert not re.search(r'(src|href)="(https?:)?//', text)  # nothing is loaded from elsewhere
    for expected in (
        "holds",
        "opposite",
        "open",
        "312 times",
        "PATTERN Stock S+",
        "stock: 10 companies",
        "Nothing has been measured yet",
    ):
        assert expected in text


def test_everything_is_escaped(tmp_path, figure, record, save):
    claim = ClaimResult(text=ATTACK, source=ATTACK, size=ATTACK, expected=ATTACK, verdict=Verdict.OPEN, reason=ATTACK)
    hostile = figure(
        id=ATTACK,
        title=ATTACK,
        paper=ATTACK,
        caption=ATTACK,
        workload=ATTACK,
        stream=ATTACK,
        environment={ATTACK: ATTACK},
        claims=(claim,),
        algorithms=("greta", ATTACK),
        x=Axis(name=ATTACK, label=ATTACK, unit=ATTACK, scale=Scale.CATEGORY),
    )
    records = [
        record(
            ATTACK,
            {ATTACK: ATTACK},
            status=Status.ERROR,
            reason=ATTACK,
            group=ATTACK,
            started=ATTACK,
            provenance={ATTACK: ATTACK},
        ),
        record("greta", {ATTACK: ATTACK}, digest=ATTACK, group=ATTACK),
    ]
    save(tmp_path, hostile, records)
    text = write_report(tmp_path, tmp_path / "report.html").read_text()
    page = parse(text)
    assert page.seen.count("script") == 2  # plotly's, compressed, and ours
    assert len([name for name in page.seen if name == "img"]) == 2  # the second one is for browsers without scripts
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_the_report_is_deterministic_and_whole(tmp_path, figure, sweep, save):
    folder = save(tmp_path, figure(panels=ONE), sweep)
    first = write_report(tmp_path, tmp_path / "report.html").read_bytes()
    cells = sorted((folder / "cells").iterdir())
    for number, path in enumerate(cells):  # the order of files carries no meaning
        path.rename(path.with_name(f"{len(cells) - number:04}-renamed.json"))
    assert write_report(tmp_path, tmp_path / "report.html").read_bytes() == first
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_an_empty_folder_gives_a_page_and_a_missing_one_an_error(tmp_path):
    assert "no results yet" in write_report(tmp_path, tmp_path / "report.html").read_text()
    with pytest.raises(ResultsError, match="no such results folder"):
        write_report(tmp_path / "absent", tmp_path / "report.html")


def test_experiments_without_data_are_named(tmp_path):
    line = "rides: not measured: the rides are missing"
    assert line in GrowingReport(tmp_path, tmp_path / "r.html", missing=[line]).finish().read_text()


def test_a_broken_record_is_named(tmp_path, figure, record, save):
    folder = save(tmp_path, figure(), [record()])
    (folder / "cells" / "0000.json").write_text('{"format": 1')
    with pytest.raises(ResultsError, match=r"0000\.json: "):
        write_report(tmp_path, tmp_path / "report.html")


def rows(root):
    return pd.read_csv(next(root.rglob("cells.csv")))


def test_a_wrong_answer_has_no_time_in_the_rows(tmp_path, figure, record, save):
    wrong = record("sase", status=Status.WRONG, digest="other", summary=Summary(latency_p50=0.123456))
    save(tmp_path, figure(panels=ONE), [wrong, record("greta", summary=Summary(latency_p50=0.5))])
    text = write_report(tmp_path, tmp_path / "report.html").read_text()
    assert "Some answers are wrong" in text
    cells = rows(tmp_path)
    assert cells[cells.status == "ok"].latency_p50.tolist() == [0.5]
    assert cells[cells.status == "wrong"].latency_p50.isna().all()


def test_an_arrow_stands_at_the_limit_that_it_is_said_to_stand_at(tmp_path, figure, record, save):
    panel = Panel(metric="plan_seconds", label="Planning", unit="s")
    late = record("sharon", status=Status.TIMEOUT, plan_limit_seconds=7.0)
    save(tmp_path, figure(panels=(panel,)), [late, record("aseq", summary=Summary(plan_seconds=0.5))])
    assert "Arrows are at the time limit (7 s)" in write_report(tmp_path, tmp_path / "report.html").read_text()


def test_a_long_workload_is_cut(tmp_path, figure, record, save):
    save(tmp_path, figure(panels=ONE, workload="\n".join(f"q{n}" for n in range(200))), [record()])
    text = write_report(tmp_path, tmp_path / "report.html").read_text()
    assert "q59\n… 140 more lines in figure.json" in text
    assert "\nq60" not in text


def test_details_are_columns_of_the_rows(tmp_path, figure, record, save):
    details = {"graph_seconds": 0.25, "updates": 12_000.0}
    save(tmp_path, figure(panels=ONE), [record(summary=Summary(details=details))])
    write_report(tmp_path, tmp_path / "report.html")
    assert {name: rows(tmp_path)[f"details.{name}"][0] for name in details} == details


def test_differences_of_environments_are_pointed_out(tmp_path, figure, record, save):
    records = [
        record(round=i, provenance={"commit": "abc" if i else "def", "versions": {"numpy": "2.0"}}) for i in range(3)
    ]
    assert differences(records) == {"commit": {"abc": 2, "def": 1}}
    assert common(records) == {"versions.numpy": "2.0"}
    save(tmp_path, figure(panels=ONE), records)
    assert "Not all cells come from the same environment" in write_report(tmp_path, tmp_path / "r.html").read_text()


def test_agreement(record):
    def verdict(*members):
        (group,) = groups(members)
        return group.agreement

    answer = record("greta", digest="d")
    assert verdict(answer, record("cogra", digest="d")) is Agreement.AGREE
    assert verdict(answer, record("cogra", digest="e")) is Agreement.DISAGREE
    assert verdict(answer, record("greta", round=1, digest="e")) is Agreement.DISAGREE
    assert verdict(answer, record("cogra", status=Status.WRONG, digest=None)) is Agreement.DISAGREE
    assert verdict(answer, record("cogra", status=Status.TIMEOUT, digest=None)) is Agreement.ALONE
    assert verdict(record(status=Status.ERROR)) is Agreement.NONE


def test_tags_escape_all_but_html():
    assert tag("p", "<b>", [Html("<i>"), None, 3], class_='"', hidden=False, open=True) == (
        '<p class="&quot;" open>&lt;b&gt;<i>3</p>'
    )


def test_what_algorithms_can_evaluate_is_the_last_section(tmp_path, figure, sweep, save):
    asked = []

    def capable(names):
        asked.extend(names)
        rows = [
            Capability(
                "Semantics", "contiguous", "PATTERN A & B", {"greta": 'no "such" thing', "mine[x=1]": "<never>"}
            ),
            Capability("Pattern", "Kleene", "PATTERN A+", {}),
        ]
        return Capabilities(("greta", "cogra", "mine[x=1]"), tuple(rows), {"cogra": "nothing is installed"})

    save(tmp_path, figure(panels=ONE), sweep)
    text = write_report(tmp_path, tmp_path / "report.html", capable).read_text()
    assert asked == ["sase", "greta", "cogra"]
    assert '<a href="#capabilities">' in text
    assert text.index("Figure 13.1 ·") < text.index('<section id="capabilities"')
    shown = text[text.index('<section id="capabilities"') :]
    assert "COGRA cannot run here: nothing is installed" in shown
    assert "GRETA refuses 1 of 2" in shown
    assert "no &quot;such&quot; thing: <span" in shown
    assert "&lt;never&gt;: <span" in shown
    assert "refuses none of these" in shown


@pytest.fixture
def drawn(monkeypatch):
    """The experiments whose figures were drawn, in order."""
    names = []

    def counting(results, *arguments, **formats):
        names.append(results.figure.experiment)
        return write_drawings(results, *arguments, **formats)

    monkeypatch.setattr("cepbench.plots.report.write_drawings", counting)
    return names


def three(figure):
    return [figure(id=f"1.{n}", experiment=f"own-{n}", title=f"Title {n}", panels=ONE) for n in (1, 2, 3)]


def named(records, experiment):
    return [record.model_copy(update={"experiment": experiment}) for record in records]


def test_the_page_grows_with_a_sweep_and_draws_nothing_twice(tmp_path, figure, sweep, save, drawn):
    out, figures = tmp_path / "report.html", three(figure)
    report = GrowingReport(tmp_path, out, planned=[layout.algorithms for layout in figures])
    for place, number in enumerate((2, 0, 1), 1):
        layout = figures[number]
        assert report.add(save(tmp_path, layout, named(sweep, layout.experiment)))
        text = out.read_text()
        parse(text)
        assert f"{place} of 3 experiments so far" in text
        assert "refreshes automatically" in text
        assert 'id="refreshing"' in text
    titles = [text.index(f"Title {n}</h2>") for n in (1, 2, 3)]
    assert titles == sorted(titles)
    assert report.finish() == out
    last = out.read_text()
    assert "so far" not in last
    assert 'id="refreshing"' not in last
    assert drawn == ["own-3", "own-1", "own-2"]
    assert write_report(tmp_path, tmp_path / "again.html").read_text() == last


@pytest.mark.full
def test_only_what_has_changed_is_drawn_again(tmp_path, figure, sweep, save, drawn):
    out, (first, second, _) = tmp_path / "report.html", three(figure)
    save(tmp_path, first, named(sweep, "own-1"))
    report = GrowingReport(tmp_path, out, planned=[first.algorithms, second.algorithms])
    assert report.add(save(tmp_path, second, named(sweep[:3], "own-2")))
    assert drawn == ["own-1", "own-2"]  # those of an earlier sweep stay on the page
    assert report.add(tmp_path / "own-1" / "headline")
    assert drawn == ["own-1", "own-2"]
    update = {"load": Load(waited=0.5), "notices": ("noisy",)}
    noisy = [cell.model_copy(update=update) for cell in named(sweep, "own-1")]
    save(tmp_path, first, noisy)
    save(tmp_path, second, named(sweep, "own-2"))
    report.finish()
    assert drawn == ["own-1", "own-2", "own-2"]
    assert "cells are noisy" in out.read_text()
    assert write_report(tmp_path, tmp_path / "again.html").read_bytes() == out.read_bytes()


def test_an_experiment_without_a_figure_counts_and_leaves_the_page_alone(tmp_path, figure, sweep, save):
    out, (first, second, _) = tmp_path / "report.html", three(figure)
    report = GrowingReport(tmp_path, out, planned=[first.algorithms, second.algorithms])
    assert not report.add(tmp_path / "own-1" / "headline")
    assert not out.exists()
    assert report.add(save(tmp_path, second, named(sweep, "own-2")))
    assert "2 of 2 experiments so far" in out.read_text()


def test_styles_do_not_change_with_the_figures_that_come(tmp_path, figure, record, save):
    """Variants that look alike have different styles even in a figure that was drawn before the second figure came."""
    first = figure(id="1.1", experiment="own-1", algorithms=("mine[a=1]",), panels=ONE)
    second = figure(id="1.2", experiment="own-2", algorithms=("mine[a=1]", "mine[a=2]"), panels=ONE)
    report = GrowingReport(tmp_path, tmp_path / "report.html", planned=[first.algorithms, second.algorithms])
    for layout in (first, second):
        records = [
            record(name, {"events": n}, experiment=layout.experiment, summary=Summary(latency_p50=1.0 + n))
            for name in layout.algorithms
            for n in (1, 2)
        ]
        report.add(save(tmp_path, layout, records))
    before = (tmp_path / "own-1" / "headline" / "own-1.svg").read_bytes()
    write_report(tmp_path, tmp_path / "report.html")
    assert (tmp_path / "own-1" / "headline" / "own-1.svg").read_bytes() == before


def test_runs_stand_below_one_another_with_their_machines(tmp_path, figure, record, save):
    for name, cpu in (("mine", "AMD EPYC"), ("yours", "Xeon <2>")):
        origin = {"cpu": cpu, "cores": 2, "memory_bytes": 8e9, "commit": "0123456789", "dirty": cpu == "AMD EPYC"}
        save(tmp_path / name, figure(panels=ONE), [record(provenance=origin), record(status=Status.TIMEOUT, cell="t")])
    further = figure(id="2", experiment="only-mine", panels=ONE)
    save(tmp_path / "mine", further, [record(experiment="only-mine")])
    pack = write_pack(tmp_path / "yours.tar.xz", load_results(tmp_path / "yours"), {})
    out = write_report((tmp_path / "mine", pack), tmp_path / "report.html")
    text = out.read_text()
    page = parse(text)
    identities = [a["id"] for _, a in page.attributes if "id" in a]
    assert len(identities) == len(set(identities))
    sections = [a["id"] for name, a in page.attributes if name == "section"]
    first, second = "greta-13.1-headline-mine", "greta-13.1-headline-yours"
    assert sections == [first, second, "only-mine-headline-mine", "claims", "cells", "validity", "licenses"]
    for link in [a["href"] for name, a in page.attributes if name == "a"]:
        assert (f'id="{link[1:]}"' in text) if link.startswith("#") else (tmp_path / link).exists()
    for expected in ("AMD EPYC, 2 cores", "Xeon &lt;2&gt;, 2 cores", "0123456+", "profile headline, run yours"):
        assert expected in text
    assert (tmp_path / "report-figures" / "yours" / "greta-13.1" / "headline" / "greta-13.1.svg").exists()
    assert not list((tmp_path / "yours").rglob("*.svg"))
    assert "claims of the papers, at" not in text  # a claim of two runs counts once


@pytest.mark.parametrize(
    ("sources", "named"),
    [
        (["a/results.tar.xz", "b/results"], ["results-1", "results-2"]),
        (["a b", "c.d"], ["a-b", "c.d"]),
        (["x/a", "y/a", "z/a-1"], ["a-2", "a-3", "a-1"]),
    ],
)
def test_runs_have_different_names(sources, named):
    assert names([Path(source) for source in sources]) == named
