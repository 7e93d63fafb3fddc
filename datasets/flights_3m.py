"""Three million flights within the United States, from the npm package `vega-datasets`."""

from cepbench.datasets.base import Dataset, Derived, RawColumn, RawLayout
from cepbench.datasets.expressions import seconds
from cepbench.events.schema import Kind

_COLUMNS = (
    RawColumn("date", "STRING"),
    RawColumn("delay", "BIGINT"),
    RawColumn("distance", "BIGINT"),
    RawColumn("origin", "STRING"),
    RawColumn("destination", "STRING"),
)

FLIGHTS_3M = Dataset(
    name="flights_3m",
    summary="Flights within the United States in the first half of 2001, with their delays.",
    paper="none",
    source=(
        "on-time statistics of the U.S. Bureau of Transportation Statistics, in the npm package vega-datasets "
        "(`npm pack vega-datasets`, version 3.2, data/flights-3m.parquet)"
    ),
    license="data collected under 14 CFR Part 234, terms not stated; the package is BSD-3-Clause",
    layouts=(RawLayout(files="flights-3m*.parquet", columns=_COLUMNS, format="parquet", named=True),),
    needed=tuple(column.name for column in _COLUMNS),
    time=seconds("date"),
    time_unit="s",
    types={
        "one": "'Flight'",
        "lateness": "CASE WHEN delay >= 15 THEN 'Late' WHEN delay > 0 THEN 'Behind' ELSE 'OnTime' END",
        "origin": "origin",
    },
    attributes=(
        Derived("origin", Kind.STRING, "origin"),
        Derived("dest", Kind.STRING, "destination"),
        Derived("delay", Kind.INT, "delay"),
        Derived("distance", Kind.INT, "distance"),
    ),
    order=("origin", "dest", "distance", "delay"),
    key=("origin",),
    note=(
        "3,000,000 flights from 2001-01-01 to 2001-07-01, by the minute. Times are seconds since 1970-01-01 on the "
        "clock of the files, delays are minutes (early ones are negative), distances miles. The package has neither "
        "carriers nor tail numbers; `datasets get flights` has both. Typed by lateness, Late is 15 minutes or more."
    ),
)
