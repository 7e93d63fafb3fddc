"""Positions of the buses of Dublin."""

from cepbench.datasets.base import Dataset, Derived, Ranked, RawColumn, RawLayout
from cepbench.datasets.expressions import selective
from cepbench.events.schema import Kind

_COLUMNS = (
    RawColumn("timestamp", "BIGINT"),
    RawColumn("line", "BIGINT"),
    RawColumn("direction", "STRING"),
    RawColumn("pattern", "STRING"),
    RawColumn("day", "STRING"),
    RawColumn("journey", "BIGINT"),
    RawColumn("operator", "STRING"),
    RawColumn("congestion", "BIGINT"),
    RawColumn("longitude", "DOUBLE"),
    RawColumn("latitude", "DOUBLE"),
    RawColumn("delay", "BIGINT"),
    RawColumn("block", "STRING"),
    RawColumn("vehicle", "BIGINT"),
    RawColumn("stop", "STRING"),
    RawColumn("at_stop", "BIGINT"),
)
_ROW = ("timestamp", "line", "day", "journey", "vehicle", "longitude", "latitude", "delay", "at_stop")

DUBLIN_BUS = Dataset(
    name="dublin_bus",
    summary="GPS positions of Dublin's buses; the vehicle journey is the event type.",
    paper="Gloria 8.1",
    source="Dublin Bus GPS sample data, Dublin City Council (Insight Project), https://data.gov.ie (Dublinked)",
    license="CC BY 4.0 (data.gov.ie); cite the source",
    layouts=(
        RawLayout(files="siri.*.csv*", columns=_COLUMNS, options={"header": "false", "sep": ",", "nullValue": "null"}),
    ),
    needed=("timestamp", "line", "journey", "vehicle", "congestion", "longitude", "latitude", "delay"),
    time="timestamp DIV 1000000",
    time_unit="s",
    types={"journey": "journey_name"},
    attributes=(
        Derived("Line_ID", Kind.INT, "line"),
        Derived("congestion", Kind.INT, "congestion"),
        Derived("longitude", Kind.FLOAT, "longitude"),
        Derived("latitude", Kind.FLOAT, "latitude"),
        Derived("delay", Kind.INT, "delay"),
        Derived("journey", Kind.INT, "journey"),
        Derived("vehicle", Kind.INT, "vehicle"),
        Derived("at_stop", Kind.INT, "at_stop"),
        *selective(*_ROW),
    ),
    order=("vehicle", "journey", "Line_ID", "longitude", "latitude", "delay", "score"),
    key=("Line_ID",),
    ranked=(Ranked(("journey",), names=("bus", "journeys")),),
    stand_in="bus",
    note=(
        "Times are whole seconds since 1970-01-01; the files count microseconds. Journeys are named by how many "
        "positions they have: the most frequent one is TOQ, the next WBA, and so on, the names of the published "
        "workloads first. The authors of Gloria do not report which journey has which name. Positions without a line, "
        "of which there are many in some months, count as bad. `score` and `bound` are hashes of the row."
    ),
)  # fmt: skip
