import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepbench.metrics.clock import completions, open_arrivals, waiting


def test_hand_computed_schedule():
    arrival = np.array([1.0, 2.0, 3.0, 10.0, 10.0])
    service = np.array([0.5, 3.0, 1.0, 2.0, 0.25])
    # 1.5; 2 + 3; queues: 5 + 1; idle until 10: 12; queues: 12.25
    assert completions(arrival, service).tolist() == [1.5, 5.0, 6.0, 12.0, 12.25]
    assert waiting(arrival, service).tolist() == [0.0, 0.0, 2.0, 0.0, 2.0]


def test_arrivals_do_not_wait_for_a_slow_system():
    arrival = open_arrivals(np.array([99, 199, 299]), rate=100)
    assert arrival.tolist() == [1.0, 2.0, 3.0]
    done = completions(arrival, np.array([5.0, 0.1, 0.1]))
    # The second and third batch wait for the stalled first one: that is what coordinated omission would hide.
    assert (done - arrival).tolist() == pytest.approx([5.0, 4.1, 3.2])


def test_no_batches():
    assert completions(np.array([]), np.array([])).tolist() == []


def test_schedule_and_service_belong_together():
    with pytest.raises(ValueError, match="2 arrivals but 1 service"):
        completions(np.array([1.0, 2.0]), np.array([1.0]))


def test_a_rate_is_positive():
    with pytest.raises(ValueError, match="positive"):
        open_arrivals(np.array([1]), 0)


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), max_size=30))
def test_closed_form_is_the_recurrence(batches: list[tuple[int, int]]):
    arrival = np.cumsum([float(gap) for gap, _ in batches])
    service = np.array([float(cost) for _, cost in batches])
    done, previous = [], 0.0
    for due, cost in zip(arrival, service, strict=True):
        previous = max(due, previous) + cost
        done.append(previous)
    assert completions(arrival, service).tolist() == pytest.approx(done)
