"""Where 64 bits end."""

from typing import Any

import numpy as np
import pytest

from cepbench.algorithms.registry import make
from cepbench.queries.compile import compile_workload
from cepbench.queries.errors import QueryError
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import run
from tests.algorithms.cases import agree
from tests.contract.streams import batch

GREATEST, LEAST = 2**63 - 1, -(2**63)


def answered(algorithm: str, text: str, xs: list[Any], arithmetic: str = "modular") -> dict[str, Any]:
    events = [{"time": time, "type": "A", "x": x} for time, x in enumerate(xs)]
    frame = run(make(algorithm), parse_query(text), [batch(events)], arithmetic)
    return {name: None if np.any(frame[name].isna()) else frame[name][0] for name in frame.columns}


@pytest.mark.parametrize("algorithm", ["greta", "cogra"])
def test_counts_overflow_at_2_to_the_64(algorithm: str) -> None:
    text = "RETURN COUNT(*) PATTERN A+"
    below, above = (answered(algorithm, text, [0] * n) for n in (64, 65))
    assert (below["COUNT(*)"], below["overflow"]) == (2**64 - 1, False)
    assert (above["COUNT(*)"], above["overflow"]) == (None, True)


@pytest.mark.parametrize("algorithm", ["greta", "cogra"])
def test_an_overflow_that_no_match_sees_is_none(algorithm: str) -> None:
    text = "RETURN COUNT(*) PATTERN SEQ(A+, B) OR C"
    events = [{"time": time, "type": "A"} for time in range(70)] + [{"time": 99, "type": "C"}]
    frame = run(make(algorithm), parse_query(text), [batch(events)])
    assert (frame["COUNT(*)"][0], frame["overflow"][0]) == (1, False)


@pytest.mark.full
@pytest.mark.parametrize("algorithm", ["greta", "cogra"])
def test_float_arithmetic_goes_on_to_infinity(algorithm: str) -> None:
    text = "RETURN COUNT(*), SUM(A.x) PATTERN A+"
    finite, infinite = (answered(algorithm, text, [2] * n, "float") for n in (100, 1100))
    assert finite["COUNT(*)"] == pytest.approx(2.0**100)
    assert finite["SUM(A.x)"] == pytest.approx(100 * 2.0**100)
    assert infinite["COUNT(*)"] is None
    assert infinite["SUM(A.x)"] is None
    assert infinite["overflow"]


def test_sums_overflow_by_their_magnitudes() -> None:
    text = "RETURN SUM(A.x), AVG(A.x) PATTERN A"

    def sums(*xs: int) -> dict[str, Any]:
        [row] = agree(text, [{"time": 1, "type": "A", "x": x} for x in xs])
        return row

    assert sums(GREATEST)["SUM(A.x)"] == GREATEST
    assert sums(-GREATEST)["SUM(A.x)"] == -GREATEST
    assert sums(2**62, -(2**62) + 1)["SUM(A.x)"] == 1
    assert sums(2**62, -(2**62))["overflow"]  # whatever the order of additions
    assert sums(LEAST)["overflow"]
    assert sums(LEAST, LEAST)["overflow"]  # 2**64 of magnitude


@pytest.mark.parametrize("pattern", ["A+", "SEQ(B, A?)", "SEQ(B, A*)", "B OR A"])
@pytest.mark.parametrize("xs", [(GREATEST, GREATEST), (LEAST, LEAST), (LEAST, GREATEST), (), (0,)])
def test_the_extreme_integers_are_values(pattern: str, xs: tuple[int, ...]) -> None:
    """The extreme integers are also the keys of no value."""
    events = [{"time": 0, "type": "B", "x": 0}] + [{"time": 1, "type": "A", "x": x} for x in xs]
    agree(f"RETURN MIN(A.x), MAX(A.x) PATTERN {pattern}", events)


@pytest.mark.parametrize("op", ["<", "<=", "=", "!=", ">=", ">"])
@pytest.mark.parametrize("constant", [LEAST, LEAST + 1, GREATEST - 1, GREATEST])
def test_integers_compare_exactly(op: str, constant: int) -> None:
    events = [{"time": 0, "type": "A", "x": x} for x in (LEAST, LEAST + 1, 0, GREATEST - 1, GREATEST)]
    agree(f"RETURN COUNT(*) PATTERN A WHERE A.x {op} {constant}", events)


def test_more_sums_than_overflow_bits_are_refused() -> None:
    sums = ", ".join(f"SUM(A.x{i})" for i in range(40))
    events = [{"time": 0, "type": "A", **{f"x{i}": 1 for i in range(40)}}]
    with pytest.raises(QueryError, match="needs 82 counts and sums; at most 64"):
        compile_workload([parse_query(f"RETURN {sums} PATTERN A")], batch(events).schema)
