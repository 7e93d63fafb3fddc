"""The largest state inside calls."""

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.engine.peak import Peak


def test_the_largest_state_is_told_once() -> None:
    peak = Peak()
    for size in (3, 8, 5):
        peak.note(StateSize(size, {"events": size}))
    assert peak.report(StateSize(6)) == StateSize(8, {"events": 8})
    assert peak.report(StateSize(6)) == StateSize(6)
    peak.note(StateSize(3))
    assert peak.report(StateSize(0)) == StateSize(3)
