"""Random cases against the oracle, as checks of the contract; `cepbench verify` runs any number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from random import Random

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.oracle import TooManyMatches, check_query
from cepbench.events.batch import EventBatch
from cepbench.queries.errors import QueryError
from cepbench.queries.model import CompleteMatches, Matches, Query
from cepbench.queries.parser import parse_query
from cepbench.queries.printing import to_text
from cepbench.verification.agreement import case_difference, expect, expected_rows
from cepbench.verification.coverage import PATIENCE
from cepbench.verification.evaluators import answer_of, subject_of
from cepbench.verification.features import DETECTION, Feature, all_pairs
from cepbench.verification.random_cases import Case, Rows, batch_of, random_case, split
from cepbench.verification.random_streams import BIG
from cepbench.verification.verify import all_cuts, failing_cut, smallest_failure, verify_subject

DETECTED = parse_query("PATTERN A, B WITHIN 3 s PER MATCH")
"""Random cases of detection are for algorithms that support it."""

HASTY = 10
"""The patience of the small form (`verification.coverage`): it misses at most a few pairs, in half the time."""

RandomCheck = tuple[str, Callable[[], str | None], bool, bool]
"""Name, function, and as in `Check` whether it is thorough, and contained; the function may return a description."""

_DETECTION_PAIRS = [pair for pair in all_pairs() if len(pair & DETECTION) == 1 and len(pair) == 2]
_FLOAT_WISHES = (
    frozenset[Feature](),
    frozenset({Feature.ANY, Feature.SUM}),
    frozenset({Feature.WORKLOAD, Feature.AVG}),
)


def random_checks(algorithm: Algorithm) -> Iterator[RandomCheck]:
    """A few cases for the small form, and many for the full form, which may include the few."""
    seeds = _seeds(80)
    for function, few, many, contained in (
        (_every_pair_of_features_is_compared, (20, 25, 3, HASTY), (20, 50, 4), True),
        (_digests_do_not_need_the_matches, (seeds[:12],), (seeds[12:],), False),
        (_float_arithmetic_agrees_where_counts_are_small, None, (seeds,), False),
        (_every_kind_of_cut_is_compared, None, (), False),
    ):
        name = function.__name__.strip("_").replace("_", " ")
        if few is not None:
            yield name, partial(function, algorithm, *few), False, contained
        yield f"{name}, many cases", partial(function, algorithm, *many), True, False
    if algorithm.refusal(DETECTED) is None:
        name = "random cases of detection agree"
        yield name, partial(_detection_agrees, algorithm, range(20)), False, False
        yield f"{name}, many cases", partial(_detection_agrees, algorithm, range(20, 100)), True, False


def _every_pair_of_features_is_compared(
    algorithm: Algorithm, seed: int, cases: int, times: int, patience: int = PATIENCE
) -> str:
    """Also checks that ties, nulls, workloads and batches are not refused."""
    report = verify_subject(subject_of(algorithm), cases, seed=seed, times=times, thorough=False, patience=patience)
    expect(report.clean, str(report))
    expect(report.coverage.least() >= times, f"each pair of features is compared {times} times\n{report}")
    refused = report.coverage.banned() & {Feature.TIES, Feature.NULLS, Feature.WORKLOAD, Feature.BATCHES}
    expect(not refused, f"never compared: {', '.join(sorted(refused))}\n{report}")
    return f"{report.compared} random cases, {report.coverage}"


def _every_kind_of_cut_is_compared(algorithm: Algorithm) -> None:
    report = verify_subject(subject_of(algorithm), 30, seed=2)
    expect(report.clean and report.compared >= 30, str(report))


def _float_arithmetic_agrees_where_counts_are_small(algorithm: Algorithm, seeds: Sequence[int]) -> None:
    subject = subject_of(algorithm, "float")
    for seed in seeds:
        case = _case(seed, _FLOAT_WISHES[seed % len(_FLOAT_WISHES)])
        case = replace(case, queries=tuple(query for query in case.queries if supports(algorithm, query)))
        if not case.queries or any(abs(event["x"] or 0) >= BIG for event in case.events):
            continue
        with suppress(TooManyMatches, QueryError):
            expected = [_in_floats(_rows(replace(case, queries=(query,)), modular=False)) for query in case.queries]
            reason = case_difference(case, expected, subject.answer(case))
            expect(reason is None, f"{reason}, in float arithmetic, in the case of seed {seed}")


def _digests_do_not_need_the_matches(algorithm: Algorithm, seeds: Sequence[int]) -> None:
    """Runs that only count and digest matches give the same answer as runs that return them."""
    for seed in seeds:
        case = _case(seed, frozenset({Feature.MATCHES}))
        for returns in (Matches(), CompleteMatches()):
            query = replace(case.query, returns=returns)
            if supports(algorithm, query):
                with suppress(TooManyMatches):
                    expected = _rows(replace(case, queries=(query,)))
                    batches = split(batch_of(case.events), case.cuts)
                    where = f"in the case of seed {seed}:\n{to_text(query)}"
                    expect_digest(algorithm, (query,), batches, len(expected), where, case.promise, case.pickled)


def _detection_agrees(algorithm: Algorithm, seeds: range) -> None:
    """Cases for every feature of detection queries in turn, on every kind of cut."""
    subject, asked, with_rows = subject_of(algorithm), 0, 0
    for seed in seeds:
        case = _case(seed, _DETECTION_PAIRS[seed % len(_DETECTION_PAIRS)])
        if any(algorithm.refusal(query) for query in case.queries):
            continue
        with suppress(TooManyMatches):
            expected = [_rows(replace(case, queries=(query,))) for query in case.queries]
            asked, with_rows = asked + 1, with_rows + any(expected)
            failing = failing_cut(case, subject, all_cuts(case), expected)
            expect(failing is None, "" if failing is None else str(smallest_failure(failing, subject)))
            if not all(isinstance(query.returns, Matches) for query in case.queries):
                continue
            batches, where = split(batch_of(case.events), case.cuts), f"in the case of seed {seed}"
            number = sum(map(len, expected))
            expect_digest(algorithm, case.queries, batches, number, where, case.promise, case.pickled)
    expect(asked > len(seeds) / 10, f"only {asked} of {len(seeds)} cases are supported")
    expect(with_rows > asked / 3, f"only {with_rows} of {asked} cases have rows")


def expect_digest(
    algorithm: Algorithm,
    queries: Sequence[Query],
    batches: Sequence[EventBatch],
    matches: int,
    where: str,
    promise: bool,
    pickled: bool,
) -> AnswerBuilder:
    """The answer that only counts and digests matches. Raises `AssertionError` if it differs from the whole one."""
    plain, summarised = (
        answer_of(algorithm, queries, batches, promise=promise, pickled=pickled, summarised=flag)
        for flag in (False, True)
    )
    expect(plain.rows == matches, f"{matches} matches expected, {plain.rows} returned {where}")
    expect(summarised.matches == matches, f"{matches} matches expected, {summarised.matches} counted {where}")
    expect(summarised.digest() == plain.digest(), f"counted matches have another digest {where}")
    expect(list(summarised.frame())[-2:] == ["matches", "digest"], f"counted matches are shown as such {where}")
    return summarised


def supports(algorithm: Algorithm, query: Query) -> bool:
    """Whether the algorithm evaluates a query, which may be invalid."""
    try:
        check_query(query)
        return algorithm.refusal(query) is None
    except QueryError:
        return False


def _seeds(count: int) -> list[int]:
    random = Random(7)
    return [random.getrandbits(48) for _ in range(count)]


@cache
def _case(seed: int, wanted: frozenset[Feature]) -> Case:
    return random_case(seed, wanted)


_ROWS: dict[tuple[int, Query, bool], Rows | None] = {}
"""The oracle's rows of a query by the seed of its case, for all algorithms; None if there are too many."""


def _rows(case: Case, *, modular: bool = True) -> Rows:
    """The oracle's rows for a case with one query. Raises `TooManyMatches`."""
    key = case.seed, case.query, modular
    if key not in _ROWS:
        _ROWS[key] = None
        with suppress(TooManyMatches):
            [_ROWS[key]] = expected_rows(case, listed=True, modular=modular)
    rows = _ROWS[key]
    if rows is None:
        raise TooManyMatches
    return rows


def _in_floats(rows: Iterable[dict[str, object]]) -> Rows:
    """Counts and sums in float arithmetic."""
    return [
        {name: float(value) if name.startswith(("COUNT", "SUM")) else value for name, value in row.items()}  # type: ignore[arg-type]
        for row in rows
    ]
