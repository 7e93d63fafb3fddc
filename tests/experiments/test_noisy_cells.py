"""Which cells are measured anew, and which measurement counts."""

import pytest

from cepbench.experiments.noisy_cells import MUCH, SHARE, TIMES, NoisyCells, Paces, better
from cepbench.metrics.load import NOISY, SLOW, lost
from cepbench.metrics.record import Load, Record, Status
from tests.experiments.records import record


def measured(
    name: str = "a", *, load: Load | None = None, seconds: float = 1.0, status: Status = Status.OK, digest: str = "same"
) -> Record:
    made = record(name, {"x": 1}, status, seconds=seconds, digest=digest, runs={"service_total": [1.0, 1.0]})
    return made.model_copy(update={"load": load})


def waited(share: float) -> Load:
    return Load(waited=share)


def test_a_slow_phase_shows_beside_a_fast_one() -> None:
    paces = Paces()
    first = paces.judged(measured(load=Load(waited=0.01, pace=3e-5)))
    assert first.load == Load(waited=0.01, pace=3e-5, slowed=1.0)
    assert first.notices == ()
    assert paces.judged(measured("b", load=Load(pace=2e-5))).load == Load(pace=2e-5, slowed=1.0)
    again = paces.judged(first)  # now that it is known how fast the machine can be
    assert again.load is not None
    assert again.load.slowed == pytest.approx(1.5)
    assert again.notices == ("noisy: the worker lost 33% of its time to other work on the machine",)
    assert again.model_copy(update={"load": None, "notices": ()}) == measured()


def test_paces_are_those_of_the_same_hosts() -> None:
    paces = Paces()
    paces.judged(measured(load=Load(pace=2e-5)))
    elsewhere = measured(load=Load(pace=4e-5)).model_copy(update={"hosts": ("another",)})
    judged = paces.judged(elsewhere)
    assert judged.load is not None
    assert judged.load.slowed == 1.0


def test_who_was_not_watched_stays_as_it_is() -> None:
    for load in (None, Load(waited=0.3)):
        assert Paces().judged(measured(load=load)) == measured(load=load)


def test_a_slow_phase_is_time_lost() -> None:
    assert lost(Load(slowed=2.0)) == 0.5
    assert lost(Load(slowed=2.0, waited=0.6)) == 0.6
    assert lost(Load(slowed=SLOW)) == 0.0  # the piece of work varies by that much
    assert 1 - 1 / SLOW > MUCH > NOISY


def test_the_shortest_noisy_cells_are_measured_anew_as_long_as_there_is_time() -> None:
    cells = NoisyCells()
    long, short, quiet = (
        measured("long", load=waited(0.5), seconds=2.0),
        measured("short", load=waited(0.3), seconds=1.0),
        measured("quiet", load=waited(MUCH), seconds=0.1),
    )
    assert cells.next([long, short, quiet]) is None  # nothing took any time yet
    cells.took(3.0 / SHARE)
    assert cells.next([long, short, quiet]) is short
    assert cells.next([long, quiet, measured("short", seconds=1.0)]) is long
    cells.took(0.9 / SHARE)
    assert cells.next([long, short]) is None
    cells.took(0.1 / SHARE)
    assert cells.next([long, short]) is short


def test_a_cell_is_measured_anew_a_few_times() -> None:
    cells = NoisyCells()
    cells.took(100.0 / SHARE)
    noisy = [measured("a", load=waited(0.5)), measured("b", load=waited(0.5), seconds=2.0)]
    asked = [found.algorithm for _ in range(2 * TIMES) if (found := cells.next(noisy)) is not None]
    assert asked == ["a", "b"] * TIMES
    assert cells.next(noisy) is None


def test_only_what_was_repeated_is_measured_anew() -> None:
    cells = NoisyCells()
    cells.took(100.0 / SHARE)
    once = measured(load=waited(0.5)).model_copy(update={"runs": {}})
    assert cells.next([once, measured(load=waited(0.5), status=Status.TIMEOUT)]) is None


def test_the_measurement_counts_that_lost_less() -> None:
    noisy, quiet = measured(load=waited(0.5), seconds=1.0), measured(load=waited(0.1), seconds=9.0)
    kept = better(noisy, quiet)
    assert kept.lost == ("it was noisy: 50% of its time was lost to other work",)
    assert kept.model_copy(update={"lost": ()}) == quiet
    assert better(quiet, noisy) is quiet
    assert better(noisy, measured(load=waited(0.5))) is noisy


@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.OUT_OF_MEMORY, Status.ERROR])
def test_what_ended_in_another_way_is_no_measurement(status: Status) -> None:
    noisy = measured(load=waited(0.5))
    assert better(noisy, measured(status=status)) is noisy


def test_another_answer_is_never_hidden() -> None:
    noisy = measured(load=waited(0.2))
    wrong = measured(status=Status.WRONG)
    assert better(noisy, wrong) is wrong
    other = better(noisy, measured(load=waited(0.5), digest="other"))
    assert (other.status, other.digest) == (Status.WRONG, None)  # so that no majority makes it right again
    assert other.reason == "two measurements on the same events gave different answers"
