"""The sub-sequences that SPASS shares."""

from collections.abc import Sequence

import pytest

from cepbench.algorithms.sequences.spass.algorithm import Spass
from cepbench.algorithms.sequences.spass.plan import ConstructionWork, SpassPlan, window_of
from cepbench.events.schema import Schema
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from tests.streams import golden_plans

SCHEMA = Schema(tuple("ABCDEFGH"), ())


def plan(*texts: str, statistics: Statistics | None = None) -> SpassPlan:
    queries = [parse_query(text if "PATTERN" in text else f"RETURN COUNT(*) PATTERN {text}") for text in texts]
    return Spass().plan(compile_workload(queries, SCHEMA), statistics or Statistics())


def shared(found: SpassPlan) -> dict[str, list[tuple[int, int]]]:
    return {"".join(symbol.type for symbol in c.pattern): list(c.occurrences) for c in found.shared}


def ratios(found: SpassPlan, statistics: Statistics) -> list[float]:
    windows = [window_of(found.workload[sequence.query]) for sequence in found.sequences]
    work = ConstructionWork(found.sequences, windows, statistics)
    return [work.redundancy_ratio(candidate) for candidate in found.shared]


def test_the_ratio_is_repeated_work_over_all_work() -> None:
    found = plan("SEQ(A, B)", "SEQ(A, B, C)")
    assert shared(found) == {"AB": [(0, 0), (1, 0)]}
    two, three = 10 + 100 / 2, 10 + 100 / 2 + 1000 / 6  # partial sequences of ten events per type
    assert ratios(found, Statistics()) == [pytest.approx(two / (two + three))]


def test_the_ratio_follows_rates() -> None:
    statistics = Statistics(100, 10, {"A": 4.0, "B": 2.0, "C": 1.0})
    found = plan("SEQ(A, B)", "SEQ(A, B)", "SEQ(A, B, C)", statistics=statistics)
    two, three = 40 + 40 * 20 / 2, 40 + 40 * 20 / 2 + 40 * 20 * 10 / 6
    assert ratios(found, statistics) == [pytest.approx(2 * two / (2 * two + three))]
    window = Statistics(100, 10, {"A": 4.0, "B": 2.0, "C": 1.0})
    texts = [f"RETURN COUNT(*) PATTERN {p} WITHIN 5 s" for p in ("SEQ(A, B)", "SEQ(A, B, C)")]
    two, three = 20 + 20 * 10 / 2, 20 + 20 * 10 / 2 + 20 * 10 * 5 / 6
    assert ratios(plan(*texts, statistics=window), window) == [pytest.approx(two / (two + three))]


def test_the_ratio_in_windows_that_count_events() -> None:
    """Of seven events four are As, two Bs, and one is a C; no type has less than one event."""
    statistics = Statistics(100, 10, {"A": 4.0, "B": 2.0, "C": 1.0, "D": 0.0})
    texts = [f"RETURN COUNT(*) PATTERN {p} WITHIN 7 EVENTS" for p in ("SEQ(A, B)", "SEQ(A, B, C)", "SEQ(A, B, D)")]
    two, three = 4 + 8 / 2, 4 + 8 / 2 + 8 / 6
    assert ratios(plan(*texts, statistics=statistics), statistics) == [pytest.approx(2 * two / (two + 2 * three))]


def test_long_sequences_do_not_overflow() -> None:
    long = f"SEQ({', '.join('AB' * 200)})"
    found = plan(long, long, statistics=Statistics(10**9, 10, {"A": 1e8, "B": 1e8}))
    assert shared(found) == {"AB" * 200: [(0, 0), (1, 0)]}


@pytest.mark.parametrize("order", [1, -1])
def test_the_traffic_workload_of_sharon(order: int) -> None:
    """No two shared occurrences overlap, and each sub-sequence is shared by several sequences."""
    routes: list[Sequence[str]] = list(golden_plans()["sharon"]["queries"].values())[::order]
    types = tuple(sorted({name for route in routes for name in route}))
    queries = [parse_query(f"RETURN COUNT(*) PATTERN SEQ({', '.join(route)}) WITHIN 10 s") for route in routes]
    found = Spass().plan(compile_workload(queries, Schema(types, ())), Statistics())
    assert found.details["candidates"] == 7
    assert found.details["shared_patterns"] == len(found.shared) >= 2
    assert found.details["plan_seconds"] > 0
    for i, candidate in enumerate(found.shared):
        assert len(candidate.sequences) > 1
        assert not any(candidate.overlaps(other) for other in found.shared[:i])
