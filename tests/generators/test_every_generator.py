"""Tests of each registered generator."""

import json
import pickle
from typing import Any

import numpy as np
import pytest

from cepbench.events.batch import DTYPES
from cepbench.generators import base
from cepbench.generators.errors import GeneratorError
from cepbench.generators.registry import GENERATORS, from_spec
from cepbench.generators.selectivity import SelectiveParameters
from tests.generators.streams import concatenated, same

NAMES = [generator.name for generator in GENERATORS]
SELECTIVE = [generator.name for generator in GENERATORS if issubclass(generator.Parameters, SelectiveParameters)]


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many slices in a small stream."""
    monkeypatch.setattr(base, "SLICE_EVENTS", 1000)


def many_slices(name: str, **parameters: Any) -> base.Generator[Any]:
    return from_spec(name, {"events": 10_500, "rate": 100, **parameters})


@pytest.mark.parametrize("name", NAMES)
def test_same_parameters_give_the_same_stream(name: str) -> None:
    assert same(concatenated(many_slices(name)), concatenated(many_slices(name)))


@pytest.mark.parametrize("name", NAMES)
def test_seeds_differ(name: str) -> None:
    left, right = many_slices(name, seed=1).slice(3), many_slices(name, seed=2).slice(3)
    assert any(not np.array_equal(left.columns[column], right.columns[column]) for column in left.columns)


@pytest.mark.parametrize("name", NAMES)
def test_slices_do_not_depend_on_the_order_or_the_process_that_makes_them(name: str) -> None:
    generator = many_slices(name)
    whole = concatenated(generator)
    order = [int(index) for index in np.random.default_rng(7).permutation(generator.slices())]
    assert same(whole, concatenated(many_slices(name), order))
    travelled: base.Generator[Any] = pickle.loads(pickle.dumps(generator))
    assert same(generator.slice(9), travelled.slice(9))


@pytest.mark.parametrize("name", NAMES)
def test_slices_tile_the_stream(name: str) -> None:
    generator = many_slices(name)
    assert generator.events() == 10_500
    assert generator.slice_start(0) == 0
    assert generator.slice_start(generator.slices()) == generator.events()
    for index in range(generator.slices()):
        batch = generator.slice(index)
        assert len(batch) == generator.slice_start(index + 1) - generator.slice_start(index)
        assert batch.position.tolist() == list(range(generator.slice_start(index), generator.slice_start(index + 1)))


@pytest.mark.parametrize("name", NAMES)
def test_events_are_in_time_order_and_of_the_declared_form(name: str) -> None:
    generator = many_slices(name)
    schema, batch = generator.schema(), concatenated(generator)
    assert batch.time.dtype == np.int64
    assert batch.type.dtype == np.int32
    assert batch.time[0] >= 0
    assert (np.diff(batch.time) >= 0).all()
    assert 0 <= batch.type.min() <= batch.type.max() < len(schema.types)
    assert list(batch.columns) == [attribute.name for attribute in schema.attributes]
    for attribute in schema.attributes:
        column = batch.columns[attribute.name]
        assert column.dtype == DTYPES[attribute.kind], attribute.name
        assert len(column) == len(batch)
        if column.dtype == np.float64:
            assert np.isfinite(column.astype(np.float64)).all()
        if column.dtype == np.int32:
            assert set(column.tolist()) <= set(range(len(schema.strings)))


@pytest.mark.parametrize("name", NAMES)
def test_a_shorter_stream_is_a_prefix(name: str) -> None:
    long, short = concatenated(many_slices(name)), concatenated(many_slices(name, events=4321))
    assert same(long.slice(0, 4321), short)


@pytest.mark.parametrize("name", NAMES)
def test_all_time_stamps_differ_when_asked(name: str) -> None:
    batch = concatenated(many_slices(name, time_unit="ms", simultaneous=1))
    assert (np.diff(batch.time) > 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_blocks_share_a_time_stamp_across_slices(name: str) -> None:
    batch = concatenated(many_slices(name, time_unit="ms", simultaneous=7))
    sizes = np.unique(batch.time, return_counts=True)[1]
    assert (sizes[:-1] == 7).all()
    assert sizes[-1] == 10_500 % 7 or sizes[-1] == 7


@pytest.mark.parametrize("name", NAMES)
def test_the_unit_of_time_only_refines(name: str) -> None:
    seconds = concatenated(many_slices(name, time_unit="s"))
    milliseconds = concatenated(many_slices(name, time_unit="ms"))
    assert milliseconds.schema.time_unit == "ms"
    assert np.array_equal(milliseconds.time // 1000, seconds.time)


@pytest.mark.parametrize("name", NAMES)
def test_source_determines_the_stream(name: str) -> None:
    generator = many_slices(name, seed=5)
    source = json.loads(json.dumps(generator.source()))
    assert source["generator"] == name
    assert same(generator.slice(2), from_spec(source["generator"], source["parameters"]).slice(2))


@pytest.mark.parametrize("name", NAMES)
def test_description_names_all_parameters(name: str) -> None:
    description = type(many_slices(name)).describe()
    assert description.name == name
    assert description.paper
    assert len(description.summary) <= 110
    assert {"seed", "rate", "events", "duration", "time_unit", "simultaneous"} <= {
        p.name for p in description.parameters
    }
    assert all(p.meaning and p.allowed for p in description.parameters)


@pytest.mark.parametrize("name", SELECTIVE)
@pytest.mark.parametrize("selectivity", [0.0, 0.1, 0.5, 0.75, 1.0])
def test_selectivity_is_as_requested(name: str, selectivity: float) -> None:
    batch = concatenated(many_slices(name, selectivity=selectivity))
    score, bound = batch.columns["score"].astype(float), batch.columns["bound"].astype(float)
    shuffled = np.random.default_rng(1).permutation(bound)
    # Four standard deviations of the mean of 10,500 independent pairs.
    assert np.mean(score < shuffled) == pytest.approx(selectivity, abs=4 * 0.5 / 10_500**0.5)
    assert np.mean(score[:-1] < bound[1:]) == pytest.approx(selectivity, abs=4 * 0.5 / 10_500**0.5)


@pytest.mark.parametrize("name", SELECTIVE)
def test_selectivity_changes_only_the_bound(name: str) -> None:
    low, high = (many_slices(name, selectivity=s).slice(1) for s in (0.1, 0.9))
    for column in low.columns:
        assert np.array_equal(low.columns[column], high.columns[column]) == (column != "bound"), column


@pytest.mark.parametrize("name", NAMES)
def test_slices_beyond_the_stream_are_refused(name: str) -> None:
    generator = many_slices(name)
    for index in (-1, generator.slices()):
        with pytest.raises(GeneratorError, match=f"has no slice {index}; choose from 0 to {generator.slices() - 1}"):
            generator.slice(index)
