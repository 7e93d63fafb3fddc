"""The style of figures: one color, marker and line style per algorithm in all figures, and fonts and lines of a paper.

Most colors are those of Okabe and Ito, the others Paul Tol's, chosen so that every pair remains distinct under
simulated protanopia, deuteranopia and tritanopia. Marker and line style carry the same information in print without
color.
"""

import colorsys
import hashlib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import matplotlib
from matplotlib import rc_params_from_file
from matplotlib.colors import to_hex, to_rgb
from matplotlib.font_manager import font_family_aliases, get_font_names

COLUMN_WIDTH = 3.33  # inches: one column of a two-column paper
TEXT_WIDTH = 7.0  # inches: both columns

Dashes = tuple[float, ...]  # lengths of on and off in line widths; empty is solid


@dataclass(frozen=True)
class Style:
    """The style of one algorithm."""

    color: str
    marker: str
    dashes: Dashes
    hollow: bool = False  # variants of an algorithm have hollow markers

    @property
    def line(self) -> Any:
        """The line style in matplotlib's form."""
        return (0, self.dashes) if self.dashes else "solid"

    @property
    def look(self) -> dict[str, Any]:
        """Color and marker as properties of matplotlib's lines."""
        return {
            "color": self.color,
            "marker": self.marker,
            "markerfacecolor": "white" if self.hollow else self.color,
            "markeredgecolor": self.color,
            "markeredgewidth": 0.8,
        }


@dataclass(frozen=True)
class Page:
    """Options of drawings: width of a figure and height of a panel in inches, a font, a matplotlib style sheet."""

    width: float | None = None
    height: float = 1.75
    font: str | None = None
    sheet: Path | None = None


PAGE = Page()

SOLID: Dashes = ()
DASHED: Dashes = (5, 1.6)
DOTTED: Dashes = (1.2, 1.4)
DASH_DOT: Dashes = (6, 1.6, 1.2, 1.6)
DASH_DOT_DOT: Dashes = (6, 1.4, 1.2, 1.4, 1.2, 1.4)
SHORT: Dashes = (2.6, 1.4)
COUNTERFACTUAL: Dashes = (10, 3)
"""The long dashes of a series that demonstrates the cause of a deviation."""

STYLES: dict[str, Style] = {
    "sase": Style("#d55e00", "s", DASHED),
    "cet": Style("#e69f00", "D", DASH_DOT),
    "greta": Style("#0072b2", "^", SOLID),
    "cogra": Style("#009e73", "o", SOLID),
    "aseq": Style("#cc79a7", "v", DASHED),
    "sharon": Style("#56b4e9", "P", DASH_DOT),
    "spass": Style("#882255", "X", DOTTED),
    "hamlet": Style("#332288", "<", DASH_DOT),
    "gloria": Style("#999933", ">", SOLID),
    "mcep": Style("#aa4499", "p", SHORT),
    "core": Style("#783cf0", "d", SOLID),
    "flink": Style("#8c6d46", "h", DOTTED),
    "duckdb": Style("#483c00", "H", DASH_DOT_DOT),
    "core-engine": Style("#78d86c", "8", DASHED),
    "oracle": Style("#000000", "*", DASH_DOT_DOT),
}

