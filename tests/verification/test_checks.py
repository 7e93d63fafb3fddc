"""The checks of the contract name every fault of a broken algorithm, and let a right algorithm pass."""

from collections.abc import Callable
from unittest import SkipTest

import pytest

from cepbench.algorithms.base import Algorithm, KeyedBatch, Operator, Plan, StateSize
from cepbench.algorithms.rows import Rows
from cepbench.algorithms.trends.cogra.algorithm import Cogra
from cepbench.checks import Check, yield_checks
from cepbench.queries.model import Query
from cepbench.verification.examples import examples


class Right(Cogra):
    """An algorithm without a fault, which the broken algorithms change."""

    name = "right"


class Changed(Operator):
    """An operator as it should be, for subclasses to break."""

    def __init__(self, inner: Operator) -> None:
        self.inner = inner
        self.began = False

    def process(self, batch: KeyedBatch) -> Rows:
        self.began = True
        return self.inner.process(batch)

    def finish(self) -> Rows:
        return self.inner.finish()

    def state(self) -> StateSize:
        return self.inner.state()


class Forgetful(Changed):
    """Loses its state when it is pickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return Forgetful, (None,)


class NeedsABatch(Changed):
    def finish(self) -> Rows:
        if not self.began:
            raise AttributeError("now")
        return self.inner.finish()


class Empties(Changed):
    """Reports nothing at the end of the stream."""

    def finish(self) -> Rows:
        return {}


class Lenient(Changed):
    def process(self, batch: KeyedBatch) -> Rows:
        try:
            return self.inner.process(batch)
        except Exception:
            return {}


class Growing(Changed):
    """Its state grows with the stream."""

    bytes = 0

    def process(self, batch: KeyedBatch) -> Rows:
        self.bytes = 2 * self.bytes + 1
        return self.inner.process(batch)

    def state(self) -> StateSize:
        return StateSize(self.bytes)


class Broken(Right):
    """Its operators are changed on the way out; at the top of the module, so that it can be pickled."""

    def __init__(self, change: Callable[[Operator], Operator]) -> None:
        super().__init__()
        self.change = change

    def operator(self, plan: Plan) -> Operator:
        return self.change(super().operator(plan))


def check_of(algorithm: Algorithm, name: str) -> Check:
    """The check of a name, of either form."""
    checks = (*yield_checks(algorithm), *yield_checks(algorithm, thorough=True))
    return {str(check): check for check in checks}[name]


@pytest.mark.parametrize(
    ("operator", "name"),
    [
        (Forgetful, "a copy goes on by itself"),
        (NeedsABatch, "nothing comes of no events"),
        (Lenient, "older events are refused"),
        (Growing, "state shrinks when windows close"),
        (Empties, "semantics-any"),
        (Empties, "loop-next on other cuts"),
        (Empties, "goes-on-type"),
        pytest.param(Empties, "sum in floats", marks=pytest.mark.full),
        (Empties, "every pair of features is compared"),
    ],
)
def test_what_is_broken_is_caught_by_name(operator: Callable[[Operator], Operator], name: str) -> None:
    with pytest.raises((AssertionError, AttributeError)):
        check_of(Broken(operator), name)()
    if name != "every pair of features is compared":
        check_of(Broken(Changed), name)()


def test_a_refusal_without_words_is_caught() -> None:
    class Silent(Right):
        def unsupported(self, query: Query) -> str | None:
            return super().unsupported(query) and "no"

    with pytest.raises(AssertionError, match="reason in words or None, not 'no'"):
        check_of(Silent(), "a refusal has a reason")()


def test_an_algorithm_that_refuses_everything_fails_and_says_what_is_not_checked() -> None:
    class Refusing(Right):
        def unsupported(self, query: Query) -> str | None:
            return "it is not ready yet"

    with pytest.raises(AssertionError, match="it refuses all but 0 of"):
        check_of(Refusing(), "it is not excused everywhere")()
    with pytest.raises(SkipTest, match="it is not ready yet"):
        check_of(Refusing(), "the promises of the interface")()


def test_what_cannot_run_here_says_why() -> None:
    class Absent(Right):
        @classmethod
        def missing(cls) -> str | None:
            return "its library is not installed"

    [check] = yield_checks(Absent())
    with pytest.raises(SkipTest, match="its library is not installed"):
        check()


def test_the_full_form_adds_to_the_small_one() -> None:
    """The full form replaces checks of which it has more cases."""
    small, full = list(yield_checks(Right())), list(yield_checks(Right(), thorough=True))
    names = {str(check) for check in full}
    assert [str(check) for check in small if not check.contained] == [str(c) for c in full if not c.thorough]
    contained = [str(check) for check in small if check.contained]
    assert contained == ["every pair of features is compared"]
    assert names.isdisjoint(contained)
    assert names.issuperset(f"{name}, many cases" for name in contained)
    assert len(names) == len(full)


def test_algorithms_get_different_cuts_of_an_example() -> None:
    class Other(Right):
        name = "other"

    cuts = [
        [
            check.function.args[2]
            for check in yield_checks(kind())
            if str(check) in {example.name for example in examples()}
        ]
        for kind in (Right, Other)
    ]
    assert len({cut for chosen in cuts for cut in chosen}) == 4
    assert cuts[0] != cuts[1]


def test_examples_have_rows_and_names_of_their_own() -> None:
    assert len({example.name for example in examples()}) == len(examples())
    assert [example.name for example in examples() if not example.rows and example.expected is None] == []
