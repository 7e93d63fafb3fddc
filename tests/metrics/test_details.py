"""Numbers that several workers report of their work."""

from cepbench.metrics.details import merged


def test_peaks_of_two_workers_are_compared_and_all_else_is_added() -> None:
    first = {"updates": 3, "search_bytes_peak": 70, "search_seconds": 0.5, "nodes_peak": 2}
    second = {"updates": 4, "search_bytes_peak": 50, "search_seconds": 0.25, "nodes_peak": 9, "merges": 1}
    expected = {"updates": 7, "search_bytes_peak": 70, "search_seconds": 0.75, "nodes_peak": 9, "merges": 1}
    assert merged([first, second]) == merged([second, first]) == expected


def test_means_are_weighted() -> None:
    first = {"delay_mean": 2.0, "delay_count": 30, "delay_max": 5.0}
    second = {"delay_mean": 6.0, "delay_count": 10, "delay_max": 4.0}
    assert merged([first, second, {"steps": 3}]) == {
        "delay_mean": 3.0, "delay_count": 40, "delay_max": 5.0, "steps": 3,
    }  # fmt: skip
    assert merged([first]) == first
    assert merged([merged([first]), second]) == merged([first, second])


def test_one_worker_and_none() -> None:
    assert merged([{"updates": 3, "nodes_peak": 2}]) == {"updates": 3.0, "nodes_peak": 2.0}
    assert merged([]) == {}
