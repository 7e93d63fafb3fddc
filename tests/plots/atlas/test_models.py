"""Cost models against work and time, on plans whose order is known."""

from pathlib import Path

import pytest

from cepbench.metrics.record import Record
from cepbench.metrics.results import Results
from cepbench.plots.atlas.models import KINDS, Workload, answer, models_of
from tests.plots.conftest import ONE, make_figure, make_record

COSTS = [1.0, 2.0, 3.0, 4.0]


def results(seconds: list[float], rounds: int = 3, kind: str = "models") -> Results:
    def record(number: int) -> Record:
        runs = {
            "service_total": [time * (number + 1) for time in seconds],
            "details.model_cost": COSTS,
            "details.updates": [10.0, 20.0, 30.0, 40.0],
            "details.combinations": [1.0, 1.0, 1.0, 1.0],
        }
        return make_record("sharon", {"seed": 1, "model": "paper"}, round=number, runs=runs)

    figure = make_figure(experiment=f"atlas-{kind}-sharon", id=f"{kind} on sharon", panels=ONE, claims=())
    return Results(Path(), figure, tuple(map(record, range(1, rounds + 1))))


def test_a_workload_has_the_regret_and_the_order_of_its_model() -> None:
    shown = Workload((1.0, 2.0, 3.0), (5.0, 6.0, 7.0), (0.4, 0.2, 0.6))
    assert shown.regret == pytest.approx(2.0)
    assert shown.tau(shown.work) == pytest.approx(1.0)
    assert shown.tau(shown.seconds) == pytest.approx(1 / 3)
    assert shown.scatter == pytest.approx(0.4 / 0.1)
    alike = Workload((1.0, 1.0, 2.0), (1.0, 1.0, 1.0), (0.4, 0.2, 0.3))
    assert alike.tau(alike.work) is None
    assert alike.regret == pytest.approx(1.5)  # of the two plans that the model prefers


def test_times_are_medians_over_rounds() -> None:
    [model] = models_of([results([0.1, 0.2, 0.3, 0.4])], "atlas-models-")
    [shown] = model.workloads
    assert (model.title, shown.seconds, shown.work) == (
        "Sharon (the paper's)", pytest.approx((0.3, 0.6, 0.9, 1.2)), (11.0, 21.0, 31.0, 41.0),
    )  # fmt: skip
    assert model.kind == "right"


def test_the_page_says_which_model_orders_plans_as_their_times() -> None:
    right, wrong = answer([results([0.1, 0.2, 0.3, 0.4])]), answer([results([0.4, 0.3, 0.2, 0.1])])
    assert right is not None
    assert wrong is not None
    assert right.short == f"Sharon (the paper's): {KINDS['right']}."
    assert wrong.short == (
        f"Sharon (the paper's): {KINDS['wrong']}. Plans are ordered as by their counted work, though not as by their "
        "times: Sharon (the paper's) (tau 1 with work, -1 with time)."
    )
    assert wrong.rows[0][2:6] == ("1", "-1", "4", "4")
    assert [drawn.name for drawn in right.drawn] == ["cost-models-tau", "cost-models-regret"]


def test_work_is_counted_on_workloads_of_their_own() -> None:
    page = answer([results([0.4, 0.3, 0.2, 0.1]), results([0.1] * 4, rounds=1, kind="counts")])
    assert page is not None
    assert page.rows[0][1:5] == ("1, 1 counted", "1", "-1", "4")
