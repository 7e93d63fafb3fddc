"""Which cells are measured anew, and which measurement counts."""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from cepbench.experiments import slow_phases as module
from cepbench.experiments.slow_phases import SHARE, TIMES, Budget, Paces, better, measure_anew
from cepbench.metrics.load import SLOW
from cepbench.metrics.record import Load, Record, Status
from tests.experiments.records import record

BEST = 2e-5


def measured(
    name: str = "a", slowed: float | None = 1.0, *, x: int = 1, seconds: float = 1.0, status: Status = Status.OK
) -> Record:
    load = None if slowed is None else Load(pace=slowed * BEST, slowed=slowed)
    return record(name, {"x": x}, status, seconds=seconds).model_copy(update={"load": load})


def known() -> Paces:
    paces = Paces()
    paces.saw([measured()])
    return paces


def test_a_slow_phase_shows_beside_a_fast_one() -> None:
    paces = Paces()
    first = measured().model_copy(update={"load": Load(waited=0.01, pace=3e-5)})
    paces.saw([first])
    assert paces.judged(first).load == Load(waited=0.01, pace=3e-5, slowed=1.0)
    paces.saw([measured("b")])
    again = paces.judged(first)
    assert again.load is not None
    assert again.load.slowed == pytest.approx(1.5)
    assert again.notices == ("noisy: the machine was 1.5 times slower than at its best",)
    assert again.model_copy(update={"load": first.load, "notices": ()}) == first


def test_paces_are_those_of_the_same_hosts() -> None:
    elsewhere = measured(slowed=2.0).model_copy(update={"hosts": ("another",)})
    paces = known()
    paces.saw([elsewhere])
    judged = paces.judged(elsewhere)
    assert judged.load is not None
    assert judged.load.slowed == 1.0


def test_who_was_not_watched_stays_as_it_is() -> None:
    for load in (None, Load(waited=0.3)):
        unknown = measured().model_copy(update={"load": load})
        assert known().judged(unknown) == unknown


class Machine:
    """Measures cells anew in the given seconds, in turn at these slow-downs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, records: list[Record], slowed: Iterator[float]) -> None:
        self.records = {record.cell: record for record in records}
        self.ran: list[str] = []
        self.now = 0.0
        self._slowed, self._first = slowed, dict(self.records)
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: self.now))

    def run(self, name: str) -> Record:
        first = self._first[name]
        self.ran.append(first.algorithm)
        self.now += first.seconds
        slowed = next(self._slowed)
        return first.model_copy(update={"load": Load(pace=slowed * BEST)})

    def replace(self, record: Record) -> None:
        self.records[record.cell] = record

    def measure_anew(self, seconds: float) -> list[str]:
        budget = Budget()
        budget.took(seconds / SHARE)
        measure_anew(list(self.records), self.records, budget, self.run, self.replace, known())
        return self.ran


def test_the_quickest_inputs_are_measured_anew_as_long_as_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [measured("long", 1.5, x=1, seconds=2.0), measured("short", 1.3, x=2), measured("quiet", SLOW, x=3)]
    assert Machine(monkeypatch, cells, iter([1.0, 1.0])).measure_anew(3.0) == ["short", "long"]
    assert Machine(monkeypatch, cells, iter([1.0])).measure_anew(2.9) == ["short"]
    assert Machine(monkeypatch, cells, iter([])).measure_anew(0.9) == []
    # What it really takes is spent.
    slower = Machine(monkeypatch, cells, iter([1.5] * 4))
    assert slower.measure_anew(5.9) == ["short", "long", "short", "short"]


def test_cells_on_the_same_input_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [measured("fast", 1.5, x=1, seconds=0.1), measured("slow", 1.5, x=1, seconds=2.0), measured("b", 1.5, x=2)]
    assert Machine(monkeypatch, cells, iter([1.0] * 3)).measure_anew(9.0) == ["b", "fast", "slow"]
    again = Machine(monkeypatch, cells, iter([1.0, 1.5, 1.0, 1.0]))
    assert again.measure_anew(9.0) == ["b", "fast", "slow", "fast"]
    assert Machine(monkeypatch, cells, iter([1.0])).measure_anew(3.0) == ["b"]


def test_a_cell_is_measured_anew_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, [measured(slowed=1.5)], iter([1.6, 1.4, 1.3, 1.0]))
    assert len(machine.measure_anew(99.0)) == TIMES == 3
    [kept] = machine.records.values()
    assert kept.load is not None
    assert (kept.load.pace, kept.load.slowed) == (1.3 * BEST, pytest.approx(1.3))
    assert kept.lost == (
        "measured anew while the machine was 1.60 times slower than at its best",
        "the machine was 1.50 times slower than at its best",
        "the machine was 1.40 times slower than at its best",
    )


def test_only_measurements_of_slow_phases_are_done_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [measured("a", None), measured("b", 1.5, status=Status.TIMEOUT), measured("c", 1.1)]
    assert Machine(monkeypatch, cells, iter([])).measure_anew(99.0) == []


def test_the_measurement_counts_that_was_slowed_less() -> None:
    slow, fast = measured(slowed=1.5, seconds=1.0), measured(slowed=1.2, seconds=9.0)
    kept = better(slow, fast)
    assert kept.model_copy(update={"lost": ()}) == fast
    assert kept.lost == ("the machine was 1.50 times slower than at its best",)
    kept = better(fast, slow)
    assert kept.model_copy(update={"lost": ()}) == fast
    assert kept.lost == ("measured anew while the machine was 1.50 times slower than at its best",)


@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.OUT_OF_MEMORY, Status.ERROR])
def test_a_failure_is_told(status: Status) -> None:
    slow = measured(slowed=1.5)
    kept = better(slow, measured(status=status).model_copy(update={"reason": "it is so"}))
    assert kept.model_copy(update={"lost": ()}) == slow
    assert kept.lost == (f"measured anew, it ended as {status.value}: it is so",)


def test_another_answer_is_never_hidden() -> None:
    slow, wrong = measured(slowed=1.5), measured(status=Status.WRONG)
    assert better(slow, wrong) is wrong
    other = better(slow, measured(slowed=1.6).model_copy(update={"digest": "other"}))
    assert (other.status, other.digest) == (Status.WRONG, None)  # so that no majority makes it right again
    assert other.reason == "two measurements on the same events gave different answers"