VARIANTS: dict[str, Style] = {
    "cet[detect=baseline]": Style("#88ccee", "o", SHORT, True),
    "cet[detect=plan]": Style("#cc6677", "s", SOLID, True),
    "cet[detect=plan, partition=exhaustive]": Style("#7f5700", "<", DASHED, True),
    "cet[detect=plan, partition=greedy]": Style("#44aa99", "p", DASH_DOT, True),
    "cet[detect=time]": Style("#117733", "v", DASH_DOT_DOT, True),
    "cet[intervals]": Style("#4a3aa7", "^", DOTTED, True),
    "cet[intervals, sharing=never]": Style("#661100", "d", DASH_DOT, True),
    "cet[partition=greedy]": Style("#8c5200", "h", SHORT, True),
    "cet[sharing=never]": Style("#999933", "X", DASHED, True),
    "cogra[parallel=time]": Style("#0072b2", "^", SOLID, True),
    "cogra[windows=panes]": Style("#661100", "s", DASHED, True),
    "gloria[block, costs=paper]": Style("#b3446c", "D", SOLID, True),
    "gloria[block, costs=paper, granularity=event]": Style("#b3446c", "D", DOTTED, True),
    "gloria[block, costs=paper, granularity=event, optimizer=algorithm1]": Style("#661100", "d", DOTTED, True),
    "gloria[block, costs=paper, granularity=event, optimizer=greedy]": Style("#4a3aa7", "v", SHORT, True),
    "gloria[block, costs=paper, optimizer=algorithm1]": Style("#e69f00", "p", SOLID, True),
    "gloria[block, costs=paper, optimizer=algorithm1, search=enumerate]": Style("#661100", "d", DASH_DOT_DOT, True),
    "gloria[block, costs=paper, optimizer=greedy]": Style("#4a3aa7", "v", DOTTED, True),
    "gloria[block, costs=paper, optimizer=noprune]": Style("#88ccee", "s", DASHED, True),
    "gloria[block, costs=paper, optimizer=noprune, search=enumerate]": Style("#117733", "^", DASH_DOT, True),
    "gloria[costs=paper]": Style("#5c5c1f", "o", DASHED, True),
    "gloria[costs=paper, optimizer=greedy]": Style("#4a3aa7", "v", DASH_DOT_DOT, True),
    "gloria[costs=paper, optimizer=noprune]": Style("#88ccee", "s", SHORT, True),
    "gloria[granularity=event]": Style("#e69f00", "p", DASHED, True),
    "gloria[optimizer=greedy]": Style("#117733", "d", DASH_DOT, True),
    "gloria[optimizer=none]": Style("#88ccee", "s", DASH_DOT, True),
    "hamlet[benefit=paper, choice=burst, granularity=graphlet]": Style("#777777", "X", DASH_DOT_DOT, True),
    "hamlet[benefit=paper, granularity=event]": Style("#44aa99", "8", SOLID, True),
    "hamlet[benefit=paper, granularity=graphlet]": Style("#cc6677", "D", SOLID, True),
    "hamlet[granularity=event]": Style("#44aa99", "8", DASHED, True),
    "hamlet[granularity=event, sharing=never]": Style("#117733", "v", DASH_DOT, True),
    "hamlet[granularity=event, sharing=static]": Style("#8c5200", "d", DOTTED, True),
    "hamlet[granularity=graphlet]": Style("#8c5200", "D", DASHED, True),
    "hamlet[granularity=graphlet, sharing=never]": Style("#661100", "H", DOTTED, True),
    "hamlet[granularity=graphlet, sharing=static]": Style("#88ccee", "v", DOTTED, True),
    "hamlet[sharing=never]": Style("#88ccee", "^", SHORT, True),
    "hamlet[sharing=static]": Style("#ddaa33", "s", DASHED, True),
    "mcep[adapt, plan=annealing]": Style("#0072b2", "s", SHORT, True),
    "mcep[adapt=once, plan=annealing]": Style("#8c5200", "o", DASH_DOT, True),
    "mcep[costs=executor, plan=annealing]": Style("#117733", "D", DASH_DOT_DOT, True),
    "mcep[k=4, neighborhood=vertex, plan=annealing]": Style("#e69f00", "s", SHORT, True),
    "mcep[k=8, neighborhood=vertex, plan=annealing]": Style("#661100", "v", DASH_DOT_DOT, True),
    "mcep[plan=annealing, sharing=prefix]": Style("#f4a6c0", "^", DASHED, True),
    "mcep[plan=annealing]": Style("#aa4499", "p", SOLID, True),
    "mcep[plan=alone]": Style("#117733", "s", DASHED, True),
    "mcep[plan=alone, sharing=prefix]": Style("#8c5200", "o", DOTTED, True),
    "mcep[plan=re]": Style("#661100", "h", DASH_DOT, True),
    "mcep[plan=sh]": Style("#d55e00", "s", DOTTED, True),
    "mcep[plan=sh-mdt]": Style("#ddaa33", "d", SHORT, True),
    "mcep[plan=sh-rr]": Style("#44aa99", "v", DASH_DOT_DOT, True),
    "mcep[plan=tabu]": Style("#332288", "o", DASHED, True),
    "mcep[plan=trivial]": Style("#777777", "8", DOTTED, True),
    "sharon[optimizer=exhaustive]": Style("#4a3aa7", "d", DASH_DOT_DOT, True),
    "sharon[optimizer=greedy]": Style("#117733", "^", SHORT, True),
    "sharon[optimizer=integer]": Style("#661100", "o", DOTTED, True),
    "sharon[optimizer=none]": Style("#ddaa33", "s", DASH_DOT_DOT, True),
}
"""Variants that the figures of the papers compare, by `variant`; those of one figure are easy to distinguish."""

