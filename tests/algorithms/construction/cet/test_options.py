"""Parameters of `cet[...]`, and what CET refuses."""

import pytest

from cepbench.algorithms.construction.cet.algorithm import Cet
from cepbench.events.errors import CepbenchError
from cepbench.queries.parser import parse_query
from tests.algorithms.construction.cet.running import groups, watch


@pytest.mark.parametrize(("text", "size"), [("4096", 4096), ("1.5 KiB", 1536), ("64MB", 64 * 10**6), ("64GiB", 2**36)])
def test_sizes(text: str, size: int) -> None:
    assert Cet(memory=text).memory == size


@pytest.mark.parametrize("text", ["", "MB", "-1MB", "0", "12XB", "1e9", "65GiB", "nan", "0.9", "9" * 400])
def test_bad_sizes_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(CepbenchError, match=r"^cet\[memory=.*\]: memory is [^\n]+$"):
        Cet(memory=text)


def test_bad_choices_are_refused_in_one_line() -> None:
    with pytest.raises(CepbenchError, match=r"cet\[detect=fast\]: detect is baseline, memory, time, hybrid or plan$"):
        Cet(detect="fast")
    with pytest.raises(CepbenchError, match=r"partition is branch-and-bound, greedy, exhaustive or random$"):
        Cet(partition="optimal")


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "", "all", "1000001", "9" * 5000])
def test_bad_numbers_of_graphlets_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(CepbenchError, match=r"^cet\[graphlets=.*\]: graphlets is [^\n]+$"):
        Cet(graphlets=text)


def test_the_bounds_of_numbers_are_among_them() -> None:
    assert [Cet(graphlets=text).graphlets for text in ("1", "1000000", "searched")] == [1, 10**6, None]
    assert [Cet(ratio=text).ratio for text in ("1", "2.5", "1000000")] == [1, 2.5, 10**6]


def test_graphlets_and_ratio_prescribe_the_plan() -> None:
    """Six groups of three in two graphlets: of three groups each, or of five and one."""
    text = "RETURN COMPLETE MATCHES PATTERN A+"
    for ratio, stored in (("1", 3**3 + 3**3), ("5", 3**5 + 3)):
        seen = watch(Cet(graphlets="2", ratio=ratio), text, groups(6, 3))
        assert seen.states[-1].kinds["trends"] == stored
        assert seen.details["graphlets_built"] == 2
        assert len(seen.matches) == 3**6


@pytest.mark.parametrize("text", ["0", "1.5", "none"])
def test_bad_numbers_of_intervals_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(CepbenchError, match=r"^cet\[intervals=.*\]: intervals is [^\n]+$"):
        Cet(intervals=text)


def test_graphlets_are_prescribed_in_one_way() -> None:
    with pytest.raises(CepbenchError, match=r"^cet: give either graphlets or intervals$"):
        Cet(graphlets="2", intervals="2")
    with pytest.raises(CepbenchError, match=r"^cet\[sharing=always\]: sharing is windows or never$"):
        Cet(sharing="always")


@pytest.mark.parametrize("text", ["0.5", "nan", "inf", "1e7", "big"])
def test_bad_ratios_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(CepbenchError, match=r"^cet\[ratio=.*\]: ratio is [^\n]+$"):
        Cet(ratio=text)


@pytest.mark.parametrize(
    ("detect", "text", "reason"),
    [
        ("hybrid", "RETURN MATCHES PATTERN A+", "COMPLETE MATCHES"),
        ("memory", "RETURN COMPLETE MATCHES PATTERN SEQ(A, NOT B, C)", "negated"),
        ("baseline", "RETURN COMPLETE MATCHES PATTERN SEQ(A+, B)", "baseline"),
        ("time", "RETURN COMPLETE MATCHES PATTERN A+ OR SEQ(A+, B)", "several ways"),
    ],
)
def test_refusals_say_why(detect: str, text: str, reason: str) -> None:
    assert reason in str(Cet(detect=detect).unsupported(parse_query(text)))


def test_the_baseline_takes_flat_patterns() -> None:
    assert Cet(detect="baseline").unsupported(parse_query("RETURN COMPLETE MATCHES PATTERN A+ OR B+")) is None
