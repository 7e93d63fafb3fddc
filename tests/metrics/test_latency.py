import numpy as np

from cepbench.metrics.clock import completions, open_arrivals
from cepbench.metrics.latency import at_rate, of_rows, pooled, row_latency


def test_percentiles_are_those_of_all_samples_together():
    latency = pooled([[1.0] * 99, [100.0]])
    assert latency is not None
    assert (latency.p50, latency.max, latency.mean) == (1.0, 100.0, 1.99)
    assert latency.p95 == 1.0
    # The mean of the percentiles of each worker would be 50.5.
    assert latency.p99 < 3


def test_known_percentiles():
    latency = pooled([[float(i) for i in range(101)]])
    assert latency is not None
    assert (latency.p50, latency.p95, latency.p99, latency.max, latency.mean) == (50.0, 95.0, 99.0, 100.0, 50.0)


def test_nothing_was_measured():
    assert pooled([]) is None
    assert pooled([[], []]) is None


def test_latency_is_completion_less_arrival():
    assert row_latency(np.array([5.0, 6.0]), np.array([4.0, 6.0])).tolist() == [1.0, 0.0]


def test_a_row_that_is_done_before_the_last_event_of_its_window_is_not_early():
    assert row_latency(np.array([5.0, 5.0]), np.array([5.5, 4.5])).tolist() == [0.0, 0.5]


def test_a_row_in_parts_is_as_late_as_its_last_part() -> None:
    latency, rows = np.array([3.0, 1.0, 2.0, 5.0, 4.0]), np.array([9, 7, 9, 7, 2**64 - 1], np.uint64)
    assert of_rows(latency, rows).tolist() == [5.0, 3.0, 4.0]
    assert of_rows(np.empty(0), np.empty(0, np.uint64)).tolist() == []


def test_latency_at_another_rate_is_that_of_a_run_at_it() -> None:
    # Three batches of ten events and 2 s each; two rows come with the second and one with the third.
    last, service, answers = np.array([9, 19, 29]), np.array([2.0, 2.0, 2.0]), np.array([0, 2, 1])
    positions = np.array([4, 17, 24])  # of the last events of the windows

    def measured(rate: float) -> list[float]:
        done = completions(open_arrivals(last, rate), service)
        return row_latency(done[[1, 1, 2]], open_arrivals(positions, rate)).tolist()

    latency = at_rate(last, service, answers, open_arrivals(positions, 100.0), 100.0 / 4.0, 4.0)
    assert latency.tolist() == measured(4.0) != measured(100.0)
