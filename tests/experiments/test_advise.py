"""`advise`: wrong algorithms, recommendations with their reasons, and allowed arguments."""

from dataclasses import replace
from math import inf, nan
from pathlib import Path

import pandas as pd
import pytest

from cepbench.algorithms.external.duckdb.algorithm import DuckDB
from cepbench.events.errors import CepbenchError
from cepbench.experiments.advise import (
    _SKIPPED,
    KEPT_BACK,
    LEAST_SHARE,
    _Budget,
    _checked,
    _each,
    _recommended,
    advise,
)
from cepbench.experiments.bench import bench
from cepbench.metrics.advice import Candidate
from cepbench.metrics.status import Status
from cepbench.pipeline.trial import NOT_TRIED, Prefix, Trial

QUERY = "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 s"
EVENTS = pd.DataFrame({"time": [1, 2, 3], "type": ["A", "B", "B"]})


def trial(*digests: str) -> Trial:
    """Answers on prefixes of 64, 128, ... events."""
    prefixes = [Prefix(64 * 2**n, 1.0, 0.9, 1.1, 1.0, 0.0, 0, 0.0, 0.0, digest) for n, digest in enumerate(digests)]
    return Trial(Status.OK, "", tuple(prefixes))


def judged(**trials: Trial) -> dict[str, str]:
    """The reasons of those that are wrong."""
    candidates = _checked([Candidate(name, Status.OK) for name in trials], trials)
    assert [candidate.algorithm for candidate in candidates] == list(trials)
    return {candidate.algorithm: candidate.reason for candidate in candidates if candidate.status is Status.WRONG}


def test_the_majority_is_right_and_who_lost_has_no_later_vote() -> None:
    reasons = judged(bad=trial("x", "x", "x"), cogra=trial("1", "2"), greta=trial("1"), sase=trial("1"))
    assert reasons == {"bad": "its answer on the first 64 events is not that of the majority"}


def test_a_later_mistake_is_found_too() -> None:
    reasons = judged(cogra=trial("1", "2"), greta=trial("1", "2"), bad=trial("1", "x"))
    assert reasons == {"bad": "its answer on the first 128 events is not that of the majority"}


def test_without_a_majority_all_are_wrong() -> None:
    reasons = judged(one=trial("1", "2"), other=trial("x", "2"))
    assert reasons == dict.fromkeys(
        ("one", "other"), "on the first 64 events answers differ, and no majority says which is right"
    )
    assert judged(one=trial("1"), other=trial("1")) == {}
    assert judged(alone=trial("1", "2")) == {}


SURE = Candidate("sure", Status.OK, tried=8, seconds=2.0, seconds_low=1.9, seconds_high=2.1, state=10)
GUESS = Candidate("guess", Status.OK, tried=8, seconds=1.0, seconds_low=0.5, seconds_high=9.0, state=10)


def test_the_shortest_time_at_worst_is_recommended() -> None:
    name, because = _recommended([GUESS, SURE], 100)
    assert name == "sure"
    assert because == (
        "the shortest time in the worst case, 2.1 s (2 s predicted); next is guess with 9 s; "
        "not distinguishable from it: guess"
    )
    assert _recommended([replace(SURE, measured=True), replace(GUESS, seconds_low=4.0)], 100) == (
        "sure", "the shortest time in the worst case, 2 s (measured); next is guess with 9 s",
    )  # fmt: skip


def test_without_a_recommendation_the_reason_is_how_each_ended() -> None:
    candidates = [
        replace(SURE, state=1000),
        replace(GUESS, seconds=inf),
        Candidate("lost", Status.WRONG, seconds=1.0),
        Candidate("late", Status.TIMEOUT),
        Candidate("never", Status.UNSUPPORTED),
    ]
    reason = "would not finish, or needs more memory than its limit"
    assert _recommended(candidates, 100) == (None, f"sure: {reason}; guess: {reason}; lost: wrong; late: timeout")


def test_infinite_numbers_are_not_unknown_ones() -> None:
    advice = advise(QUERY, EVENTS, "cogra", budget=5)
    as_dict = replace(advice, matches=inf, candidates=(replace(GUESS, seconds=inf, state=nan),)).as_dict()
    assert (as_dict["matches"], as_dict["candidates"][0]["seconds"], as_dict["candidates"][0]["state"]) == (
        "inf", "inf", None,
    )  # fmt: skip


@pytest.mark.parametrize("wrong", [{"budget": 0}, {"budget": -1}, {"budget": nan}, {"budget": "5s"}, {"memory": 10}])
def test_advise_refuses_what_is_no_limit(wrong: dict[str, float]) -> None:
    with pytest.raises(CepbenchError, match=f"{next(iter(wrong))}: expected a number"):
        advise(QUERY, EVENTS, "cogra", **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong", [{"seconds": inf}, {"seconds": 0}, {"repeat": nan}, {"memory": "4 GB"}, {"memory": 2**20}]
)
def test_bench_refuses_what_is_no_limit(wrong: dict[str, float]) -> None:
    with pytest.raises(CepbenchError, match=f"{next(iter(wrong))}: expected a number"):
        bench(QUERY, EVENTS, "cogra", **wrong)  # type: ignore[arg-type]


