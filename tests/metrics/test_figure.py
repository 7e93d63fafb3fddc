import pytest
from pydantic import ValidationError

from cepbench.metrics.figure import Panel, PanelPart

PHASES = (
    {"metric": "details.graph_seconds", "label": "graph"},
    {"metric": "details.search_seconds", "label": "search"},
)


def test_the_metric_of_a_stack_is_that_of_its_first_part():
    panel = Panel.model_validate({"label": "Time", "unit": "s", "kind": "bars", "parts": PHASES})
    assert (panel.metric, panel.scale) == ("details.graph_seconds", "linear")
    assert panel.parts == tuple(PanelPart(**phase) for phase in PHASES)
    assert Panel.model_validate_json(panel.model_dump_json()) == panel
    assert Panel(label="Time", kind="bars", parts=panel.parts, metric="plan_seconds").metric == "plan_seconds"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Field required"),
        ({"metric": "speed"}, "unknown metric 'speed'"),
        ({"kind": "bars", "parts": [{"metric": "speed", "label": "x"}]}, "unknown metric 'speed'"),
        ({"parts": PHASES}, "parts: only bars have parts; give kind: bars"),
        (
            {"kind": "bars", "parts": [*PHASES, {"metric": "details.graph_bytes_peak", "label": "x"}]},
            "parts: details.graph_bytes_peak and details.graph_seconds are measured in different runs",
        ),
        ({"kind": "bars", "parts": [{"label": "x"}]}, "Input should be a valid string"),
        ({"kind": "bars", "parts": ["x"]}, "valid dictionary"),
        ({"kind": "bars", "parts": PHASES, "scale": "log"}, "the height of a part means nothing; leave out scale: log"),
        ({"kind": "pie", "metric": "throughput"}, "Input should be 'lines', 'bars' or 'heat'"),
    ],
)
def test_mistakes(fields, message):
    with pytest.raises(ValidationError) as caught:
        Panel.model_validate({"label": "Time", **fields})
    assert message in str(caught.value)