_LIMITS = ("limit", "memory", "seconds", "substreams")  # parameters that do not make another variant
_NUMBERED = ("k",)  # parameters whose values make different variants

_SPARE_COLORS = ("#44aa99", "#117733", "#88ccee", "#cc6677", "#661100", "#6699cc", "#ddaa33", "#4a3aa7")
_SPARE_MARKERS = ("d", "8", "H", "s", "^", "v", "o", "D", "<", ">", "p")
_VARIANT_MARKERS = ("o", "s", "^", "d", "v", "p", "<", "h", ">", "8")
_SPARE_DASHES = (SHORT, DOTTED, DASH_DOT_DOT, DASHED, DASH_DOT, SOLID)
_SHADES = (0.72, 1.28, 0.55, 1.45)  # lightness of a variant relative to its algorithm

PAPER: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#333333",
    "axes.labelpad": 2.5,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8,
    "figure.dpi": 100,
    "figure.facecolor": "white",
    # STIX resembles the Times of most proceedings, and is part of matplotlib: output is the same on every machine.
    "font.family": ["STIXGeneral", "DejaVu Sans"],
    "font.size": 8,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.4,
    "hatch.linewidth": 0.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.1,
    "lines.markersize": 4.2,
    "pdf.fonttype": 42,  # embedded TrueType: publishers refuse Type 3
    "ps.fonttype": 42,
    "savefig.dpi": 300,
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "cepbench",  # the same drawing gives the same bytes
    "text.color": "#111111",
    "text.parse_math": False,  # a $ in a label is no formula
    "xtick.labelsize": 7.5,
    "xtick.major.pad": 2,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "xtick.minor.size": 1.3,
    "xtick.minor.width": 0.4,
    "ytick.labelsize": 7.5,
    "ytick.major.pad": 2,
    "ytick.major.size": 2.5,
    "ytick.major.width": 0.6,
    "ytick.minor.size": 1.3,
    "ytick.minor.width": 0.4,
}

_LABELS = {
    "sase": "SASE",
    "cet": "CET",
    "greta": "GRETA",
    "cogra": "COGRA",
    "aseq": "A-Seq",
    "sharon": "Sharon",
    "spass": "SPASS",
    "hamlet": "Hamlet",
    "gloria": "Gloria",
    "mcep": "MCEP",
    "core": "CORE",
    "flink": "Flink",
    "duckdb": "DuckDB",
    "core-engine": "CORE's engine",
    "oracle": "Oracle",
}