def test_little_memory_is_enough_for_little_work(tmp_path: Path) -> None:
    """The limit does not count the memory with which a process begins."""
    file = tmp_path / "events.csv"
    EVENTS.to_csv(file, index=False)
    assert advise(QUERY, file, "cogra", budget=30, memory=2**28).recommended == "cogra"
    [entry] = bench(QUERY, EVENTS, "cogra", repeat=0, memory=2**28).entries
    assert (entry.status, entry.rows) == (Status.OK, 1)


@pytest.mark.skipif(DuckDB.missing() is not None, reason=str(DuckDB.missing()))
def test_an_engine_is_a_candidate_where_it_is_installed() -> None:
    advice = advise(QUERY, EVENTS, ["cogra", "duckdb"], budget=60)
    assert {candidate.algorithm for candidate in advice.candidates if candidate.status is Status.OK} == {
        "cogra",
        "duckdb",
    }


def test_an_engine_that_is_not_installed_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DuckDB, "missing", classmethod(lambda kind: "DuckDB is not available: why"))
    advice = advise(QUERY, EVENTS, ["cogra", "duckdb"], budget=30)
    [duckdb] = [candidate for candidate in advice.candidates if candidate.algorithm == "duckdb"]
    assert duckdb.status is Status.UNSUPPORTED
    assert duckdb.reason.endswith("DuckDB is not available: why")
    assert advice.recommended == "cogra"


class Machine:
    """A clock that only trials move on."""

    def __init__(self) -> None:
        self.now = 100.0
        self.run = 0

    def trial(self, share: float, loads: float, runs: float, compiles: bool = False) -> Trial:
        """A trial that takes so long to load and to run, and is killed at its share, which takes a moment as well."""
        self.run += 1
        counted = 0.0 if compiles else loads
        self.now += min(counted + runs, share) + KILL + (loads if compiles else 0.0)
        if counted >= share:
            return Trial(None, NOT_TRIED, ())
        status = Status.OK if counted + runs <= share else Status.TIMEOUT
        return Trial(status, "", trial("x").prefixes, loads, 0.0, compiles)


KILL = 0.02
HOSTILE = {
    "all run for ever": [(0.3, inf, False)] * 12,
    "loading takes longer than the budget": [(90.0, 1.0, False)] * 12,
    "loading takes long": [(1.0, 0.1, False)] * 12,
    "all are compiled and run for ever": [(40.0, inf, True)] * 12,
    "all kinds": [(0.3, inf, False), (40.0, inf, True), (90.0, 1.0, False), (0.01, 0.01, False)] * 3,
    "nothing to do": [(0.001, 0.001, False)] * 12,
}


@pytest.mark.parametrize("budget", [0.05, 0.2, 0.5, 2.0, 10.0, 60.0])
@pytest.mark.parametrize("costs", HOSTILE.values(), ids=HOSTILE)
def test_the_budget_holds_whatever_trials_do(budget: float, costs: list[tuple[float, float, bool]]) -> None:
    machine = Machine()
    watch = _Budget(machine.now, budget * (1 - KEPT_BACK), lambda: machine.now)
    names = [str(number) for number in range(len(costs))]
    trials = dict(_each(names, watch, lambda name, share: machine.trial(share, *costs[int(name)])))
    assert list(trials) == names
    assert watch.spent() <= 1.2 * budget
    skipped = [skip for skip in trials.values() if skip is _SKIPPED]
    assert len(skipped) == len(costs) - machine.run
    assert {(skip.status, skip.reason) for skip in skipped} <= {(None, NOT_TRIED)}
    if max(loads + runs for loads, runs, _ in costs) < 0.01:
        assert len(skipped) == (0 if budget > 0.2 else len(costs) if budget < LEAST_SHARE else len(skipped))


def test_a_small_budget_tries_few_and_not_all_in_vain() -> None:
    machine = Machine()
    watch = _Budget(machine.now, 6.0, lambda: machine.now)
    trials = dict(_each(list("abcdefghijkl"), watch, lambda name, share: machine.trial(share, 1.0, inf)))
    assert sum(bool(tried.prefixes) for tried in trials.values()) >= 2


def test_what_was_not_tried_is_no_timeout() -> None:
    advice = advise(QUERY, EVENTS, "cogra, greta", budget=0.05)
    assert {(candidate.ended, candidate.status, candidate.reason) for candidate in advice.candidates} == {
        ("not tried", None, "not tried, the budget is too small")
    }
    assert (advice.recommended, advice.because) == (None, "cogra: not tried; greta: not tried")
    assert advice.frame()["status"].tolist() == ["not tried"] * 2
