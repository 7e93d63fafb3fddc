"""The page that one explores: its data are the curves of the drawings, and its controls work in a browser."""

import base64
import gzip
import json
import re
import shutil
import subprocess

import pytest

from cepbench.metrics.figure import Axis, ClaimResult, Declared, Panel, Scale, Verdict
from cepbench.metrics.record import Summary
from cepbench.metrics.results import load_results, write_pack
from cepbench.metrics.status import Status
from cepbench.plots.draw import all_styles
from cepbench.plots.explore import interactive
from cepbench.plots.points import curves
from cepbench.plots.report import write_report
from tests.plots.conftest import ONE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--virtual-time-budget=20000"),
)
browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")


def document(results):
    [swept] = results
    return json.loads(gzip.decompress(base64.b64decode(interactive(swept, all_styles(results)))))


def test_values_are_those_of_the_curves(tmp_path, figure, sweep, save):
    save(tmp_path, figure(), sweep)
    results = load_results(tmp_path)
    shown = document(results)
    names = [algorithm["id"] for algorithm in shown["algorithms"]]
    [part] = shown["slices"]
    for panel, metric in zip(results[0].figure.panels, part["metrics"], strict=False):
        assert metric["id"] == panel.metric
        drawn = {
            (curve.algorithm, point.x): point.estimate and point.drawn and float(f"{point.estimate.median:.5g}")
            for curve in curves(results[0].figure, panel, results[0].records)
            for point in curve.points
        }
        values = {(names[part["places"][place][0]], part["places"][place][1]): median
                  for place, median, *_ in metric["values"]}  # fmt: skip
        assert {key: value or None for key, value in drawn.items()} == values


def test_failures_keep_their_limit_and_reason(tmp_path, figure, record, save):
    late = record("sase", status=Status.TIMEOUT, reason="killed", limit_seconds=7.0)
    save(tmp_path, figure(panels=ONE), [late, record("greta", summary=Summary(latency_p50=0.5))])
    [part] = document(load_results(tmp_path))["slices"]
    [late, _] = part["metrics"][0]["values"]
    assert late[1] is None
    assert late[5] == [["timeout", 1, 7.0]]
    assert part["places"][late[0]][4] == "killed"


def test_further_metrics_and_axes_are_offered(tmp_path, figure, record, save):
    records = [
        record("greta", {"events": n, "queries": q}, summary=Summary(latency_p50=0.5, throughput=10.0))
        for n in (1, 2)
        for q in (3, 4)
    ]
    queries = ONE[0].model_copy(update={"x": Axis(name="queries", label="Queries"), "where": {"events": 2}})
    save(tmp_path, figure(panels=(ONE[0].model_copy(update={"where": {"queries": 3}}), queries)), records)
    parts = document(load_results(tmp_path))["slices"]
    assert [part["label"] for part in parts] == ["Events per window", "Queries"]
    assert [metric["id"] for metric in parts[0]["metrics"]] == ["latency_p50", "throughput"]


def claiming(figure):
    text = "SASE is 10 times slower."
    claim = ClaimResult(
        text=text, source="", expected="10 times", claimed=10.0, size="events 1000", measured=4.0, unit="x",
        verdict=Verdict.WEAKER,
    )  # fmt: skip
    declared = Declared(text=text, what="latency_p50 of sase over greta", expected="10 times", size="events 1000")
    return figure(claims=(claim,), current=(declared,), declared=(declared,))


def test_claimed_ratios_have_their_place(tmp_path, figure, sweep, save):
    save(tmp_path, claiming(figure), sweep)
    [claim] = document(load_results(tmp_path))["claims"]
    assert (claim["of"], claim["over"], claim["x"], claim["claimed"]) == ("sase", "greta", 1000.0, 10.0)


TRY = """
<script>
const wrongs = [];
addEventListener("error", event => wrongs.push(`${event.message}: ${event.error?.stack}`));
addEventListener("unhandledrejection", event => wrongs.push(String(event.reason)));
addEventListener("load", async () => {
  const pause = () => new Promise(done => setTimeout(done, 400));
  const until = async test => { for (let n = 0; n < 40 && !test(); n++) await pause(); return test(); };
  const control = text => [...document.querySelectorAll("#explore label")]
    .find(label => label.textContent.startsWith(text) || label.textContent.endsWith(text))
    .querySelector("select, input");
  const choose = async (text, value) => {
    const box = control(text);
    box.value = value; box.dispatchEvent(new Event("change")); await pause();
  };
  const press = async text => { control(text).click(); await pause(); };
  const lines = () => document.querySelectorAll("#plot .scatterlayer .trace").length;
  const said = {};
  await until(() => document.querySelector("#explore select"));
  document.getElementById("explore").scrollIntoView({behavior: "instant"});
  said.drawn = await until(() => lines() || document.querySelector(".matrix"));
  try { STEPS } catch (wrong) { wrongs.push(wrong.message); }
  said.wide = document.documentElement.scrollWidth > innerWidth;
  said.wrongs = wrongs;
  document.body.replaceChildren(Object.assign(document.createElement("pre"),
    {id: "outcome", textContent: JSON.stringify(said)}));
});
</script>
"""


