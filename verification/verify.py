"""The differential test behind `cepbench verify`: an algorithm against the oracle on random cases.

Cases are drawn for the pair of features (`verification.features`) that was compared least often, and without features
that the algorithm refuses. So every pair that it supports is compared, also if it supports few.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

from cepbench.algorithms.base import UnsupportedQuery
from cepbench.algorithms.engine.longest_match import LongerMatch
from cepbench.algorithms.oracle import TooManyMatches
from cepbench.algorithms.plugins import described
from cepbench.algorithms.registry import make
from cepbench.events.errors import CepbenchError, is_interrupt
from cepbench.queries.errors import QueryError
from cepbench.queries.model import Query
from cepbench.queries.printing import to_text
from cepbench.verification.agreement import case_difference, expected_rows, frame_of
from cepbench.verification.coverage import PATIENCE, Coverage
from cepbench.verification.evaluators import OnlyPlans, Subject, subject_of
from cepbench.verification.features import DETECTION, NEVER_DETECTED, Feature, Pair, query_features
from cepbench.verification.random_cases import (
    CASE_FEATURES,
    Case,
    Rows,
    every_event,
    inside_time_stamps,
    pairs_of,
    random_case,
)
from cepbench.verification.shrinking import shrink

UNGUIDED = 0.1
"""Share of cases that are drawn from the whole language without a requested feature."""
ACCOMPANIED = 0.7
"""Share of the other cases that are drawn for a third feature besides the pair."""
MOST_DRAWN = 100
"""Maximum number of draws per requested case; then the verification ends, even if fewer were compared."""

Progress = Callable[[int], None]
"""Called with the number of compared cases."""


@dataclass(frozen=True)
class Failure:
    """The smallest failing case found, and the reason; `answered` is the wrong answer, or the error."""

    case: Case
    reason: str
    answered: str

    def __str__(self) -> str:
        """The queries, the events as CSV, the cuts of batches, the right answer and the given one."""
        queries = "\n\n".join(to_text(query) for query in self.case.queries)
        return (
            f"seed {self.case.seed}: {self.reason}\n\n{queries}\n\n{_csv(self.case)}\n"
            f"{_batches(self.case)}\n\nexpected:\n{_expected(self.case)}\n\nanswered:\n{self.answered}"
        )


@dataclass(frozen=True)
class VerifyReport:
    """The result of `verify`.

    `refused` counts cases by the algorithm's reason, `left_out` those that do not compile or are too large for the
    oracle or the algorithm, and `missed` those without the features for which they were drawn.
    """

    algorithm: str
    drawn: int
    compared: int
    with_rows: int
    coverage: Coverage
    refused: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    missed: int = 0
    failure: Failure | None = None

    @property
    def clean(self) -> bool:
        """Whether every answer was right, and there was one."""
        return self.failure is None and self.compared > 0

    def __str__(self) -> str:
        """Counts, coverage, and the failure if there is one."""
        lines = [f"{self.algorithm}: {self.compared} cases compared, {self.with_rows} of them with rows"]
        lines.append(f"  {self.coverage}")
        if banned := sorted(self.coverage.banned()):
            lines.append(f"  without: {', '.join(banned)}")
        lines += [f"  {count} refused: {reason}" for reason, count in _by_count(self.refused)]
        lines += [f"  {count} left out: {reason}" for reason, count in _by_count(self.left_out)]
        lines.append("all answers are right" if self.failure is None else f"wrong answer\n\n{self.failure}")
        return "\n".join(lines)


def verify(
    specification: str, cases: int = 200, seed: int = 0, progress: Progress | None = None, *, times: int = 0
) -> VerifyReport:
    """Compare an algorithm with the oracle on random cases.

    Each case is run as one batch, as single events, with cuts inside every time stamp, and with random cuts. The
    verification ends when `cases` and `times` are reached, or at the first wrong answer.

    Parameters
    ----------
    specification
        The algorithm, such as `cogra` or `name[parameter=value]`.
    cases
        The minimum number of compared cases.
    seed
        Seed of the cases.
    progress
        Called with the number of compared cases so far.
    times
        The minimum number of comparisons for each pair of features that the algorithm supports.

    Returns
    -------
    VerifyReport
        `clean`: cases were compared, and all answers were right. Its `str` describes what was compared and the smallest
        failing case.

    Examples
    --------
    >>> from cepbench import verify
    >>> verify("cogra", cases=5).clean
    True
    """
    subject = subject_of(make(specification), name=specification)
    return verify_subject(subject, cases, seed, progress, times=times)


def verify_subject(
    subject: Subject,
    cases: int,
    seed: int,
    progress: Progress | None = None,
    *,
    times: int = 0,
    thorough: bool = True,
    patience: int = PATIENCE,
) -> VerifyReport:
    """As `verify`; if not `thorough`, a case is run only with its own random cuts. Stops at the first failure.

    With less `patience` (see `Coverage`) pairs of features that rarely occur together may be missed.
    """
    run = _Run(subject, seed, thorough, patience)
    while run.failure is None and run.drawn < MOST_DRAWN * max(cases, 100):
        rarest = run.coverage.rarest()
        if rarest is None and not run.compared:
            break  # every feature was refused
        if run.compared >= cases and (rarest is None or rarest[1] >= times):
            break
        run.step(None if rarest is None else rarest[0])
        if progress is not None:
            progress(min(run.compared, cases))
    return run.report()


class _Run:
    """The state of one verification."""

    def __init__(self, subject: Subject, seed: int, thorough: bool, patience: int) -> None:
        self.subject, self.thorough = subject, thorough
        self.random = Random(seed)
        no_large_counts = subject.enumerates or subject.flattens
        impossible = {Feature.COUNT_OVERFLOW} if no_large_counts else set()
        self.coverage = Coverage(frozenset(impossible | (NEVER_DETECTED if subject.detects else set())), patience)
        self.refused: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.drawn = self.compared = self.with_rows = self.missed = 0
        self.failure: Failure | None = None

    def step(self, pair: Pair | None) -> None:
        """Draws a case for a pair of features, and compares it if it can be."""
        self.drawn += 1
        wanted, avoided = frozenset[Feature](), frozenset[Feature]()
        if pair is not None and self.random.random() >= UNGUIDED:
            companion = self.coverage.companion(pair) if self.random.random() < ACCOMPANIED else frozenset()
            wanted, avoided = pair | companion, self.coverage.avoided(pair | companion)
        asked = wanted
        if self.subject.detects and not wanted & DETECTION:
            asked = wanted | {self.random.choice(sorted(DETECTION))}
        self.coverage.add(wanted, self._compared(self.random.getrandbits(48), asked, avoided - DETECTION))

    def report(self) -> VerifyReport:
        return VerifyReport(
            self.subject.name, self.drawn, self.compared, self.with_rows, self.coverage, dict(self.refused),
            dict(self.left_out), self.missed, self.failure,
        )  # fmt: skip

    def _compared(self, seed: int, wanted: frozenset[Feature], avoided: frozenset[Feature]) -> set[Pair]:
        """The pairs of features with which the case of a seed was compared; empty if it could not be compared."""
        try:
            case = random_case(seed, wanted, avoided, partial(self._check, wanted))
            expected = expected_rows(case, listed=self.subject.enumerates)
            cuts = all_cuts(case) if self.thorough else (case.cuts,)
            failing = failing_cut(case, self.subject, cuts, expected)
        except _Missed:
            self.missed += 1
        except UnsupportedQuery as error:
            self.refused[_reason(error)] += 1
        except TooManyMatches:
            self.left_out["too many matches to construct"] += 1
        except LongerMatch:
            self.left_out["matches longer than the algorithm's limit"] += 1
        except QueryError as error:
            self.left_out[_reason(error)] += 1
        else:
            self.compared += 1
            self.with_rows += any(expected)
            self.failure = None if failing is None else smallest_failure(failing, self.subject)
            return pairs_of(case, expected)
        return set()

    def _check(self, wanted: frozenset[Feature], queries: Sequence[Query]) -> None:
        """Raises unless the algorithm supports all queries, and one has the features requested of a query."""
        asked = wanted - CASE_FEATURES
        if asked and not any(asked <= query_features(query) for query in queries):
            raise _Missed
        for query in queries:
            if reason := self.subject.unsupported(query):
                raise UnsupportedQuery(reason)


class _Missed(CepbenchError):
    """A case without the features that it was drawn for."""


def failing_cut(
    case: Case, subject: Subject, cuts: Sequence[tuple[int, ...]] | Iterator[tuple[int, ...]], expected: Sequence[Rows]
) -> Case | None:
    """The case with the first of some cuts on which the answer is wrong, or None."""
    for ends in cuts:
        cut = replace(case, cuts=ends)
        if wrong(cut, subject, expected) is not None:
            return cut
    return None


def all_cuts(case: Case) -> Iterator[tuple[int, ...]]:
    """One batch, single events, cuts inside every time stamp, the case's own cuts; each kind once."""
    yield from dict.fromkeys(((), every_event(case), inside_time_stamps(case), case.cuts))


