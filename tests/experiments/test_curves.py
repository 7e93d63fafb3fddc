"""What the records of a point say, where a cell was repeated or cut off."""

from math import inf

from cepbench.experiments.verdicts.curves import curve
from cepbench.experiments.verdicts.numbers import ANYTHING, Number, exactly
from cepbench.metrics.record import Status
from tests.experiments.records import record

RUNS = {"service_total": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]}


def number(metric: str, *records) -> Number:
    [(_, found)] = curve("a", metric, records, "x").values()
    return found


def test_one_cell_has_the_interval_of_its_runs() -> None:
    cell = record("a", {"x": 1}, runs=RUNS, service_total=5.0)
    assert number("service_total", cell) == Number(5.0, 5.0, 2.0, 8.0)
    assert number("latency_max", record("a", {"x": 1}, runs=RUNS, latency_max=5.0)) == exactly(5.0)


def test_several_cells_count_once_each() -> None:
    cells = [record("a", {"x": 1}, repetition=n, runs=RUNS, service_total=5.0 + n) for n in (1, 2, 3)]
    assert number("service_total", *cells) == Number(7.0, 7.0, 6.0, 8.0)


def test_a_search_that_fell_back_stays_a_bound() -> None:
    runs = {"plan_seconds": [1.0, 2.0, 3.0]}
    cell = record("a", {"x": 1}, runs=runs, plan_seconds=2.0, details={"fell_back": 1.0})
    assert number("plan_seconds", cell) == Number(2.0, inf, 2.0, inf)


def test_time_per_window_of_a_cell_that_was_cut_off() -> None:
    late = record("a", {"x": 1}, Status.TIMEOUT, limit=12.0)
    other = record("b", {"x": 1}, service_per_window=1.0)
    assert other.realised is not None
    windows = other.model_copy(update={"realised": other.realised.model_copy(update={"windows": 4})})
    [(_, found)] = curve("a", "service_per_window", [late, windows], "x").values()
    assert found == Number(3.0, inf, 3.0, inf)


def test_planning_that_did_not_end_bounds_its_own_time_only() -> None:
    late = record("a", {"x": 1}, Status.TIMEOUT, limit=12.0, plan_limit=7.0)
    cells = [late, record("b", {"x": 1}, service_total=1.0)]
    said = {
        metric: next(iter(curve("a", metric, cells, "x").values()))[1]
        for metric in ("plan_seconds", "service_total", "service_per_window", "throughput", "latency_max")
    }
    assert said.pop("plan_seconds") == Number(7.0, inf, 7.0, inf)
    assert set(said.values()) == {ANYTHING}