def tried(page, tmp_path, steps, fragment="", size="1280,900"):
    """The outcomes of some steps on the page, in a browser without a screen."""
    copy = tmp_path / "tried.html"
    copy.write_text(page.read_text().replace("<head>", "<head>" + TRY.replace("STEPS", steps), 1))
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'browser'}", f"--window-size={size}", "--dump-dom"]
    shown = subprocess.run(
        [*command, f"{copy.as_uri()}{fragment}"], capture_output=True, text=True, timeout=240, check=True
    ).stdout
    outcome = re.search(r'<pre id="outcome">(.*?)</pre>', shown, re.DOTALL)
    assert outcome is not None
    said = json.loads(outcome[1].replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
    assert said["wrongs"] == []
    assert not said["wide"]
    return said


CONTROLS = """
said.start = lines();
await press("SASE");
said.without = lines();
said.link = location.hash;
await choose("Metric", "throughput");
said.metric = document.querySelector("#plot .ytitle").textContent;
await press("log y");
said.log = document.querySelector("#plot")._fullLayout.yaxis.type;
await choose("X axis", "metric:state_peak");
said.against = document.querySelector("#plot .xtitle").textContent;
await choose("Values", "alg:greta");
said.ratio = document.querySelector("#plot .ytitle").textContent;
document.querySelector(".rows summary").click();
said.rows = document.querySelectorAll(".rows tbody tr").length;
Plotly.Fx.hover("plot", [{curveNumber: 0, pointNumber: 0}]);
await pause();
said.hover = document.querySelector("#plot .hoverlayer").textContent;
await choose("Figure", "greta-13.2 headline");
said.second = document.querySelector("section.chosen h2").textContent;
said.hidden = [...document.querySelectorAll("section.figure")].filter(part => part.offsetParent === null).length;
"""


@browser
@pytest.mark.full
def test_every_control_works(tmp_path, figure, sweep, save):
    save(tmp_path, figure(), sweep)
    second = figure(id="13.2", experiment="greta-13.2", title="Another")
    save(tmp_path, second, [record.model_copy(update={"experiment": "greta-13.2"}) for record in sweep])
    said = tried(write_report(tmp_path, tmp_path / "report.html"), tmp_path, CONTROLS)
    assert said["without"] < said["start"]
    assert said["link"] == "#greta-13.1-headline?metric=latency_p50&off=sase"
    assert said["metric"] == "Throughput (events/s)"
    assert said["log"] == "linear"
    assert said["against"] == "Peak state"
    assert said["ratio"] == "Throughput relative to GRETA (times)"
    assert said["rows"] > 3
    assert "Status: ok" in said["hover"]
    assert (said["second"], said["hidden"]) == ("Figure 13.2 · Another", 1)


@browser
@pytest.mark.full
def test_a_link_restores_a_view_in_a_narrow_window(tmp_path, figure, sweep, save):
    save(tmp_path, figure(), sweep)
    page = write_report(tmp_path, tmp_path / "report.html")
    steps = """
    said.metric = control("Metric").value;
    said.sase = control("SASE").checked;
    said.log = control("log x").checked;
    """
    fragment = "#greta-13.1-headline?metric=throughput&off=sase&logx=linear"
    said = tried(page, tmp_path, steps, fragment, "400,800")
    assert (said["metric"], said["sase"], said["log"]) == ("throughput", False, False)


MATRIX = """
const names = () => [...document.querySelectorAll(".matrix tbody th")].map(head => head.textContent);
const scores = () => [...document.querySelectorAll(".matrix tbody tr")].map(row => Number(row.cells[2].dataset.sort));
said.names = names();
said.scores = scores();
said.cells = [...document.querySelectorAll(".matrix tbody td button")].map(cell => cell.textContent);
[...document.querySelectorAll(".matrix td button")].find(cell => cell.textContent === "cannot").focus();
said.why = document.querySelector("#explore p[role=status]").textContent;
await press("NOT");
said.alone = names();
said.fewer = scores();
await press("NOT");
document.querySelector(".matrix thead th:nth-child(5) button").click();
said.sorted = names();
await choose("X axis", "metric:state_peak");
said.pale = document.querySelector("#plot").data.map(trace => trace.marker.opacity[0]);
said.beaten = [...document.querySelectorAll(".rows tbody tr")].map(row => row.textContent)
  .filter(text => text.startsWith("GRETA")).map(text => text.includes("COGRA"));
"""


@browser
@pytest.mark.full
def test_an_arena_is_a_matrix_that_ranks_sorts_and_filters(tmp_path, figure, record, save):
    axis = Axis(name="work", label="Kind of work", scale=Scale.CATEGORY, values=("SEQ", "NOT"))
    panels = [
        Panel(metric="throughput", label="Throughput", unit="events/s", kind="heat"),
        Panel(metric="state_peak", label="State", unit="B", kind="heat"),
    ]

    def cell(algorithm, work, speed, size):
        summary = Summary(throughput=speed, state_peak=size)
        return record(algorithm, {"work": work}, memory=True, summary=summary)

    records = [
        cell("greta", "SEQ", 1000.0, 50),
        cell("cogra", "SEQ", 4000.0, 20),
        cell("greta", "NOT", 3000.0, 50),
        record("cogra", {"work": "NOT"}, status=Status.UNSUPPORTED, reason="COGRA has no negation"),
        record("sase", {"work": "SEQ"}, status=Status.TIMEOUT, reason="killed"),
    ]
    save(tmp_path, figure(x=axis, panels=panels, paper=""), records)
    said = tried(write_report(tmp_path, tmp_path / "report.html"), tmp_path, MATRIX)
    # On SEQ the worst is 4 times slower, so no number counts as 8; on NOT nobody is slower, so it counts as 2.
    assert said["names"] == ["COGRA", "GRETA", "SASE"]
    assert said["scores"] == pytest.approx([2**0.5, 2.0, 4.0])
    assert said["cells"] == ["4 k", "cannot", "1 k", "3 k", "timeout", "not run"]
    assert "COGRA has no negation" in said["why"]
    assert said["alone"] == ["COGRA", "GRETA", "SASE"]
    assert said["fewer"] == pytest.approx([1, 4, 8])
    assert said["sorted"][0] == "GRETA"
    assert said["pale"] == [None, 0.35, 1]  # SASE has neither
    assert said["beaten"] == [True, False]


RUNS = """
const medians = () => document.querySelector("#plot").data.filter(trace => trace.mode === "lines+markers")
  .map(trace => [trace.name, trace.y[0]]);
said.all = medians();
await choose("Values", "run:mine");
said.ratios = medians();
said.title = document.querySelector("#plot .ytitle").textContent;
await press("yours: AMD EPYC, 2027-01-02 (lines: dash, hollow)");
said.alone = medians();
said.sections = [...document.querySelectorAll("section.figure")].filter(part => part.offsetParent !== null).length;
"""


@browser
@pytest.mark.full
def test_runs_are_side_by_side_and_as_ratios(tmp_path, figure, record, save):
    for name, seconds, cpu in (("mine", 0.5, "Xeon"), ("yours", 2.0, "AMD EPYC")):
        records = [record("greta", summary=Summary(latency_p50=seconds), provenance={"cpu": cpu})]
        save(tmp_path / name, figure(panels=ONE), records)
    page = write_report((tmp_path / "mine", tmp_path / "yours"), tmp_path / "report.html")
    said = tried(page, tmp_path, RUNS)
    assert said["all"] == [["GRETA", 0.5], ["GRETA", 2.0]]
    assert said["ratios"] == [["GRETA", 1.0], ["GRETA", 4.0]]
    assert said["title"] == "Latency (median) relative to mine (times)"
    assert said["alone"] == [["GRETA", 1.0]]
    assert said["sections"] == 2


def test_a_pack_brings_its_experiment_file(tmp_path, figure, sweep, save):
    save(tmp_path / "results", figure(panels=ONE), sweep)
    pack = write_pack(tmp_path / "run.tar.xz", load_results(tmp_path / "results"), {"greta-13.1": b"title: <mine>"})
    text = write_report(pack, tmp_path / "report.html").read_text()
    assert "title: &lt;mine&gt;" in text
    assert "cepbench plot greta-13.1 --results run.tar.xz --format pdf --output ." in text
