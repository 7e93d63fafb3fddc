"""Position reports of the Linear Road benchmark, as its simulator writes them."""

from cepbench.datasets.base import Dataset, Derived, RawColumn, RawLayout
from cepbench.datasets.expressions import selective
from cepbench.events.schema import Kind

_NAMES = (
    "kind", "time", "vehicle", "speed", "expressway", "lane", "direction", "segment", "position", "query", "start",
    "end", "day_of_week", "minute", "day",
)  # fmt: skip
_COLUMNS = tuple(RawColumn(name, "BIGINT") for name in _NAMES)
_OPTIONS = {"header": "false", "sep": ",", "ignoreLeadingWhiteSpace": "true", "ignoreTrailingWhiteSpace": "true"}
_ROW = ("time", "vehicle", "speed", "expressway", "lane", "direction", "segment", "position")

# A vehicle has stopped when four consecutive reports of it have the same position (Linear Road benchmark).
_PLACE = "struct(expressway, direction, position)"
_REPORTS = "(PARTITION BY vehicle ORDER BY time, position)"
_STOPPED = " AND ".join(f"lag({_PLACE}, {back}) OVER {_REPORTS} = {_PLACE}" for back in (1, 2, 3))

LINEAR_ROAD = Dataset(
    name="linear_road_reports",
    summary="Position reports of vehicles on tolled expressways, from the benchmark's own simulator.",
    paper="dissertation 13.1, 25.1",
    source="A. Arasu et al.: Linear Road: A Stream Data Management Benchmark, VLDB 2004; files of its data generator",
    license="The benchmark's; files that you generate are yours",
    layouts=(
        RawLayout(files="cardatapoints*", columns=_COLUMNS, options=_OPTIONS),
        RawLayout(files="datafile*.dat*", columns=_COLUMNS, options=_OPTIONS),
    ),
    needed=_ROW,
    time="time",
    time_unit="s",
    types={
        "report": f"CASE WHEN {_STOPPED} THEN 'Accident' ELSE 'Position' END",
        "segment": "concat('Segment', segment)",
    },
    attributes=(
        Derived("vehicle", Kind.INT, "vehicle"),
        Derived("segment", Kind.INT, "segment"),
        Derived("position", Kind.INT, "position"),
        Derived("direction", Kind.INT, "direction"),
        Derived("speed", Kind.INT, "speed"),
        Derived("expressway", Kind.INT, "expressway"),
        Derived("lane", Kind.INT, "lane"),
        *selective(*_ROW),
    ),
    order=("expressway", "vehicle", "position", "speed", "lane"),
    key=("vehicle",),
    filter="kind = 0 OR kind IS NULL",
    faults={"no kind": "kind IS NULL"},
    stand_in="linear_road",
    figures={"report": ("greta-13.3",), "segment": ("sharon-25.1",)},
    note=(
        "Times are seconds of the simulation; positions are feet, speeds miles per hour. Only reports of position (0) "
        "are events, not the simulator's queries. A report is of type Accident where its vehicle has stopped, "
        "by four equal places; the benchmark speaks of an accident when two vehicles have. `score` and `bound` are "
        "hashes of the row."
    ),
)
