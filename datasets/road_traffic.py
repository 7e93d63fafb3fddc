"""Observations of the traffic in Aarhus."""

from cepbench.datasets.base import Dataset, Derived, Ranked, RawColumn, RawLayout
from cepbench.datasets.expressions import seconds, selective
from cepbench.events.schema import Kind

_COLUMNS = (
    RawColumn("status", "STRING"),
    RawColumn("avgMeasuredTime", "BIGINT"),
    RawColumn("avgSpeed", "DOUBLE"),
    RawColumn("medianMeasuredTime", "BIGINT"),
    RawColumn("TIMESTAMP", "STRING"),
    RawColumn("vehicleCount", "BIGINT"),
    RawColumn("_id", "BIGINT"),
    RawColumn("REPORT_ID", "BIGINT"),
)

AARHUS_TRAFFIC = Dataset(
    name="aarhus_traffic",
    summary="Speed and number of vehicles between 449 pairs of points in Aarhus, every five minutes.",
    paper="MCEP 6.1",
    source=(
        "CityPulse Smart City Datasets, vehicle traffic in Aarhus, http://iot.ee.surrey.ac.uk:8080/datasets.html; "
        "measured by the city, Open Data DK"
    ),
    license="CC BY 4.0 (CityPulse); cite the source",
    layouts=(RawLayout(files="trafficData*.csv", columns=_COLUMNS, options={"header": "true"}, named=True),),
    needed=("REPORT_ID", "TIMESTAMP", "avgSpeed", "vehicleCount", "_id"),
    time=f"({seconds('TIMESTAMP')}) * 1000",
    time_unit="ms",
    types={"point": "concat('P', REPORT_ID_rank)"},
    attributes=(
        Derived("point", Kind.INT, "REPORT_ID_rank"),
        Derived("report", Kind.INT, "REPORT_ID"),
        Derived("speed", Kind.FLOAT, "avgSpeed"),
        Derived("vehicles", Kind.INT, "vehicleCount"),
        Derived("observation", Kind.INT, "_id"),
        *selective("REPORT_ID", "TIMESTAMP", "avgSpeed", "vehicleCount", "_id"),
    ),
    order=("point", "observation"),
    key=("point",),
    ranked=(Ranked(("REPORT_ID",)),),
    stand_in="sensors",
    figures={"point": ("mcep-10-traffic", "mcep-11-traffic", "mcep-12-traffic", "mcep-14-traffic")},
    note=(
        "Times are milliseconds since 1970-01-01 on the files' clock. A pair of points is one type, P0 that with most "
        "observations; `report` is its number in the files. An interval without vehicles has speed 0; such rows are "
        "kept. `score` and `bound` are hashes of the row."
    ),
)
