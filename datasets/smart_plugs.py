"""Measurements of smart plugs in German households, from the grand challenge of DEBS 2014."""

from cepbench.datasets.base import Dataset, Derived, RawColumn, RawLayout
from cepbench.datasets.expressions import selective
from cepbench.events.schema import Kind

_COLUMNS = (
    RawColumn("id", "BIGINT"),
    RawColumn("timestamp", "BIGINT"),
    RawColumn("value", "DOUBLE"),
    RawColumn("property", "BIGINT"),
    RawColumn("plug_id", "BIGINT"),
    RawColumn("household_id", "BIGINT"),
    RawColumn("house_id", "BIGINT"),
)
_ROW = tuple(column.name for column in _COLUMNS)

DEBS_2014 = Dataset(
    name="debs_2014",
    summary="Load and work that 2125 smart plugs in 40 houses measured in September 2013.",
    paper="Hamlet 6.1",
    source=(
        "DEBS 2014 Grand Challenge: Smart homes, https://debs.org/grand-challenges/2014/; H. Ziekow, Z. Jerzak: The "
        "DEBS 2014 Grand Challenge, DEBS 2014"
    ),
    license="Published for the challenge; ask its organizers before redistributing",
    layouts=(RawLayout(files="sorted*.csv*", columns=_COLUMNS, options={"header": "false", "sep": ","}),),
    needed=_ROW,
    time="timestamp",
    time_unit="s",
    types={
        "house": "concat('House', house_id)",
        "property": "CASE property WHEN 1 THEN 'Load' ELSE 'Work' END",
    },
    attributes=(
        Derived("house", Kind.INT, "house_id"),
        Derived("household", Kind.INT, "household_id"),
        Derived("plug", Kind.INT, "(house_id * 1000 + household_id) * 1000 + plug_id"),
        Derived("property", Kind.STRING, "CASE property WHEN 1 THEN 'load' ELSE 'work' END"),
        Derived("value", Kind.FLOAT, "value"),
        Derived("measurement", Kind.INT, "id"),
        *selective(*_ROW),
    ),
    order=("measurement",),
    key=("house",),
    faults={"a property that is neither 0 (work) nor 1 (load)": "property NOT IN (0, 1)"},
    stand_in="smart_home",
    figures={"house": ("hamlet-11-home",)},
    note=(
        "Times are seconds since 1970-01-01 (UTC). Load is in watts, work in kWh since a plug was reset. Plugs "
        "are numbered within a household, and households within a house; `plug` is (house * 1000 + household) * 1000 + "
        "plug. `score` and `bound` are hashes of the row."
    ),
)
