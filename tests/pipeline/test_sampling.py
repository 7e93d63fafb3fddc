"""Samples of streams, and the selectivities that optimisers measure on them, against brute force."""

import operator
import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from cepbench.algorithms.base import Plan
from cepbench.algorithms.detection.mcep.planning.patterns import patterns_of
from cepbench.algorithms.detection.mcep.planning.selectivities import (
    TypeFilters,
    TypePair,
    conditions_of,
    known_selectivities,
)
from cepbench.events.batch import EventBatch
from cepbench.events.errors import InputError
from cepbench.events.files import read_events
from cepbench.events.schema import Schema
from cepbench.events.statistics import EventSample, Statistics
from cepbench.generators.registry import from_spec
from cepbench.pipeline import sampling
from cepbench.pipeline.cluster import SparkCluster
from cepbench.pipeline.generation import generate
from cepbench.pipeline.in_process import open_events
from cepbench.pipeline.measured_task import MeasuredRun, ready
from cepbench.pipeline.sampling import PER_TYPE, input_statistics, stream_statistics
from cepbench.pipeline.session import session, stop
from cepbench.pipeline.store import Stream, stream_batches
from cepbench.queries.compile import Workload, compile_workload
from cepbench.queries.model import Comparison, Relation
from cepbench.queries.workloads import parse_workload
from tests.pipeline.doubles import Counting

STREAM = {"events": 30_000, "companies": 12, "sectors": 4, "typed_by": "company", "company_skew": 1.5, "seed": 3,
          "differences": True, "volatility": 0.0001}  # fmt: skip
WORKLOAD = """
PATTERN SEQ(C0, C1, C11) WHERE C0.difference < C1.difference AND C11.difference >= C0.difference AND C1.volume > 9000
WITHIN 9 s PER MATCH

PATTERN C2 AND C10+ AND C3 x AND C3 y
WHERE C2.difference = C10.difference AND 2 * x.volume < y.volume AND x.difference < y.difference
WITHIN 9 s PER MATCH
"""
NEEDS = {"C0": ["difference"], "C11": ["difference"]}
OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq}


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "_drawn", type(sampling._drawn)())


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Stream]:
    """The same stream in one bucket, and in five."""
    folder = tmp_path_factory.mktemp("sampling")
    return {
        n: generate(from_spec("stock", STREAM), folder / str(n), spark=None, key=("company",), buckets=n)
        for n in (1, 5)
    }


def drawn(statistics: Statistics, needs: dict[str, list[str]]) -> EventSample:
    sample = statistics.sample(needs)
    assert sample is not None
    return sample


def test_a_sample_has_so_many_events_of_each_type_and_all_of_rare_ones(stores: dict[int, Stream]) -> None:
    rare = min(stores[1].types, key=lambda name: stores[1].types[name].events)
    assert rare == "C11"
    assert stores[1].types[rare].events < PER_TYPE
    events = drawn(stream_statistics(stores[1]), NEEDS).events
    names = [events.schema.types[code] for code in events.type]
    assert {name: names.count(name) for name in set(names)} == {"C0": PER_TYPE, "C11": stores[1].types[rare].events}
    assert (np.diff(events.position) > 0).all()
    assert (np.diff(events.time) >= 0).all()
    assert set(events.columns) == {"difference"}
    [whole] = stream_batches(stores[1])
    for name, column in (("type", events.type), ("time", events.time), ("difference", events.columns["difference"])):
        of_all = whole.columns.get(name, getattr(whole, name, None))
        assert of_all is not None
        assert np.array_equal(of_all[events.position], column)


