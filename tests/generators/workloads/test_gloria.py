"""Workloads of Gloria: the shared part of a block, nested closures, and equality with the published workloads."""

import re
from collections import Counter
from pathlib import Path

import pytest

from cepbench.generators.errors import GeneratorError
from cepbench.generators.journeys import CHAIN, ENDS
from cepbench.generators.workloads.gloria import GloriaWorkload
from cepbench.generators.workloads.registry import workload_text
from cepbench.queries.workloads import load_workload, parse_workload

PUBLISHED = Path(__file__).parents[4] / "shared" / "reference" / "gloria" / "workloads" / "bus"


def patterns_of(**parameters: object) -> list[str]:
    text = workload_text("gloria", parameters)
    parse_workload(text)
    return patterns_in(text)


def patterns_in(text: str) -> list[str]:
    return [
        line.removeprefix("PATTERN ").replace(", ", ",") for line in text.splitlines() if line.startswith("PATTERN ")
    ]


def shared(pattern: str) -> str:
    """A pattern without its private types: the last type, and of a SEQ query the first."""
    if "+" in pattern:
        return pattern[len("SEQ(") :].rpartition(",")[0]
    return pattern[len("SEQ(") :].partition(",")[2].rpartition(",")[0]


def test_a_block_shares_the_hub_and_a_run_of_the_chain() -> None:
    patterns = patterns_of(queries=60, block=20)
    assert len(set(patterns)) == 60
    assert [{shared(pattern) for pattern in patterns[start : start + 20]} for start in (0, 20, 40)] == [
        {"TOQ,WBA,MKV,YXT"},
        {"TOQ,MKV,YXT,TMR"},
        {"TOQ,YXT,TMR,XBL"},
    ]
    ends = [re.findall(r"\w+", pattern.removeprefix("SEQ"))[:: len(pattern.split(",")) - 1] for pattern in patterns]
    assert all(first != last and {first, last} <= set(ENDS) for first, last in ends)
    assert [len({end for pair in ends[start : start + 20] for end in pair}) for start in (0, 20, 40)] == [40] * 3


def test_a_block_of_more_queries_than_ends_has_some_ends_twice() -> None:
    patterns = patterns_of(queries=20, block=20, ends=7)
    assert len(set(patterns)) == 20
    assert len({pattern.rpartition(",")[2] for pattern in patterns}) <= 7


@pytest.mark.parametrize(
    ("length", "layers", "expected"),
    [
        (1, 1, "TOQ+,MKV"),
        (2, 1, "SEQ(TOQ,MKV)+,YXT"),
        (4, 1, "SEQ(TOQ,MKV,YXT,TMR)+,XBL"),
        (4, 2, "SEQ(TOQ,SEQ(MKV,YXT)+,TMR)+,XBL"),
        (10, 5, "SEQ(TOQ,SEQ(MKV,SEQ(YXT,SEQ(TMR,SEQ(XBL,BPG)+,YSA)+,GJE)+,PAV)+,QVO)+,KMU"),
    ],
)
def test_closures_nest(length: int, layers: int, expected: str) -> None:
    patterns = patterns_of(queries=20, block=10, kleene=1, kleene_length=length, layers=layers)
    assert {shared(pattern) for pattern in patterns[10:]} == {expected}


@pytest.mark.parametrize(
    ("block", "kleene", "expected"),
    [(12, 1 / 6, 2), (12, 0.1667, 2), (10, 0.1, 1), (10, 0.6, 6), (10, 0, 0), (10, 1, 10)],
)
def test_each_block_has_its_share_of_kleene_queries(block: int, kleene: float, expected: int) -> None:
    patterns = patterns_of(queries=5 * block, block=block, kleene=kleene)
    counts = [sum("+" in pattern for pattern in patterns[i * block : (i + 1) * block]) for i in range(5)]
    assert counts == [expected] * 5


def test_smaller_workloads_are_the_beginning_of_larger_ones() -> None:
    few, many = (workload_text("gloria", {"queries": n, "kleene": 0.5, "block": 8}) for n in (13, 40))
    assert many.startswith(few.rstrip("\n"))
    assert workload_text("gloria", {"queries": 13, "kleene": 0.5, "block": 8, "seed": 1}) != few


def test_a_block_counts_or_mixes_the_other_aggregates() -> None:
    text = workload_text("gloria", {"queries": 190, "block": 10})
    aggregates = [line.rpartition(", ")[2] for line in text.splitlines() if line.startswith("RETURN")]
    blocks = [frozenset(aggregates[start : start + 10]) for start in range(0, 190, 10)]
    assert set(blocks) == {frozenset({"COUNT(*)"}), frozenset({"SUM(TOQ.delay)", "AVG(TOQ.delay)"})}
    always = workload_text("gloria", {"queries": 190, "block": 10, "counting": 1})
    assert "SUM" not in always
    assert "AVG" not in always


