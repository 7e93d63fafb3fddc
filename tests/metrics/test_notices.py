from pathlib import Path

import pytest

from cepbench.metrics import load as module
from cepbench.metrics.load import SLOW, LoadWatch, lost, worst
from cepbench.metrics.notices import Notice, counted, noise, noisiest, notices_of
from cepbench.metrics.record import Load, Realised, Record
from tests.experiments.records import record

ANSWER = Realised(events=10, windows=1, rows=1, substreams=1)
NOTHING = Realised(events=10, windows=0, rows=0, substreams=1)


def test_what_is_worth_a_notice() -> None:
    assert notices_of(Load(waited=0.05, stolen=0.01), ANSWER) == {}
    assert notices_of(None, None) == {}
    assert list(notices_of(Load(waited=0.06), ANSWER)) == [Notice.NOISY]
    assert list(notices_of(Load(stolen=0.06), NOTHING)) == [Notice.NOISY, Notice.EMPTY]
    assert notices_of(Load(waited=0.234), ANSWER) == {
        Notice.NOISY: "noisy: the worker lost 23% of its time to other work on the machine"
    }


def test_a_slow_phase_is_time_lost() -> None:
    assert lost(Load(slowed=2.0)) == 0.5
    assert lost(Load(slowed=2.0, waited=0.6)) == 0.6
    assert lost(Load(slowed=SLOW)) == 0.0  # by which the piece of work varies anyway
    assert notices_of(Load(slowed=2.0, waited=0.4), ANSWER) == {
        Notice.NOISY: "noisy: the machine was 2.0 times slower than at its best"
    }
    assert noise(Load(slowed=2.0, waited=0.6)) == "the worker lost 60% of its time to other work on the machine"


def under(load: Load | None, rows: int = 1) -> Record:
    realised = ANSWER.model_copy(update={"rows": rows})
    return record("a", {"x": 1}).model_copy(update={"load": load, "realised": realised})


def test_notices_are_counted_and_the_worst_is_found() -> None:
    records = [under(Load(waited=0.1)), under(Load(stolen=0.3)), under(Load(waited=0.01), rows=0), under(None)]
    assert counted(records) == {Notice.NOISY: 2, Notice.EMPTY: 1}
    assert noisiest(records) is records[1]
    assert counted(records[3:]) == {}
    assert noisiest(records[2:]) is None


def test_who_was_not_to_answer_has_no_empty_answer() -> None:
    assert list(notices_of(Load(stolen=0.06), NOTHING, unanswered=True)) == [Notice.NOISY]
    assert counted([under(None, rows=0).model_copy(update={"unanswered": True}), under(None)]) == {}


def test_of_several_workers_the_worst_counts() -> None:
    assert worst([Load(average=1.0, waited=0.1), Load(average=0.5, waited=0.3)]) == Load(average=1.0, waited=0.3)
    assert worst([]) is None
    assert worst([Load()]) == Load()
    assert lost(Load(waited=0.1, stolen=0.2)) == 0.2


def test_a_watch_takes_shares_of_what_went_by(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    texts = {"/proc/self/schedstat": "100 50 7", "/proc/stat": "cpu  10 0 10 70 0 0 0 10 5 5\ncpu0 1"}
    for name in texts:
        (tmp_path / name.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(module, "Path", lambda name: tmp_path / name.lstrip("/"))

    def tell(**changed: str) -> None:
        for name, text in {**texts, **changed}.items():
            (tmp_path / name.lstrip("/")).write_text(text)

    tell()
    with LoadWatch() as watch:
        tell(**{"/proc/self/schedstat": "400 150 9", "/proc/stat": "cpu  30 0 20 110 0 0 0 40 9 9\ncpu0 1"})
    assert watch.load.waited == 0.25  # 100 of 400 ns
    assert watch.load.stolen == 0.3  # 30 of 100 ticks; what guests use is in the first ones already
    assert watch.load.average is not None
    with LoadWatch() as watch:
        pass
    assert (watch.load.waited, watch.load.stolen) == (None, None)


def test_a_system_that_does_not_tell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "Path", lambda name: tmp_path / "nothing")
    with LoadWatch() as watch:
        pass
    assert (watch.load.waited, watch.load.stolen) == (None, None)
