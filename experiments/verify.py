"""The differential test behind `cepbench verify`: an algorithm against the oracle on random cases."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random

from algorithms.base import UnsupportedQuery
from algorithms.oracle import TooManyMatches
from algorithms.registry import make
from events.errors import CepbenchError
from experiments.agreement import difference, expected_rows, frame_of
from experiments.evaluators import Evaluator, evaluator_of
from experiments.random_cases import Case, every_event, inside_time_stamps, random_case
from experiments.shrinking import shrink
from queries.errors import QueryError
from queries.printing import to_text

LIMIT = 20_000
"""Partial matches that the oracle may visit in a window; cases beyond it are left out."""

Progress = Callable[[int], None]
"""Told the number of cases done."""


@dataclass(frozen=True)
class Failure:
    """A case that fails, as small as it gets, and how."""

    case: Case
    reason: str

    def __str__(self) -> str:
        """The query, the events as CSV, how they came in batches and the right answer: enough to run it again."""
        return (
            f"seed {self.case.seed}: {self.reason}\n\n{to_text(self.case.query)}\n\n{_csv(self.case)}\n"
            f"{_batches(self.case)}\n\nexpected:\n{_expected(self.case)}"
        )


@dataclass(frozen=True)
class VerifyReport:
    """What was compared.

    `refused` counts cases by the algorithm's reason, `left_out` those that do not compile or are too large for the
    oracle.
    """

    algorithm: str
    cases: int
    compared: int
    with_rows: int
    refused: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    failure: Failure | None = None

    @property
    def clean(self) -> bool:
        """Whether every answer was right, and there was one."""
        return self.failure is None and self.compared > 0

    def __str__(self) -> str:
        """Counts, and the failure if there is one."""
        lines = [f"{self.algorithm}: {self.cases} cases, {self.compared} compared, {self.with_rows} of them with rows"]
        lines += [f"  {count} refused: {reason}" for reason, count in _by_count(self.refused)]
        lines += [f"  {count} left out: {reason}" for reason, count in _by_count(self.left_out)]
        lines.append("all answers are right" if self.failure is None else f"wrong answer\n\n{self.failure}")
        return "\n".join(lines)


def verify(algorithm_spec: str, cases: int, seed: int, progress: Progress | None = None) -> VerifyReport:
    """Compare an algorithm, given as `name` or `name[parameter=value]`, with the oracle on random cases."""
    return verify_evaluator(evaluator_of(make(algorithm_spec)), algorithm_spec, cases, seed, progress)


def verify_evaluator(
    evaluate: Evaluator, algorithm: str, cases: int, seed: int, progress: Progress | None = None
) -> VerifyReport:
    """Compare on `cases` random cases, each with every kind of cut; stop at the first failure and make it small."""
    seeds = Random(seed)
    refused: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    compared = with_rows = 0
    failure = None
    done = 0
    while done < cases and failure is None:
        case = random_case(seeds.getrandbits(48))
        done += 1
        try:
            rows = expected_rows(case, LIMIT)
            failing = failing_cut(case, evaluate)
        except UnsupportedQuery as error:
            refused[_reason(error)] += 1
        except TooManyMatches:
            left_out["too many matches for the oracle"] += 1
        except QueryError as error:
            left_out[_reason(error)] += 1
        else:
            compared += 1
            with_rows += bool(rows)
            failure = None if failing is None else smallest_failure(failing, evaluate)
        if progress is not None:
            progress(done)
    return VerifyReport(algorithm, done, compared, with_rows, dict(refused), dict(left_out), failure)


def failing_cut(case: Case, evaluate: Evaluator) -> Case | None:
    """The case with the first kind of cut on which the answer is wrong, or None."""
    for cuts in all_cuts(case):
        cut = replace(case, cuts=cuts)
        if wrong(cut, evaluate) is not None:
            return cut
    return None


def all_cuts(case: Case) -> Iterator[tuple[int, ...]]:
    """One batch, single events, cuts inside every time stamp, the case's own cuts; each kind once."""
    yield from dict.fromkeys(((), every_event(case), inside_time_stamps(case), case.cuts))


def wrong(case: Case, evaluate: Evaluator) -> str | None:
    """How the answer to a case differs from the oracle's, or None. An error that is none of ours is a wrong answer."""
    expected = expected_rows(case, LIMIT)
    try:
        frame = evaluate(case)
    except (UnsupportedQuery, QueryError):
        raise
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return difference(expected, frame)


def smallest_failure(case: Case, evaluate: Evaluator) -> Failure:
    """What is left of a failing case when all that does not matter is dropped."""
    small = shrink(case, lambda candidate: wrong(candidate, evaluate) is not None)
    return Failure(small, wrong(small, evaluate) or "")


def _reason(error: CepbenchError) -> str:
    """The first line, without the name of the query."""
    return str(error).partition("\n")[0].removeprefix("query q1: ")


def _by_count(reasons: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(reasons.items(), key=lambda item: (-item[1], item[0]))


def _batches(case: Case) -> str:
    if not case.cuts:
        return "in one batch"
    how = f"batches end before events {', '.join(map(str, case.cuts))} (counted from 0)"
    how += ", each telling the time of the next event" if case.promise else ""
    return how + (", executors pickled after each" if case.pickled else "")


def _csv(case: Case) -> str:
    """The events with the attributes that the query names."""
    words = set(re.findall(r"\w+", to_text(case.query)))
    attributes = dict.fromkeys(name for event in case.events for name in event if name in words)
    names = list(dict.fromkeys(("time", "type", *attributes)))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(case.events)
    return text.getvalue()


def _expected(case: Case) -> str:
    rows = expected_rows(case, LIMIT)
    return str(frame_of(rows).to_string(index=False)) if rows else "no rows"