def test_clauses() -> None:
    lines = Counter(workload_text("gloria", {"queries": 400}).splitlines())
    assert lines["WHERE TOQ.congestion = 0"] == lines["GROUP-BY Line_ID"] == 400
    windows = {line: count for line, count in lines.items() if line.startswith("WITHIN")}
    assert set(windows) == {f"WITHIN {size} min SLIDE 5 min" for size in (5, 10, 15, 20)}
    assert min(windows.values()) > 70
    bare = workload_text("gloria", {"queries": 20, "predicate": "none", "group_by": "none", "aggregates": "COUNT(*)"})
    assert not re.search("WHERE|GROUP", bare)
    assert bare.count("RETURN COUNT(*)\n") == 20


def test_types_may_be_numbered() -> None:
    patterns = patterns_of(queries=2, block=1, prefix="Zone", chain=6, ends=3, length=3)
    assert [shared(pattern) for pattern in patterns] == ["Zone0,Zone1,Zone2", "Zone0,Zone2,Zone3"]
    ends = {name for pattern in patterns for name in re.findall(r"Zone\d", pattern)[:: len(pattern.split(",")) - 1]}
    assert ends <= {"Zone6", "Zone7", "Zone8"}


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"kleene": 1, "layers": 3, "kleene_length": 5}, "layers = 3 take a kleene_length of 6 or more, not 5"),
        ({"queries": 100, "block": 4}, "the last of 25 blocks reaches type 28 of a chain of 23"),
        ({"queries": 100, "block": 10, "kleene": 1, "kleene_length": 14}, "10 blocks reaches type 24 of a chain of 23"),
        ({"queries": 7, "ends": 3}, "no room for 7 different patterns"),
        ({"aggregates": ["SUM({kleene}.delay)"]}, "only {hub} may occur in braces"),
        ({"prefix": "1x"}, "begins with a digit"),
    ],
)
def test_what_cannot_be_made_is_refused(parameters: dict[str, object], reason: str) -> None:
    with pytest.raises(GeneratorError, match=re.escape(reason)):
        workload_text("gloria", parameters)


@pytest.mark.skipif(not PUBLISHED.exists(), reason="needs the published material beside the repository")
@pytest.mark.parametrize(
    ("file", "parameters"),
    [
        ("SEQWorkload/workload_200.txt", {"queries": 400}),
        ("SEQWorkload/workload_20.txt", {"queries": 40}),
        ("KleeneWorkload/kleeneLength/workload_1.txt", {"block": 10, "kleene": 1, "kleene_length": 1}),
        ("KleeneWorkload/kleeneLength/workload_10.txt", {"block": 10, "kleene": 1, "kleene_length": 10}),
        ("KleeneWorkload/KleeneLayers/workload_3.txt", {"block": 10, "kleene": 1, "layers": 3}),
        ("KleeneWorkload/KleeneLayers/workload_5.txt", {"block": 10, "kleene": 1, "layers": 5}),
        ("MixWorkload/workload_12.txt", {"queries": 12, "block": 12, "kleene": 1 / 6, "layers": 2}),
        ("MixWorkload/workload_120.txt", {"queries": 120, "block": 12, "kleene": 1 / 6, "layers": 2}),
        ("MixWorkload/kleeneRatio/workload_4.txt", {"block": 10, "kleene": 0.4, "layers": 2}),
    ],
)
@pytest.mark.full
def test_shared_sub_patterns_are_those_of_the_published_workloads(file: str, parameters: dict[str, object]) -> None:
    published = (PUBLISHED / file).read_text()
    generated, carried = patterns_of(**parameters), patterns_in(published)
    assert Counter(map(shared, generated)) == Counter(map(shared, carried))
    text = workload_text("gloria", parameters)
    for clause in ("WHERE", "WITHIN"):
        generated_lines, listed = (
            {line for line in lines.splitlines() if line.startswith(clause)} for lines in (text, published)
        )
        assert {line.strip() for line in listed} == generated_lines
    assert {query.group_by for query in parse_workload(text)} == {
        query.group_by for query in load_workload(PUBLISHED / file)
    }


@pytest.mark.skipif(not PUBLISHED.exists(), reason="needs the published material beside the repository")
def test_all_published_types_are_known() -> None:
    names = {name for file in PUBLISHED.rglob("*.txt") for p in patterns_in(file.read_text()) for name in words(p)}
    assert names == {*CHAIN, *ENDS}


def words(pattern: str) -> list[str]:
    types: list[str] = re.findall(r"[A-Z]{3}", pattern.replace("SEQ(", "("))
    return types


def test_the_listing_names_the_paper() -> None:
    assert GloriaWorkload.describe().paper == "Gloria 8.1"
