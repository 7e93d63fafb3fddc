import os

import numpy as np
import pytest

from metrics.memory import PeakMemory, pss


def test_pss_of_this_process_is_plausible():
    assert 10**6 < pss() < 10**11
    assert pss(os.getpid()) == pytest.approx(pss(), rel=0.2)


def test_peak_is_seen_after_it_is_gone():
    before = pss()
    with PeakMemory() as memory:
        block = np.ones(30_000_000)  # 240 MB
        block *= 2.0
        block *= 2.0
        block *= 2.0
        del block
    assert memory.peak - before > 150 * 10**6
    assert pss() - before < 150 * 10**6


def test_an_error_inside_passes_through():
    with pytest.raises(MemoryError), PeakMemory():
        raise MemoryError
