"""Runs without a clock: keys that have all of their events in one batch come to their ends one after another."""

import weakref

import numpy as np
import pytest

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Algorithm, Executor, Operator, PerKey, Plan, StateSize
from cepbench.algorithms.construction.sase.algorithm import Sase
from cepbench.algorithms.registry import make
from cepbench.algorithms.rows import Rows
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.pipeline import in_process
from cepbench.pipeline.in_process import answer_of
from cepbench.pipeline.jobs import prepare
from cepbench.pipeline.keys import ordered, whole_parts
from cepbench.pipeline.loop import Loop, into
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey, run
from cepbench.verification.random_cases import split as cut
from tests.contract.streams import batch
from tests.pipeline.test_in_process import WORKLOAD, frame
from tests.streams import stream


def keyed(keys: str, start: int = 0) -> EventBatch:
    return batch([{"time": time, "type": "A", "g": int(key)} for time, key in enumerate(keys, start)])


def test_substreams_of_the_last_batch_are_finished_one_after_another() -> None:
    log: list[str] = []

    class Tracing(Executor):
        def __init__(self) -> None:
            self.key = ""

        def process(self, events: EventBatch) -> Rows:
            self.key = str(int(events.columns["g"][0]))
            log.append(f"+{self.key}" * len(events))
            return {}

        def finish(self) -> Rows:
            log.append(f"-{self.key}")
            return {}

        def state(self) -> StateSize:
            return StateSize()

    query = parse_query("RETURN g, COUNT(*) PATTERN A GROUP-BY g")
    [job] = prepare([query], make("greta"), keyed("0").schema, "modular", Statistics()).jobs
    operator = PerKey(Tracing, job.workload)
    loop, emit = Loop(job, operator), into(AnswerBuilder(job.workload))
    loop.process(keyed("120"), emit)
    loop.process(keyed("3141", 3), emit, last=True)
    assert log[3:] == ["+3", "-3", "+1+1", "-1", "+4", "-4", "-0", "-2"]
    assert len(loop.keys) == 5
    assert not operator.executors
    loop.finish(emit)
    assert len(log) == 3 + 8


@pytest.mark.parametrize("cuts", [(), (3,), (1, 2, 5)])
def test_a_substream_that_began_before_goes_on(cuts: tuple[int, ...]) -> None:
    text = "RETURN g, COUNT(*) PATTERN SEQ(A, B) GROUP-BY g WITHIN 4 s SLIDE 2 s"
    events = batch([{**event, "g": i % 2} for i, event in enumerate(stream("A1 A2 B3 B4 A4 A5 B6 B7"))])
    query = parse_query(text)
    expected = run(make("greta"), query, cut(events, cuts), pickled=True)  # each batch as all others
    assert run(make("greta"), query, cut(events, cuts)).equals(expected)
    assert len(expected)


def test_parts_hold_substreams_whole() -> None:
    events = keyed("0123401234012340123401")
    for rows, keys in ((8, [[0], [1], [2, 3], [4]]), (10, [[0, 1], [2, 3], [4]]), (3, [[0], [1], [2], [3], [4]])):
        parts = list(whole_parts(events, ["g"], rows))
        places = [[place for key in part for place in range(key, 22, 5)] for part in keys]
        assert [part.position.tolist() for part in parts] == places
        assert [ordered(part, ["g"])[0] for part in parts] == parts
        assert [np.diff(ordered(part, ["g"])[1]).tolist() for part in parts] == [
            [len(range(key, 22, 5)) for key in part] for part in keys
        ]
    assert list(whole_parts(events, ["g"], 22)) == list(whole_parts(events, [], 8)) == [events]


@pytest.mark.parametrize("algorithm", ["cogra", "greta"])
def test_frames_are_evaluated_part_by_part(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = answer_of(WORKLOAD, frame(), algorithm).frame()
    monkeypatch.setattr(in_process, "BATCH_ROWS", 37)
    reported: list[int] = []
    answer = answer_of(WORKLOAD, frame(), algorithm, progress=lambda total, more: reported.append(more)).frame()
    assert answer.equals(expected)
    assert max(reported) <= 37


@pytest.mark.parametrize(("cuts", "together"), [((), False), ((3,), True)])
def test_only_substreams_of_earlier_batches_live_side_by_side(cuts: tuple[int, ...], together: bool) -> None:
    living: weakref.WeakSet[Executor] = weakref.WeakSet()
    alive: list[int] = []

    class Counted(Sase):
        def operator(self, plan: Plan) -> Operator:
            return Algorithm.operator(self, plan)  # an executor per key

        def executor(self, plan: Plan) -> Executor:
            executor = OneKey(super().operator(plan))
            living.add(executor)
            alive.append(len(living))
            return executor

    query = parse_query("RETURN g, COUNT(*) PATTERN A+ GROUP-BY g")
    assert len(run(Counted(), query, cut(keyed("120012"), cuts), pickled=False)) == 3
    assert (alive[-1] == 3) is together


def test_a_batch_without_events_is_passed_on_if_a_window_ends() -> None:
    query = parse_query("RETURN COUNT(*) PATTERN A WITHIN 10 s")
    events = keyed("0")
    [job] = prepare([query], make("greta"), events.schema, "modular", Statistics()).jobs
    loop = Loop(job, make("greta").operator(job.plan))
    batches = (events.slice(0, 0, watermark) for watermark in (9, 12, 15, 19, 20, 29, 31))
    assert [call.watermark for batch in batches for call in loop.calls(batch)] == [12, 20, 31]