def test_events_of_a_type_are_drawn_from_the_whole_stream(stores: dict[int, Stream]) -> None:
    events = drawn(stream_statistics(stores[1]), {"C0": ["volume"]}).events
    quarters = np.bincount(events.position * 4 // 30_000, minlength=4)
    assert quarters.min() > 70
    assert events.columns["volume"].astype(float).mean() == pytest.approx(5000, rel=0.1)


@pytest.mark.parametrize("n", [1, 5])
def test_the_sample_depends_neither_on_buckets_nor_on_what_else_is_asked_for(stores: dict[int, Stream], n: int) -> None:
    events = drawn(stream_statistics(stores[1]), NEEDS).events
    more_events = drawn(stream_statistics(stores[n]), {**NEEDS, "C5": ["volume"]}).events
    common = np.isin(more_events.type, np.unique(events.type))
    assert np.array_equal(more_events.position[common], events.position)
    assert np.array_equal(more_events.columns["difference"][common], events.columns["difference"])
    assert not common.all()


def test_events_in_memory_give_the_sample_of_their_store(stores: dict[int, Stream], tmp_path: Path) -> None:
    [whole] = stream_batches(stores[1])
    names = np.array(stores[1].schema.types, dtype=object)
    frame = pd.DataFrame({"time": whole.time, "type": names[whole.type], "difference": whole.columns["difference"]})
    source, statistics, _ = open_events(frame, parse_workload(WORKLOAD), "s", pytest.fail)
    assert not isinstance(source, Stream)
    sample = drawn(statistics, NEEDS).events
    assert np.array_equal(sample.position, drawn(stream_statistics(stores[5]), NEEDS).events.position)


def test_a_sample_is_drawn_once(stores: dict[int, Stream], monkeypatch: pytest.MonkeyPatch) -> None:
    first = drawn(stream_statistics(stores[1]), NEEDS)
    monkeypatch.setattr(sampling, "run_tasks", lambda *_: pytest.fail("drawn again"))
    assert drawn(stream_statistics(stores[5]), NEEDS) is first
    assert first.seconds > 0


def test_what_is_not_there_is_reported_before_anything_is_drawn(stores: dict[int, Stream]) -> None:
    with pytest.raises(InputError, match="column 'weight' is missing"):
        drawn(stream_statistics(stores[1]), {"C0": ["weight"]})
    frame = pd.DataFrame({"time": [1, 2], "type": ["A", "B"], "x": [1.0, None]})
    with pytest.raises(InputError, match="column 'x'"):
        drawn(input_statistics(read_events(frame)), {"B": ["x"]})
    assert len(drawn(input_statistics(read_events(frame)), {"A": ["x"], "Z": ["x"]}).events) == 1


def test_without_events_there_is_no_sample() -> None:
    assert Statistics().sample(NEEDS) is None
    assert Statistics(events=3).sample(NEEDS) is None


def test_selectivities_are_those_of_all_pairs_within_their_deviation(stores: dict[int, Stream]) -> None:
    [whole] = stream_batches(stores[1])
    patterns = patterns_of(compile_workload(parse_workload(WORKLOAD), whole.schema, "modular"))
    selectivities = known_selectivities(patterns, stream_statistics(stores[5]))
    conditions = conditions_of(patterns)
    assert len(conditions) == 7  # two of them together, too
    values = set()
    for condition in conditions:
        if isinstance(condition, TypeFilters):
            [relation] = condition.filters
            assert isinstance(relation, Relation)
            column = _column(whole, condition.type, relation.left.attribute)
            exact = np.mean(OPERATORS[str(relation.op)](column, relation.right))
        else:
            exact = np.mean(
                np.logical_and.reduce([_holds(whole, condition, comparison) for comparison in condition.comparisons])
            )
        # Pairs are no more independent than the events of the rarer type.
        assert selectivities.of(condition) == pytest.approx(exact, abs=4 * 0.5 / PER_TYPE**0.5)
        values.add(round(selectivities.of(condition), 2))
    assert len(values) > 3
    types = {"C0", "C1", "C11", "C2", "C10", "C3"}
    assert selectivities.events == sum(min(PER_TYPE, stores[1].types[name].events) for name in types)
    assert selectivities.seconds > 0


def _holds(events: EventBatch, pair: TypePair, comparison: Comparison) -> NDArray[np.bool_]:
    """Whether a comparison holds between 2000 events of the left type and all events of the right type."""
    left = comparison.left.factor * _column(events, pair.left, comparison.left.attribute)
    right = comparison.right.factor * _column(events, pair.right, comparison.right.attribute)
    places = np.random.default_rng(1).permutation(len(left))[:2000]
    held: NDArray[np.bool_] = OPERATORS[str(comparison.op)](left[places, None], right[None, :])
    return held


def _column(events: EventBatch, name: str, attribute: str) -> NDArray[np.float64]:
    """An attribute of all events of a type."""
    return events.columns[attribute][events.type == events.schema.type_code(name)].astype(float)


def test_selectivities_of_a_small_stream_are_exact() -> None:
    random = np.random.default_rng(5)
    frame = pd.DataFrame({"time": np.arange(90), "type": random.choice(list("AB"), 90), "x": random.integers(0, 5, 90)})
    source = read_events(frame)
    workload = "PATTERN SEQ(A a, B b) WHERE a.x <= b.x AND b.x != 2 WITHIN 9 s PER MATCH"
    patterns = patterns_of(compile_workload(parse_workload(workload), source.schema, "modular"))
    selectivities = known_selectivities(patterns, input_statistics(source))
    events = list(zip(frame["type"], frame["x"], strict=True))
    pairs = [x <= y for first, x in events for second, y in events if (first, second) == ("A", "B")]
    singles = [x != 2 for name, x in events if name == "B"]
    expected = {(sum(held) + 1) / (len(held) + 2) for held in (pairs, singles)}
    assert {selectivities.of(condition) for condition in conditions_of(patterns)} == expected
    assert selectivities.events == 90


def test_without_conditions_or_without_a_stream_nothing_is_drawn() -> None:
    schema = Schema(("A", "B"), (), "s", ())
    patterns = patterns_of(
        compile_workload(parse_workload("PATTERN SEQ(A, B) WITHIN 9 s PER MATCH"), schema, "modular")
    )

    def fail(_: object) -> EventSample:
        pytest.fail("drawn")

    assert known_selectivities(patterns, Statistics(events=9, sampler=fail)).events == 0
    assert known_selectivities(patterns, Statistics()).events == 0


class Asking(Counting):
    """Reports the number of sampled events in its plan."""

    def plan(self, workload: Workload, statistics: Statistics) -> Plan:
        sample = statistics.sample(workload.needs)
        return Plan(workload, details={"sampled": float(0 if sample is None else len(sample.events))})


def test_optimisers_of_measured_cells_may_ask_for_a_sample(stores: dict[int, Stream]) -> None:
    workload = "RETURN COUNT(*) PATTERN C0+ WHERE C0.volume > 3 WITHIN 9 s"
    prepared_run = ready(MeasuredRun(stores[5].path, workload, Asking()))
    assert prepared_run.plan_details[0] == {"sampled": float(PER_TYPE)}
    pickle.dumps(prepared_run.prepared)


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    yield session(SparkCluster("local[2]"))
    stop()


@pytest.mark.spark
def test_spark_draws_the_same_sample(spark: SparkSession, stores: dict[int, Stream]) -> None:
    local = drawn(stream_statistics(stores[5]), NEEDS).events
    sampling._drawn.clear()
    distributed = drawn(stream_statistics(stores[5], spark), NEEDS).events
    assert np.array_equal(local.position, distributed.position)
    assert np.array_equal(local.columns["difference"], distributed.columns["difference"])
    pickle.dumps(distributed)
