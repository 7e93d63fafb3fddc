"""The contract of an algorithm as checks that need only the installed package.

The tests of an algorithm, wherever it is, are five lines of pytest:

    import pytest
    from cepbench.checks import yield_checks

    @pytest.mark.parametrize("check", list(yield_checks(MyAlgorithm())), ids=str)
    def test_contract(check):
        check()
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from unittest import SkipTest
from zlib import crc32

from cepbench.algorithms.base import Algorithm
from cepbench.queries.model import Aggregates
from cepbench.verification.agreement import difference, expect
from cepbench.verification.evaluators import run
from cepbench.verification.examples import Example, examples
from cepbench.verification.promises import PLAIN, promises
from cepbench.verification.random_cases import split
from cepbench.verification.random_checks import expect_digest, random_checks

CUTS = ("in one batch", "in single events", "cut inside time stamps", "cut in two")


@dataclass(frozen=True)
class Check:
    """One property of an algorithm.

    Parameters
    ----------
    name
        A description of the property.
    function
        Raises `AssertionError` if the algorithm does not have the property, and `unittest.SkipTest` with the
        algorithm's own reason if it cannot be checked. May return a description of the comparisons.
    thorough
        Whether it belongs to the full form only.
    contained
        Whether it belongs to the small form only, since one of the full form checks the same on more cases.
    drawn
        Whether it draws tens to hundreds of random cases.
    """

    name: str
    function: Callable[[], str | None]
    thorough: bool = False
    drawn: bool = False
    contained: bool = False

    def __call__(self) -> str | None:
        """Checks the property."""
        return self.function()

    def __str__(self) -> str:
        """The name."""
        return self.name


def yield_checks(algorithm: Algorithm, *, thorough: bool = False) -> Iterator[Check]:
    """The checks of the contract that concern an algorithm.

    A query that `Algorithm.unsupported` refuses is checked only for its reason, which must be words; an algorithm that
    refuses nearly all, or that gives no reason, fails. Examples with too many matches to construct are skipped for
    algorithms that declare `enumerates`. An algorithm that cannot run on this machine has one check, which is skipped.

    Parameters
    ----------
    algorithm
        An instance with the parameters that are to be checked. It need not be registered.
    thorough
        Adds long checks: all ways of cutting an example, float arithmetic, and hundreds of random cases, with each
        pair of features four times. The small form has one way of cutting each example, another one for each algorithm,
        and random cases with each pair of features three times, which the full form does not repeat.

    Yields
    ------
    Check
        A function without arguments that raises `AssertionError` with what is wrong. Its `str` is its name.
    """
    if (missing := algorithm.missing()) is not None:
        yield Check("it runs here", partial(_skip, missing))
        return
    yield from (check for check in _checks(algorithm) if not (check.contained if thorough else check.thorough))


def _checks(algorithm: Algorithm) -> Iterator[Check]:
    yield from (Check(name, promise) for name, promise in promises(algorithm))
    reasons = [algorithm.refusal(query) for query in PLAIN]
    if None not in reasons:
        yield Check("the promises of the interface", partial(_skip, str(reasons[0])))
    for example in examples():
        if algorithm.refusal(example.query) is None and not (example.exact and algorithm.enumerates):
            cut = crc32(f"{algorithm.name} {example.name}".encode()) % len(CUTS)
            others = CUTS[:cut] + CUTS[cut + 1 :]
            yield Check(example.name, partial(_answers, algorithm, example, CUTS[cut : cut + 1]))
            yield Check(f"{example.name} on other cuts", partial(_answers, algorithm, example, others), thorough=True)
            if example.exact:
                yield Check(f"{example.name} in floats", partial(_answers_in_floats, algorithm, example), thorough=True)
    for name, function, thorough, contained in random_checks(algorithm):
        yield Check(name, function, thorough, drawn=True, contained=contained)


def _answers(algorithm: Algorithm, example: Example, cuts: Iterable[str]) -> None:
    """In plain batches, and again with watermarks and pickled executors, unless the example has `exact` values."""
    for cut in cuts:
        batches = split(example.batch, _ends(cut, example))
        for interrupted in (False,) if example.exact else (False, True):
            where = f"({cut}, with watermarks and pickled)" if interrupted else f"({cut})"
            frame = run(algorithm, example.query, batches, promise=interrupted, pickled=interrupted)
            if example.expected:
                frame = frame[[name for name in example.expected[0] if name in frame]]
            reason = difference(example.rows, frame)
            expect(reason is None, f"{reason} {where}")
            if not isinstance(example.query.returns, Aggregates):
                summarised = expect_digest(
                    algorithm,
                    (example.query,),
                    batches,
                    len(example.rows),
                    where,
                    promise=interrupted,
                    pickled=interrupted,
                )
                if example.query.span is None:
                    windows = {tuple(v for name, v in row.items() if name != "match") for row in example.rows}
                    expect(summarised.rows == len(windows), f"matches are counted by window {where}")


def _answers_in_floats(algorithm: Algorithm, example: Example) -> None:
    for cut in CUTS:
        batches = split(example.batch, _ends(cut, example))
        reason = difference(example.magnitudes, run(algorithm, example.query, batches, "float"))
        expect(reason is None, f"{reason} (in float arithmetic, {cut})")


def _ends(cut: str, example: Example) -> tuple[int, ...]:
    """The indices before which batches end."""
    times = [event["time"] for event in example.events]
    every = tuple(range(1, len(times)))
    inside = tuple(index for index in every if times[index - 1] == times[index])
    return {CUTS[0]: (), CUTS[1]: every, CUTS[2]: inside, CUTS[3]: (len(times) // 2,)}[cut]


def _skip(reason: str) -> None:
    raise SkipTest(reason)
