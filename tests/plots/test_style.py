import colorsys
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from cepbench.experiments.load import experiments, load
from cepbench.metrics.results import Results
from cepbench.plots.draw import all_styles
from cepbench.plots.style import STYLES, VARIANTS, label, paper, style, styles, variant
from tests.plots.conftest import make_figure

KNOWN = {
    "sase", "cet", "greta", "cogra", "aseq", "sharon", "spass", "hamlet", "gloria", "mcep", "core", "flink",
    "duckdb", "core-engine", "oracle",
}  # fmt: skip

# Machado, Oliveira and Fernandes (2009): full protanopia, deuteranopia and tritanopia on linear RGB.
BLINDNESS = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def test_every_algorithm_has_its_own_colour_and_marker():
    assert set(STYLES) == KNOWN
    assert len({s.color for s in STYLES.values()}) == len(KNOWN)
    assert len({s.marker for s in STYLES.values()}) == len(KNOWN)


# Blue and green of Okabe and Ito are 0.118 apart under tritanopia: no pair may be closer than the closest of theirs.
def test_all_algorithms_are_told_apart_with_every_form_of_colour_blindness():
    for matrix in BLINDNESS.values():
        colors = [
            np.clip(np.array(matrix) @ (np.array(to_rgb(STYLES[name].color)) ** 2.2), 0, 1) ** (1 / 2.2)
            for name in STYLES
        ]
        assert min(float(np.linalg.norm(x - y)) for x, y in combinations(colors, 2)) > 0.11


def test_variants_keep_the_marker_and_hue_and_differ():
    plain, variant = style("cet"), style("cet[detect=hybrid]")
    assert variant != plain
    assert variant.hollow
    assert variant.marker == plain.marker
    hues = [colorsys.rgb_to_hls(*to_rgb(s.color))[0] for s in (plain, variant)]
    assert abs(hues[0] - hues[1]) < 0.03


def test_styles_of_one_figure_are_distinct():
    names = [*KNOWN, *(f"cet[k={k}]" for k in range(20)), *(f"mine{k}" for k in range(40))]
    chosen = styles(names)
    assert list(chosen) == names
    assert len(set(chosen.values())) == len(names)
    assert all(chosen[name] == STYLES[name] for name in KNOWN)


@pytest.mark.parametrize(
    "names",
    [
        [f"cet[detect={detect}]" for detect in ("baseline", "memory", "time", "hybrid")],
        ["sharon", *(f"sharon[optimizer={optimizer}]" for optimizer in ("greedy", "exhaustive"))],
        ["sase", *(f"cet[partition={method}]" for method in ("branch-and-bound", "greedy", "exhaustive")), "cet"],
    ],
)
def test_variants_of_one_algorithm_are_told_apart(names):
    chosen = styles(names)
    assert list(chosen) == names
    assert len({s.marker for s in chosen.values()}) == len(names)
    assert len({s.dashes for s in chosen.values()}) == len(names)
    distances = [
        np.linalg.norm(np.subtract(to_rgb(a.color), to_rgb(b.color))) for a, b in combinations(chosen.values(), 2)
    ]
    assert min(distances) > 0.25  # as far as SASE and CET are themselves
    assert all(chosen[name] == STYLES[name] for name in names if name in STYLES)


def test_an_unknown_algorithm_has_the_same_style_in_every_process():
    code = "from cepbench.plots.style import style; print(style('mine'), style('cet[a=1]'))"
    root = Path(__file__).parents[2]
    process = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
        env={"PYTHONHASHSEED": "77", "PYTHONPATH": str(root)},
    )
    assert process.stdout.strip() == f"{style('mine')} {style('cet[a=1]')}"


def test_labels():
    assert [label(name) for name in ("aseq", "cet[detect=hybrid]", "mine")] == ["A-Seq", "CET [hybrid]", "mine"]
    assert label("cet[detect=hybrid, partition=branch-and-bound, memory=64MB]") == (
        "CET [hybrid, branch-and-bound, memory=64MB]"
    )
    assert label("sharon[optimizer=greedy,shared=true]") == "Sharon [greedy, shared=true]"
    assert label("cet[detect=time]", {"cet[detect=time]": "T-CET"}) == "T-CET"


def test_the_users_settings_neither_matter_nor_change():
    with matplotlib.rc_context({"font.size": 33, "pdf.fonttype": 3}):
        with paper():
            assert matplotlib.rcParams["font.size"] == 8
            assert matplotlib.rcParams["pdf.fonttype"] == 42
        assert matplotlib.rcParams["font.size"] == 33


@pytest.mark.parametrize("path", experiments().values(), ids=lambda path: path.stem)
def test_variants_of_a_figure_are_assigned_and_apart(path: Path) -> None:
    names = load(path).series
    assert all(variant(name) in STYLES.keys() | VARIANTS.keys() for name in names)
    for left, right in combinations([style(name) for name in names], 2):
        assert np.linalg.norm(np.subtract(to_rgb(left.color), to_rgb(right.color))) > 0.25
        assert left.marker != right.marker


def test_an_algorithm_looks_alike_in_all_figures() -> None:
    """The styles of the papers' systems do not depend on further systems in a figure."""
    series = [load(path).series for path in experiments().values()]
    variants = ("mine", "mine[depth=3]", "gloria[optimizer=own]")
    figures = [
        Results(Path(), make_figure(algorithms=(*names, *variants[: 3 * (number % 2)])), ())
        for number, names in enumerate(series)
    ]
    look = all_styles(figures)
    for results, names in zip(figures, series, strict=True):
        shown = results.figure.algorithms
        assert len({look[name] for name in shown}) == len(shown), names
        alone = styles(names)
        assert {name: look[name] for name in alone} == alone


def test_what_differs_in_limits_only_looks_alike() -> None:
    assert style("cet[memory=14500]") == style("cet[memory=1GiB]") == style("cet")
    assert style("gloria[optimizer=noprune, costs=paper]") == style("gloria[costs=paper, optimizer=noprune]")
    assert style("gloria[costs=paper]") != style("gloria")