@contextmanager
def paper(page: Page = PAGE) -> Iterator[None]:
    """The settings of a paper, independent of the user's matplotlib settings, which are restored at the end."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(PAPER)
        if page.font is not None:
            matplotlib.rcParams["font.family"] = [page.font, *PAPER["font.family"]]
        if page.sheet is not None:
            matplotlib.rcParams.update(rc_params_from_file(page.sheet, use_default_template=False))
        # Letters that the fonts lack are drawn as boxes; the warning would be an error.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def fonts() -> list[str]:
    """The font families of this machine, and the generic ones."""
    return sorted({*get_font_names(), *font_family_aliases})


def base(specification: str) -> str:
    """The name of the algorithm in a specification: `cet` for `cet[detect=hybrid]`."""
    return specification.partition("[")[0].strip()


def label(specification: str, labels: Mapping[str, str] = MappingProxyType({})) -> str:
    """The label of a specification: its entry in `labels`, or a text such as `CET [hybrid, memory=64MB]`.

    The name of a parameter is omitted if its value is a word.
    """
    if specification in labels:
        return labels[specification]
    name, bracket, rest = specification.partition("[")
    printed = _LABELS.get(name.strip(), name.strip())
    parameters = [parameter.strip() for parameter in rest.rstrip().removesuffix("]").split(",")]
    return f"{printed} [{', '.join(map(_value, parameters))}]" if bracket else printed


def variant(specification: str) -> str:
    """The key of the style of a specification: parameters in alphabetical order, without limits and most numbers."""
    name, _, rest = specification.partition("[")
    kept = []
    for parameter in filter(None, (part.strip() for part in rest.rstrip().removesuffix("]").split(","))):
        key, _, value = (part.strip() for part in parameter.partition("="))
        if key not in _LIMITS:
            number = key not in _NUMBERED and (not value or value.replace(".", "", 1).isdigit())
            kept.append(key if number else f"{key}={value}")
    return f"{name.strip()}[{', '.join(sorted(kept))}]" if kept else name.strip()


def style(specification: str) -> Style:
    """The style of an algorithm or variant: the same in every figure and process.

    A variant has the marker and hue of its algorithm, hollow and in another shade. An unknown algorithm gets a spare
    color and marker by a hash of its name.
    """
    name = base(specification)
    basis = STYLES.get(name) or _unknown(name)
    if assigned := _assigned(specification):
        return assigned
    if specification.strip() == name:
        return basis
    number = _hash(specification)
    return replace(
        basis,
        color=_shade(basis.color, _SHADES[number % len(_SHADES)]),
        hollow=True,
        dashes=_SPARE_DASHES[number // len(_SHADES) % len(_SPARE_DASHES)],
    )


def styles(specifications: Iterable[str]) -> dict[str, Style]:
    """Different styles for the algorithms of one figure, or of all figures of a results folder, in their order.

    Styles of `STYLES` and `VARIANTS` do not depend on the others. Of further variants of one algorithm, those after the
    first get a free marker, and the color that differs most from the others: a shade of the algorithm or a spare color.
    """
    names = list(dict.fromkeys(specifications))
    chosen: dict[str, Style] = {}
    for name in names:
        if (assigned := _assigned(name)) and assigned not in chosen.values():
            chosen[name] = assigned
    for name in names:
        if name in chosen:
            continue
        candidate = style(name)
        siblings = [chosen[sibling] for sibling in chosen if base(sibling) == base(name)]
        if siblings:
            candidate = _apart(candidate, siblings, list(chosen.values()))
        for attempt in range(len(_SPARE_DASHES) * len(_SPARE_MARKERS)):
            if candidate not in chosen.values():
                break
            candidate = replace(
                candidate,
                dashes=_SPARE_DASHES[attempt % len(_SPARE_DASHES)],
                marker=_SPARE_MARKERS[attempt // len(_SPARE_DASHES)],
            )
        chosen[name] = candidate
    return {name: chosen[name] for name in names}


def _assigned(specification: str) -> Style | None:
    key = variant(specification)
    return STYLES.get(key) or VARIANTS.get(key)


def _apart(variant: Style, siblings: Sequence[Style], others: Sequence[Style]) -> Style:
    """The variant in the color that differs most from all others, with a free marker and line style if there is one."""
    basis = siblings[0].color
    colors = (*(_shade(basis, factor) for factor in _SHADES), *_SPARE_COLORS)
    markers = [variant.marker, *_VARIANT_MARKERS]
    lines = [variant.dashes, *_SPARE_DASHES]
    used_markers, used_lines = {neighbor.marker for neighbor in others}, {sibling.dashes for sibling in siblings}
    return replace(
        variant,
        color=max(colors, key=lambda color: min(_difference(color, neighbor.color) for neighbor in others)),
        marker=next((marker for marker in markers if marker not in used_markers), variant.marker),
        dashes=next((line for line in lines if line not in used_lines), variant.dashes),
    )


def _difference(first: str, second: str) -> float:
    """The distance of two colors: Euclidean in RGB, weighted by the sensitivity of the eye."""
    weights = (0.55, 1.0, 0.45)
    return sum(w * (a - b) ** 2 for w, a, b in zip(weights, to_rgb(first), to_rgb(second), strict=True))


def series_dashes(index: int) -> Dashes:
    """The line style of the n-th value of a series axis, where line styles distinguish values instead of algorithms."""
    return (SOLID, DASHED, DOTTED, DASH_DOT, DASH_DOT_DOT, SHORT)[index % 6]


def _value(parameter: str) -> str:
    name, _, value = (part.strip() for part in parameter.partition("="))
    is_word = value.replace("-", "").replace("_", "").isalpha() and value not in ("true", "false", "yes", "no", "none")
    return value if is_word else f"{name}={value}" if value else name


def _unknown(name: str) -> Style:
    number = _hash(name)
    colors, markers = len(_SPARE_COLORS), len(_SPARE_MARKERS)
    return Style(
        _SPARE_COLORS[number % colors],
        _SPARE_MARKERS[number // colors % markers],
        _SPARE_DASHES[number // (colors * markers) % len(_SPARE_DASHES)],
    )


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _shade(color: str, factor: float) -> str:
    hue, lightness, saturation = colorsys.rgb_to_hls(*to_rgb(color))
    return to_hex(colorsys.hls_to_rgb(hue, min(0.78, max(0.15, lightness * factor)), saturation))