def wrong(case: Case, subject: Subject, expected: Sequence[Rows] | None = None) -> str | None:
    """The difference of the answer to a case from the oracle's, or None.

    Any error except `UnsupportedQuery`, `LongerMatch`, `QueryError` and `OnlyPlans`, which are raised, counts as a
    wrong answer.
    """
    right = expected_rows(case, listed=subject.enumerates) if expected is None else expected
    try:
        frame = subject.answer(case)
    except (UnsupportedQuery, LongerMatch, QueryError, OnlyPlans):
        raise
    except Exception as error:
        if is_interrupt(error):
            raise
        return described(error)
    return case_difference(case, right, frame)


def smallest_failure(case: Case, subject: Subject) -> Failure:
    """The smallest failing case that shrinking finds."""
    small = shrink(case, lambda candidate: wrong(candidate, subject) is not None)
    try:
        answered = subject.answer(small).to_string(index=False)
    except Exception as error:
        if is_interrupt(error):
            raise
        answered = described(error)
    return Failure(small, wrong(small, subject) or "", answered)


def _reason(error: CepbenchError) -> str:
    """The first line, without the name of the query."""
    words = str(error).partition("\n")[0]
    return words.partition(": ")[2] if words.startswith("query q") else words


def _by_count(reasons: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(reasons.items(), key=lambda item: (-item[1], item[0]))


def _batches(case: Case) -> str:
    if not case.cuts:
        return "in one batch"
    how = f"batches end before events {', '.join(map(str, case.cuts))} (counted from 0)"
    how += ", each with the time of the next event" if case.promise else ""
    return how + (", executors pickled after each" if case.pickled else "")


def _csv(case: Case) -> str:
    """The events with the attributes that the queries name."""
    words = {word for query in case.queries for word in re.findall(r"\w+", to_text(query))}
    attributes = dict.fromkeys(name for event in case.events for name in event if name in words)
    names = list(dict.fromkeys(("time", "type", *attributes)))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(case.events)
    return text.getvalue()


def _expected(case: Case) -> str:
    rows = [row for rows in expected_rows(case) for row in rows]
    return str(frame_of(rows).to_string(index=False)) if rows else "no rows"
