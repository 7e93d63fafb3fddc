import dataclasses
import re

import pytest

from cepbench.datasets.base import Dataset, DatasetError, Derived
from cepbench.datasets.registry import DATASETS, dataset
from cepbench.events.schema import Kind
from cepbench.events.units import NANOSECONDS
from cepbench.generators.registry import from_spec

NAMES = [found.name for found in DATASETS]


@pytest.mark.parametrize("found", DATASETS, ids=NAMES)
def test_declarations_are_complete(found: Dataset) -> None:
    assert re.fullmatch("[a-z][a-z0-9_]*", found.name)
    for text in (found.summary, found.paper, found.source, found.license, *found.files, found.note):
        assert text
        assert "\n" not in text
    assert found.time_unit in NANOSECONDS
    for layout in found.layouts:
        names = {column.name for column in layout.columns}
        assert len(names) == len(layout.columns)
        assert names >= {*found.needed, *(column for ranked in found.ranked for column in ranked.columns)}
    # Only what is never null can be counted.
    assert {column for ranked in found.ranked for column in ranked.columns} <= set(found.needed)
    assert [attribute.name for attribute in found.schema().attributes] == [a.name for a in found.attributes]
    assert found.order_by()[0] == "time"


def test_names_are_unique() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert {"nasdaq", "physical_activity", "physical_activity_cet", "hamlet_synthetic"} <= set(NAMES)


def test_a_name_finds_its_data_set() -> None:
    assert dataset("dublin_bus").time_unit == "s"
    with pytest.raises(DatasetError, match="unknown data set 'lse'; choose one of nasdaq, nyse, physical_activity, "):
        dataset("lse")


def test_spark_expressions() -> None:
    found = dataset("hamlet_synthetic")
    assert found.layouts[0].raw_schema() == "`second` BIGINT, `kind` BIGINT, `group` BIGINT"
    assert found.select()[:4] == (
        "CAST(second AS BIGINT) AS `time`",
        "CAST(concat('T', kind) AS STRING) AS `type`",
        "CAST(`group` AS BIGINT) AS `key`",
        "CAST(kind AS BIGINT) AS `value`",
    )
    assert found.order_by() == ("time", "key")


@pytest.mark.parametrize("found", [found for found in DATASETS if found.stand_in], ids=lambda found: found.name)
def test_attributes_are_those_of_the_generator_that_stands_in(found: Dataset) -> None:
    assert found.stand_in is not None
    options = {"stock": {"bars": True, "differences": True}}
    imitated = from_spec(found.stand_in, options.get(found.stand_in, {})).schema()
    assert set(imitated.kinds) - set(found.schema().kinds) == set(found.absent)
    assert {name: kind for name, kind in imitated.kinds.items() if name not in found.absent}.items() <= (
        found.schema().kinds.items()
    )


def test_another_way_to_type_events() -> None:
    found = dataset("nasdaq")
    assert (found.typing, found.typed("side").typing, found.typed("side").typed("company").typing) == (
        "company", "side", "company",
    )  # fmt: skip
    assert set(found.typed("side").types) == set(found.types)
    with pytest.raises(
        DatasetError, match="data set nasdaq is not typed by 'sector'; choose from company, stock, side"
    ):
        found.typed("sector")


def test_wrong_declarations_are_refused_in_one_line() -> None:
    found = dataset("nasdaq")
    with pytest.raises(
        DatasetError, match="data set nasdaq has no attribute 'transaction'; choose from company, ticker, sector"
    ):
        dataclasses.replace(found, key=("transaction",))
    with pytest.raises(DatasetError, match="data set nasdaq: unknown time unit 'year'; choose one of ns, us"):
        dataclasses.replace(found, time_unit="year")
    with pytest.raises(DatasetError, match="data set nasdaq: attribute 'time' is a reserved name"):
        dataclasses.replace(found, attributes=(*found.attributes, Derived("time", Kind.INT, "1")))
