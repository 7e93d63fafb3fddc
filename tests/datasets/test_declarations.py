import dataclasses
import re

import pytest

from cepbench.datasets.base import Dataset, DatasetError, Derived
from cepbench.datasets.registry import DATASETS, dataset
from cepbench.events.schema import Kind
from cepbench.events.units import NANOSECONDS
from cepbench.generators.registry import from_spec

NAMES = [declared.name for declared in DATASETS]


@pytest.mark.parametrize("declared", DATASETS, ids=NAMES)
def test_declarations_are_complete(declared: Dataset) -> None:
    assert re.fullmatch("[a-z][a-z0-9_]*", declared.name)
    for text in (declared.summary, declared.paper, declared.source, declared.license, *declared.files, declared.note):
        assert text
        assert "\n" not in text
    assert declared.time_unit in NANOSECONDS
    for layout in declared.layouts:
        names = {column.name for column in layout.columns}
        assert len(names) == len(layout.columns)
        assert names >= {*declared.needed, *(column for ranked in declared.ranked for column in ranked.columns)}
    # Only what is never null can be counted.
    assert {column for ranked in declared.ranked for column in ranked.columns} <= set(declared.needed)
    assert [attribute.name for attribute in declared.schema().attributes] == [a.name for a in declared.attributes]
    assert declared.order_by()[0] == "time"


def test_names_are_unique() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert {"nasdaq", "physical_activity", "physical_activity_cet", "hamlet_synthetic"} <= set(NAMES)


def test_a_name_finds_its_data_set() -> None:
    assert dataset("dublin_bus").time_unit == "s"
    with pytest.raises(DatasetError, match="unknown data set 'lse'; choose one of nasdaq, nyse, physical_activity, "):
        dataset("lse")


def test_spark_expressions() -> None:
    declared = dataset("hamlet_synthetic")
    assert declared.layouts[0].raw_schema() == "`second` BIGINT, `kind` BIGINT, `group` BIGINT"
    assert declared.select()[:4] == (
        "CAST(second AS BIGINT) AS `time`",
        "CAST(concat('T', kind) AS STRING) AS `type`",
        "CAST(`group` AS BIGINT) AS `key`",
        "CAST(kind AS BIGINT) AS `value`",
    )
    assert declared.order_by() == ("time", "key")


@pytest.mark.parametrize(
    "declared", [declared for declared in DATASETS if declared.stand_in], ids=lambda declared: declared.name
)
def test_attributes_are_those_of_the_generator_that_stands_in(declared: Dataset) -> None:
    assert declared.stand_in is not None
    options = {"stock": {"bars": True, "differences": True}}
    imitated = from_spec(declared.stand_in, options.get(declared.stand_in, {})).schema()
    assert set(imitated.kinds) - set(declared.schema().kinds) == set(declared.absent)
    assert {name: kind for name, kind in imitated.kinds.items() if name not in declared.absent}.items() <= (
        declared.schema().kinds.items()
    )


def test_another_way_to_type_events() -> None:
    declared = dataset("nasdaq")
    assert (declared.typing, declared.typed("side").typing, declared.typed("side").typed("company").typing) == (
        "company", "side", "company",
    )  # fmt: skip
    assert set(declared.typed("side").types) == set(declared.types)
    with pytest.raises(
        DatasetError, match="data set nasdaq is not typed by 'sector'; choose from company, stock, side"
    ):
        declared.typed("sector")


def test_wrong_declarations_are_refused_in_one_line() -> None:
    declared = dataset("nasdaq")
    with pytest.raises(
        DatasetError, match="data set nasdaq has no attribute 'transaction'; choose from company, ticker, sector"
    ):
        dataclasses.replace(declared, key=("transaction",))
    with pytest.raises(DatasetError, match="data set nasdaq: unknown time unit 'year'; choose one of ns, us"):
        dataclasses.replace(declared, time_unit="year")
    with pytest.raises(DatasetError, match="data set nasdaq: attribute 'time' is a reserved name"):
        dataclasses.replace(declared, attributes=(*declared.attributes, Derived("time", Kind.INT, "1")))
