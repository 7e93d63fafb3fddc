"""Every detector gives exactly the oracle's complete matches."""

import pickle
from itertools import product

import numpy as np
import pytest

from cepbench.algorithms.base import NotEnoughMemory
from cepbench.algorithms.construction.cet.algorithm import Cet
from cepbench.algorithms.engine.sinks import WRITTEN_EVENTS, WRITTEN_MATCHES
from cepbench.algorithms.rows import MatchDigests, MatchRows
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference
from cepbench.verification.evaluators import OneKey, answer_of, subject_of
from cepbench.verification.random_cases import split
from tests.algorithms.complete_cases import (
    REPEATED,
    SEEDS,
    TRANSITIONS,
    check_complete_matches,
    complete_case,
    expected_matches,
)
from tests.algorithms.construction.cet.running import DETECTORS, PARTITIONERS, groups, watch
from tests.contract.streams import batch
from tests.streams import golden_plans

GOLDEN = golden_plans()["cet"]
CHECKS = "RETURN COMPLETE MATCHES PATTERN Check+ C WHERE C.destination = NEXT(C).source"
FLAT = ("A+", "A+ OR B+", "(A OR B)+")
SPECIFICATIONS = [{"detect": detect} for detect in DETECTORS[:3]]
SPECIFICATIONS += [{"detect": "hybrid", "partition": partition} for partition in PARTITIONERS]
names = pytest.mark.parametrize("options", SPECIFICATIONS, ids=lambda options: "-".join(options.values()))


@names
def test_the_papers_checks(options: dict[str, str]) -> None:
    events = GOLDEN["checks"]["events"]
    times = [[events[place]["time"] for place in match] for match in watch(Cet(**options), CHECKS, events).matches]
    assert sorted(times) == GOLDEN["checks"]["complete_trends"]


@names
@pytest.mark.parametrize(("size", "trends"), GOLDEN["groups"].items())
def test_the_papers_groups(options: dict[str, str], size: int, trends: int) -> None:
    text = "RETURN COMPLETE MATCHES PATTERN A+"
    matches = watch(Cet(**options), text, groups(12 // size, size)).matches
    assert len({tuple(match) for match in matches}) == len(matches) == trends
    assert all(len(match) == 12 // size for match in matches)


@pytest.mark.parametrize("detect", DETECTORS)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_streams(detect: str, seed: int) -> None:
    patterns = FLAT if detect == "baseline" else tuple(TRANSITIONS | REPEATED)
    check_complete_matches(Cet(detect, PARTITIONERS[seed % 3]), seed, patterns)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_streams_in_as_little_memory_as_may_do(seed: int) -> None:
    """Takes memory away until no plan fits: graphlets get smaller on the way, answers stay."""
    case, partition = complete_case(seed), PARTITIONERS[seed % 3]
    expected = expected_matches(seed)
    memory = 1 << 14
    while memory > 0:
        try:
            frame = subject_of(Cet("hybrid", partition, str(memory))).answer(case)
        except NotEnoughMemory:
            return
        assert difference(expected, frame) is None
        memory = memory * 2 // 3
    assert not expected


@pytest.mark.parametrize("detect", ["memory", "time", "hybrid"])
@pytest.mark.parametrize(("number", "simultaneous"), [(11, 3), (1300, 1)], ids=["many trends", "one long trend"])
@pytest.mark.full
def test_more_matches_than_the_output_has_room_for(detect: str, number: int, simultaneous: int) -> None:
    events = groups(number, simultaneous)
    memory = "20KiB" if detect == "hybrid" and simultaneous > 1 else "64MiB"
    matches = watch(Cet(detect, memory=memory), "RETURN COMPLETE MATCHES PATTERN A+", events).matches
    assert len({tuple(match) for match in matches}) == len(matches) == simultaneous**number
    assert simultaneous == 1 or len(matches) > 2 * WRITTEN_MATCHES or sum(map(len, matches)) > WRITTEN_EVENTS


def test_digests_equal_those_of_the_rows() -> None:
    events = batch(groups(9, 3))
    query = parse_query("RETURN COMPLETE MATCHES PATTERN A+ WITHIN 6 s SLIDE 3 s")
    found = {}
    for options, summarised in product([*SPECIFICATIONS, {"detect": "hybrid", "memory": "8KiB"}], (True, False)):
        if options["detect"] == "baseline":
            continue  # slow on so many trends, and covered by random streams
        algorithm = Cet(**options)
        workload = compile_workload([query], events.schema, summarised=summarised)
        executor = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
        [rows] = executor.process(events.slice(0, 27, 99)).values()
        if summarised:
            assert isinstance(rows, MatchDigests)
            assert rows.matches.tolist() == [3**6, 3**6, 3**3]
            found[str(options)] = rows.digest.tolist()
        else:
            assert isinstance(rows, MatchRows)
            assert np.bincount(rows.window).tolist() == [3**6, 3**6, 3**3]
    assert len({str(digest) for digest in found.values()}) == 1


@pytest.mark.parametrize("ratio", ["1", "2", "4"])
def test_digests_of_segments_of_unequal_length(ratio: str) -> None:
    events, query = batch(groups(8, 2)), parse_query("RETURN COMPLETE MATCHES PATTERN A+")
    stitched = Cet(graphlets="3", ratio=ratio)
    rows, digests = (answer_of(stitched, query, [events], summarised=summarised) for summarised in (False, True))
    assert digests.digest() == rows.digest()
    assert digests.matches == rows.rows == 2**8


@names
def test_a_pickled_executor_has_what_it_needs(options: dict[str, str]) -> None:
    text = "RETURN COMPLETE MATCHES PATTERN A+ WHERE A.x <= NEXT(A).x WITHIN 8 s SLIDE 2 s"
    events = [{"time": time, "type": "A", "x": (time * time) % 5} for time in range(24) for _ in range(1 + time % 2)]
    given = batch(events)
    workload = compile_workload([parse_query(text)], given.schema, summarised=True)
    algorithm = Cet(**options)
    plain, copied = (OneKey(algorithm.operator(algorithm.plan(workload, Statistics()))) for _ in range(2))
    for piece in split(given, range(3, len(events), 3)):
        one, other = plain.process(piece), copied.process(piece)
        copied = pickle.loads(pickle.dumps(copied))
        assert one.keys() == other.keys()
        for query, rows in one.items():
            assert isinstance(rows, MatchDigests)
            assert rows.digest.tolist() == other[query].digest.tolist()  # type: ignore[union-attr]
    assert plain.details()["trends"] == copied.details()["trends"] > 0
