"""The engine of CORE beside ours, where it is installed."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from random import Random

import psutil
import pytest

from cepbench.algorithms.external.core_engine.algorithm import CoreEngine
from cepbench.algorithms.external.core_engine.engine import Engine, EngineFailed, missing
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference
from cepbench.verification.evaluators import OneKey, run, subject_of
from cepbench.verification.random_cases import split
from cepbench.verification.verify import verify_subject
from tests.contract.streams import batch
from tests.streams import stream

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    started = Engine()
    yield started
    started.close()


def engine_matches(engine: Engine, pattern: str, span: str, events: EventBatch) -> list[list[int]]:
    """The sorted answer of the engine, with types A, B, ... as T0, T1, ..."""
    values = [events.position.tolist(), events.time.tolist()]
    types = [f"T{code}" for code in range(len(events.schema.types))]
    answer = engine.run(pattern, span, types, events.type.tolist(), values, {"ts": "int"})
    return sorted(sorted(match) for match in answer["matches"])


@pytest.mark.parametrize(
    "text",
    [
        "SEQ(A, B, C) WITHIN 9 s",
        "SEQ(A v0, B+ v1, A v2) WHERE v1.x > 3 AND v2.x != 5 WITHIN 7 events",
        "SEQ(A, (B OR C)+ x, A) WHERE x.x >= -1 AND B.y < 2.5 WITHIN 6 s",
        "SEQ(A, B) OR SEQ(B+, C) WHERE A.s = 'u' AND C.s != 'nowhere' WITHIN 6 s",
        "SEQ(B+ v0, B+ v1, B v2, B v3) WHERE v0.x > 2 AND v3.x < 5 WITHIN 8 s",
        "SEQ(A, B) WHERE [g] WITHIN 3 events",
        "SEQ(A, (B OR C)+ x, A) WHERE (x.x > 6 OR x.x < 3 AND NOT x.y = 2.0) AND C.s IN ('u', 'v', 'no') WITHIN 6 s",
        "SEQ(A, B+) WHERE NOT (A.x > 6 OR A.s = 'u') AND B.y >= B.x AND B.x < 1e30 WITHIN 6 s",
        "SEQ(A, B) WHERE A.time > 5 s AND A.x >= -9223372036854775808 WITHIN 6 s",
    ],
)
@pytest.mark.parametrize("returns", ["RETURN MATCHES", "RETURN COUNT(*)"])
def test_answers_are_those_of_the_oracle(text: str, returns: str) -> None:
    random = Random(text)
    events = [
        {"time": n * 2 // 3, "type": random.choice("ABC"), "x": random.randrange(9), "y": n % 5 / 1.0, "g": n % 2,
         "s": random.choice("uvw")}
        for n in range(40)
    ]  # fmt: skip
    query = parse_query(f"{returns} PATTERN {text} PER MATCH")
    expected = answer(query, events)
    assert expected
    assert difference(expected, run(CoreEngine(), query, split(batch(events), (11, 30)), pickled=True)) is None


@pytest.mark.full
def test_random_cases() -> None:
    report = verify_subject(subject_of(CoreEngine()), 100, seed=3, thorough=False)
    assert report.clean, str(report)


def test_a_match_is_reported_once_per_way_of_binding_it(engine: Engine) -> None:
    """docs/findings.md, What the engine of CORE detects; `core-engine` counts it once."""
    events = batch(stream("B1 B3 B5"))
    query = parse_query("PATTERN SEQ(B+ v0, B+ v1) WITHIN 13 s PER MATCH")
    positions = [[0, 1], [0, 1, 2], [0, 2], [1, 2]]
    assert sorted(run(make("core"), query, [events])["match"].tolist()) == positions
    assert engine_matches(engine, "(T0+ as v0; T0+ as v1)", "14 [ts]", events) == sorted([*positions, [0, 1, 2]])
    workload = compile_workload([query], events.schema)
    executor = OneKey(CoreEngine().operator(CoreEngine().plan(workload, Statistics())))
    executor.process(events)
    executor.finish()
    numbers = executor.details()
    assert (numbers["matches_reported"], numbers["dropped"]) == (5, 1)


def test_events_of_one_time_follow_one_another(engine: Engine) -> None:
    events = batch(stream("A1 B1"))
    assert engine_matches(engine, "(T0 as v0; T1 as v1)", "14 [ts]", events) == [[0, 1]]
    query = parse_query("PATTERN A, B WITHIN 13 s PER MATCH")
    assert len(run(CoreEngine(), query, [events])) == len(run(make("core"), query, [events])) == 0


@pytest.mark.parametrize(("span", "matches"), [("2 EVENTS", 2), ("1 EVENTS", 1), ("3 [ts]", 2), ("2 [ts]", 1)])
def test_what_a_span_holds(engine: Engine, span: str, matches: int) -> None:
    assert len(engine_matches(engine, "(T0 as v0; T1 as v1)", span, batch(stream("A1 B2 B3")))) == matches


def test_a_query_that_the_engine_refuses_is_an_error(engine: Engine) -> None:
    with pytest.raises(EngineFailed, match="refused a query"):
        engine_matches(engine, "(T0 as v0; T1 as v1) FILTER v0[ts > -3]", "9 [ts]", batch(stream("A1 B2")))
    with pytest.raises(EngineFailed, match="refused a query"):
        engine_matches(engine, "(T0 as v0; ", "9 [ts]", batch(stream("A1 B2")))
    assert engine_matches(engine, "(T0 as v0; T1 as v1)", "9 [ts]", batch(stream("A1 B2"))) == [[0, 1]]


def test_a_killed_process_is_an_error() -> None:
    started = Engine()
    started._process.kill()
    started._process.wait()
    with pytest.raises(EngineFailed, match=r"^CORE's engine has ended$"):
        engine_matches(started, "(T0 as v0)", "1 EVENTS", batch(stream("A1")))
    started.close()
    started = Engine()
    os.kill(started._process.pid, signal.SIGSTOP)
    threading.Timer(0.5, started._process.kill).start()
    with pytest.raises(EngineFailed, match=r"^CORE's engine was killed; perhaps the machine ran out of memory$"):
        engine_matches(started, "(T0 as v0)", "1 EVENTS", batch(stream("A1")))
    started.close()


def test_a_process_that_takes_too_long_is_ended() -> None:
    started = Engine()
    os.kill(started._process.pid, signal.SIGSTOP)
    started.limit = 0.5
    with pytest.raises(EngineFailed, match=r"^CORE's engine did not answer within 0.5 s, and was ended$"):
        engine_matches(started, "(T0 as v0)", "1 EVENTS", batch(stream("A1")))
    started.close()


def test_a_port_of_another_process_is_left_to_it() -> None:
    """Servers of the engine listen on ports 6000, 6003, ...; those that are free here are held."""
    with ExitStack() as held:
        for port in range(6000, 6030, 3):
            listener = held.enter_context(socket.socket())
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):  # another process holds it
                listener.bind(("", port))
                listener.listen()
        started = Engine()
        assert engine_matches(started, "(T0 as v0; T1 as v1)", "9 [ts]", batch(stream("A1 B2"))) == [[0, 1]]
        started.close()


def test_nothing_is_left_behind() -> None:
    before = {child.pid for child in psutil.Process().children()}
    started = Engine()
    [process] = [child for child in psutil.Process().children() if child.pid not in before]
    assert 0 < started.empty_seconds < started.start_seconds
    started.close()
    assert not process.is_running()
    with pytest.raises(EngineFailed, match="ended"):
        started.run("(T0 as v0)", "1 EVENTS", ["T0"], [], [[]])
    assert {child.pid for child in psutil.Process().children()} <= before
