import numpy as np
import pytest

from cepbench.generators import base
from cepbench.generators.frequencies import SHARED
from cepbench.generators.journeys import CHAIN, ENDS
from tests.generators.streams import stream


@pytest.mark.parametrize("data", SHARED)
def test_every_period_has_exactly_the_frequencies(data: str) -> None:
    frequencies = [*SHARED[data], *[30] * len(ENDS)]
    period = sum(frequencies)
    batch = stream("frequencies", events=2 * period, data=data)
    assert batch.schema.types == (*CHAIN, *ENDS)
    first, second = (np.bincount(part, minlength=121).tolist() for part in (batch.type[:period], batch.type[period:]))
    assert first == second == frequencies
    assert batch.type[:period].tolist() != batch.type[period:].tolist()


def test_the_hub_is_the_most_frequent_shared_type_and_the_chain_descends() -> None:
    for frequencies in SHARED.values():
        assert len(frequencies) == len(CHAIN)
        assert list(frequencies) == sorted(frequencies, reverse=True)


def test_slices_do_not_cut_periods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "SLICE_EVENTS", 1000)
    batch = stream("frequencies", events=3 * 2425, ends=0)
    counts = [np.bincount(batch.type[start : start + 2425]).tolist() for start in (0, 2425, 4850)]
    assert counts == [list(SHARED["bus"])] * 3


def test_types_are_numbered_with_a_prefix() -> None:
    assert stream("frequencies", events=10, prefix="Zone", ends=2).schema.types[-1] == "Zone24"


def test_other_events_have_a_type_of_their_own() -> None:
    batch = stream("frequencies", events=2425 + 30 + 100, ends=1, others=100)
    assert np.bincount(batch.type).tolist() == [*SHARED["bus"], 30, 100]
