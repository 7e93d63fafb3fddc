import dataclasses
import re

import pytest

from cepbench.datasets.base import Dataset, Derived
from cepbench.datasets.errors import DatasetError
from cepbench.datasets.registry import DATASETS, dataset
from cepbench.events.schema import Kind
from cepbench.events.units import NANOSECONDS

NAMES = [found.name for found in DATASETS]


@pytest.mark.parametrize("found", DATASETS, ids=NAMES)
def test_declarations_are_complete(found: Dataset) -> None:
    assert re.fullmatch("[a-z][a-z0-9_]*", found.name)
    for text in (found.summary, found.paper, found.source, found.licence, found.files, found.note):
        assert text
        assert "\n" not in text
    assert found.time_unit in NANOSECONDS
    assert len({column.name for column in found.columns}) == len(found.columns)
    assert [attribute.name for attribute in found.schema().attributes] == [a.name for a in found.attributes]
    assert found.order_by()[0] == "time"


def test_names_are_unique() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert {"nasdaq", "physical_activity", "physical_activity_cet", "hamlet_synthetic"} <= set(NAMES)


def test_a_name_finds_its_data_set() -> None:
    assert dataset("nasdaq").time_unit == "min"
    with pytest.raises(DatasetError, match="unknown data set 'nyse'; choose one of nasdaq, physical_activity, "):
        dataset("nyse")


def test_spark_expressions() -> None:
    found = dataset("hamlet_synthetic")
    assert found.raw_schema() == "`second` BIGINT, `kind` BIGINT, `group` BIGINT"
    assert found.select() == (
        "CAST(second AS BIGINT) AS `time`",
        "CAST(concat('T', kind) AS STRING) AS `type`",
        "CAST(`group` AS BIGINT) AS `key`",
    )
    assert found.order_by() == ("time", "key")


def test_wrong_declarations_are_refused_in_one_line() -> None:
    found = dataset("nasdaq")
    with pytest.raises(
        DatasetError, match="data set nasdaq has no attribute 'sector'; choose from company, open, high"
    ):
        dataclasses.replace(found, key=("sector",))
    with pytest.raises(DatasetError, match="data set nasdaq: unknown time unit 'year'; choose one of ns, us"):
        dataclasses.replace(found, time_unit="year")
    with pytest.raises(DatasetError, match="data set nasdaq: attribute 'time' is a reserved name"):
        dataclasses.replace(found, attributes=(*found.attributes, Derived("time", Kind.INT, "1")))
