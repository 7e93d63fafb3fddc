import pytest

from cepbench.metrics.values import unit


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("latency_p50", "s"),
        ("service_total", "s"),
        ("plan_seconds", "s"),
        ("details.graph_seconds", "s"),
        ("state_peak", "B"),
        ("process_peak", "B"),
        ("details.search_bytes_peak", "B"),
        ("throughput", "events/s"),
        ("sustainable", "events/s"),
        ("details.updates", ""),
        ("state_kinds.events", ""),
        ("realised.rows", ""),
    ],
)
def test_units(metric, expected):
    assert unit(metric) == expected
