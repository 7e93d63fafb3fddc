"""Recommends an algorithm for queries and events, from short trials on growing prefixes of the stream."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, log10
from pathlib import Path

import numpy as np
import pandas as pd

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.registry import chosen
from cepbench.events.batch import EventBatch
from cepbench.events.errors import InputError
from cepbench.events.reading import Reading, reading_of
from cepbench.events.statistics import Statistics
from cepbench.experiments.bench import MEMORY, check_memory, check_seconds, divided
from cepbench.experiments.digests import majority
from cepbench.experiments.growth import Prediction, predicted
from cepbench.metrics.advice import Advice, Candidate
from cepbench.metrics.ranking import APART
from cepbench.metrics.status import Status
from cepbench.pipeline.arrivals import intervals
from cepbench.pipeline.in_process import whole_stream
from cepbench.pipeline.keys import key_codes
from cepbench.pipeline.measured_task import burst_window
from cepbench.pipeline.occupancy import occupancy
from cepbench.pipeline.plain import check_compiled
from cepbench.pipeline.trial import NOT_TRIED, Prefix, Trial, counted, tried
from cepbench.queries.compile import CompiledQuery, Workload, compile_workload
from cepbench.queries.model import Query
from cepbench.queries.workloads import parse_workload

BUDGET = 60.0
LEAST_SHARE = 0.1
"""The least seconds for which a trial is started."""
SMALLEST = 64
"""Events of the first prefix; each prefix has twice as many as the one before."""
COUNTING = 0.1
"""The share of the budget that counting may take."""
KEPT_BACK = 0.05
"""The share of the budget that is reserved for the work after the trials."""
POWERS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
GENTLE = ("met^0.5", "met^1", "met^2")
"""Features of the time of algorithms that construct no matches: it is at most quadratic in the events of a window."""
MIDDLE = 0.15
"""The quantile of a predicted time among the models that fit about as well (`experiments.growth`). While windows fill,
most models fit; many of them grow steeply, but few algorithms do."""
PROFILES = 8
"""The most queries whose features are computed; queries with equal partition, window and pattern count once."""
EXPLOSION = 1e9
"""Matches in a window from which on a warning is given."""


@dataclass(frozen=True, eq=False)
class _Features:
    """Features that times and states may grow with: by name, a value for each prefix.

    `bursts`: the number of intervals with events, each of which has a fixed cost; None without time windows.
    """

    sizes: tuple[int, ...]
    times: Mapping[str, Sequence[float]]
    states: Mapping[str, Sequence[float]]
    bursts: Sequence[float] | None = None


def advise(
    workload_text: str,
    events: str | Path | pd.DataFrame,
    algorithms: str | Iterable[str] = "all",
    *,
    budget: float = BUDGET,
    memory: int = MEMORY,
    reading: Reading | str = "s",
    where: str | None = None,
    notify: Callable[[str], None] = warnings.warn,
    finished: Callable[[Candidate], None] = lambda candidate: None,
) -> Advice:
    """Recommends an algorithm for queries and events, after a short trial of each that can evaluate them.

    Each trial runs on prefixes of the stream, each twice as long as the one before, in a process that is killed at its
    share of `budget`. Time and state of the whole stream are predicted from their growth, with an interval
    (docs/advise.md). Where possible, matches are counted without constructing them, to warn of an explosion before it
    happens.

    Parameters
    ----------
    workload_text, events, reading, where, notify
        As in `evaluate`.
    algorithms, memory
        As in `bench`.
    budget
        Seconds of all trials together, without the compilation of kernels.
    finished
        Called with each candidate after its trial.

    Returns
    -------
    Advice
        The recommended algorithm with the reason, the number of matches, warnings, and all candidates.

    Raises
    ------
    CepbenchError
        If queries, events, a name or a limit cannot be used, before anything runs.
    UnsupportedQuery
        If no algorithm can evaluate the queries, with all reasons.

    Examples
    --------
    >>> import pandas as pd
    >>> from cepbench import advise
    >>> events = pd.DataFrame({"time": [1, 2, 3], "type": ["A", "B", "B"]})
    >>> advice = advise("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 s", events, "cogra", budget=5)
    >>> advice.recommended, advice.matches
    ('cogra', 2.0)
    """
    check_compiled()
    check_seconds("budget", budget)
    check_memory(memory)
    queries = parse_workload(workload_text)
    able, refused = divided(queries, chosen(algorithms))
    schema, batch, statistics, needs = whole_stream(events, queries, reading_of(reading, where), notify)
    workload = compile_workload(queries, schema, "modular", summarised=True)
    needs(workload.needs)
    if len(batch) == 0:
        raise InputError("there are no events to try algorithms on")
    began = time.monotonic()
    sizes = _sizes(batch)
    features = _features(batch, workload, sizes)
    watch = _Budget(began, budget * (1 - KEPT_BACK))
    counts = _counted(queries, batch, statistics, sizes, memory, watch, budget)
    trials: dict[str, Trial] = {}
    tested: list[Candidate] = []
    order = sorted(able, key=lambda name: (able[name].enumerates, able[name].starts))
    for name, trial in _each(
        order, watch, lambda name, share: tried(workload, able[name], statistics, batch, sizes, share, memory)
    ):
        trials[name] = trial
        tested.append(_candidate(name, able[name], trials[name], features, counts, memory))
        finished(tested[-1])
    tested = _checked(tested, trials)
    tested.sort(key=lambda entry: (entry.status is not Status.OK, entry.seconds is None, entry.seconds or 0.0))
    candidates = (*tested, *(Candidate(name, Status.UNSUPPORTED, reason) for name, reason in refused.items()))
    matches, most = _matches(counts, trials, features)
    recommended, because = _recommended(candidates, memory)
    return Advice(
        len(batch), len(queries), budget, watch.spent(),
        None if matches is None else matches.value,
        None if matches is None else matches.low,
        None if matches is None else matches.high,
        most, recommended, because, tuple(_warnings(candidates, able, most, matches)), candidates,
    )  # fmt: skip


_SKIPPED = Trial(None, NOT_TRIED, ())


def _each(names: Sequence[str], watch: _Budget, run: Callable[[str, float], Trial]) -> Iterator[tuple[str, Trial]]:
    """The trial of each algorithm, with its share of the remaining budget; skipped if that is too little."""
    for number, name in enumerate(names):
        share = watch.share(len(names) - number)
        trial = run(name, share) if share > 0 else _SKIPPED
        watch.ended(trial, share)
        yield name, trial


class _Budget:
    """The remaining seconds for trials; compilation of kernels does not count.

    A trial needs more time than loading its kernels took in earlier ones. A small budget therefore tries few algorithms
    for long enough instead of all of them for too short a time.
    """

    def __init__(self, began: float, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._began, self._until, self._clock, self._least = began, began + seconds, clock, LEAST_SHARE

    def spent(self) -> float:
        """Seconds since the start, without compilation."""
        return self._clock() - self._began

    def left(self) -> float:
        return max(0.0, self._until - self._clock())

    def share(self, waiting: int) -> float:
        """Seconds for the next of the `waiting` trials; 0 if too little is left for one."""
        left = self.left()
        return 0.0 if left < LEAST_SHARE else left / max(1, min(waiting, int(left / self._least)))

    def ended(self, trial: Trial, share: float) -> None:
        """Accounts for a finished trial; the time that it spent on compilation is given back."""
        if trial.compiled:
            self._began += trial.setup_seconds
            self._until += trial.setup_seconds
        elif trial.status is None:
            self._least = max(self._least, 2 * share)
        else:
            self._least = max(self._least, 1.5 * trial.setup_seconds)


def _sizes(batch: EventBatch) -> tuple[int, ...]:
    """Sizes of the prefixes. Each contains all events of its last time stamp; the last one is the whole stream."""
    sizes = []
    size = SMALLEST
    while size < len(batch):
        sizes.append(int(np.searchsorted(batch.time, batch.time[size - 1], "right")))
        size = 2 * max(size, sizes[-1] // 2)
    return tuple(dict.fromkeys([*(size for size in sizes if size < len(batch) * 0.75), len(batch)]))


def _features(batch: EventBatch, workload: Workload, sizes: Sequence[int]) -> _Features:
    """Sums over queries that differ in partition, window or pattern, of at most `PROFILES` of them."""
    profiles: dict[object, CompiledQuery] = {}
    for query in workload:
        profiles.setdefault((query.partition, query.window, str(query.query.pattern)), query)
    at = np.array(sizes, np.int64) - 1
    times = {f"met^{power:g}": np.zeros(len(sizes)) for power in POWERS}
    states = {name: np.zeros(len(sizes)) for name in ("live", "live^2", "live^3", "keys")}
    for query in list(profiles.values())[:PROFILES] if len(batch) else ():
        met = occupancy(batch, query)
        for power in POWERS:
            times[f"met^{power:g}"] += np.cumsum(met**power)[at]
        live = np.maximum.accumulate(occupancy(batch, query, by_key=False))[at]
        for power, name in enumerate(("live", "live^2", "live^3"), start=1):
            states[name] += live**power
        states["keys"] += np.maximum.accumulate(key_codes(batch, query.partition)[0])[at] + 1
    bursts = intervals(batch.time, [burst_window(query) for query in workload])
    counts = None if bursts is None else bursts[at].tolist()
    known_times, known_states = ({n: v.tolist() for n, v in group.items()} for group in (times, states))
    return _Features(tuple(sizes), known_times, known_states, counts)


def _counted(
    queries: Sequence[Query], batch: EventBatch, statistics: Statistics, sizes: Sequence[int], memory: int,
    watch: _Budget, budget: float,
) -> Trial | None:  # fmt: skip
    """The trial that counts the matches of the prefixes, if there is time for it and an algorithm can."""
    share = min(COUNTING * budget, watch.left())
    if share < LEAST_SHARE:
        return None
    trial = counted(queries, batch, statistics, sizes, share, memory)
    if trial is not None:
        watch.ended(trial, share)
    return trial


def _candidate(
    name: str, algorithm: Algorithm, trial: Trial, features: _Features, counted: Trial | None, memory: int
) -> Candidate:
    prefixes = trial.prefixes
    if not prefixes:
        ended = Status.ERROR if trial.status is Status.OK else trial.status
        reason = trial.reason or "no event was tried"
        return Candidate(name, ended, reason, setup_seconds=trial.setup_seconds, plan_seconds=trial.plan_seconds)
    seconds = time_prediction(prefixes, features, counted, algorithm.enumerates)
    state = _state_prediction(prefixes, features, counted if algorithm.enumerates else None)
    status: Status = Status.OK
    reason = ""
    if trial.status in (Status.ERROR, Status.OUT_OF_MEMORY):
        status, reason = trial.status, f"after {prefixes[-1].events} events: {trial.reason}"
    return Candidate(
        name,
        status,
        reason,
        tried=prefixes[-1].events,
        measured=seconds.measured,
        seconds=seconds.value,
        seconds_low=None if seconds.measured else seconds.low,
        seconds_high=None if seconds.measured else seconds.high,
        state=None if state is None else state.value,
        state_low=None if state is None else state.low,
        state_high=None if state is None else state.high,
        curve=tuple((prefix.events, prefix.seconds) for prefix in prefixes),
        setup_seconds=trial.setup_seconds,
        plan_seconds=trial.plan_seconds,
        floor=prefixes[-1].floor,
    )


def time_prediction(
    prefixes: Sequence[Prefix], features: _Features, counted: Trial | None, enumerates: bool
) -> Prediction:
    """Seconds of the whole stream. Models also have a fixed cost, and a cost per burst."""
    values, last = [prefix.seconds for prefix in prefixes], prefixes[-1]
    if last.events == features.sizes[-1]:
        return Prediction(last.seconds, last.low, last.high, measured=True)
    grown = _at(prefixes, features, features.times)
    if not enumerates:
        grown = {name: grown[name] for name in GENTLE}
    elif (counts := _counts(prefixes, features, counted, "matches")) is not None:
        grown["matches"] = counts
    base = [*(float(prefix.events) for prefix in prefixes), float(features.sizes[-1])]
    bases: list[list[Sequence[float]]] = [[base]]
    if features.bursts is not None:
        bursts = _at(prefixes, features, {"bursts": features.bursts})["bursts"]
        bases += [[bursts], [base, bursts]]
    fixed = [1.0] * len(base)
    bases += [[fixed, *columns] for columns in bases]
    return predicted(values, grown, base, bases[1:], MIDDLE)


def _state_prediction(prefixes: Sequence[Prefix], features: _Features, counted: Trial | None) -> Prediction | None:
    """Peak of the state of the whole stream, from the prefixes on which it was measured."""
    measured = [prefix for prefix in prefixes if prefix.state is not None]
    if not measured:
        return None
    values = [float(prefix.state or 0) for prefix in measured]
    if measured[-1].events == features.sizes[-1]:
        return Prediction(values[-1], values[-1], values[-1], measured=True)
    grown = _at(measured, features, features.states)
    if (counts := _counts(measured, features, counted, "most")) is not None:
        grown["most"] = counts
    return predicted(values, grown, [1.0] * (len(measured) + 1))


def _at(
    prefixes: Sequence[Prefix], features: _Features, wanted: Mapping[str, Sequence[float]]
) -> dict[str, Sequence[float]]:
    places = [features.sizes.index(prefix.events) for prefix in prefixes]
    return {name: [*(values[place] for place in places), values[-1]] for name, values in wanted.items()}


def _counts(
    prefixes: Sequence[Prefix], features: _Features, counted: Trial | None, name: str
) -> Sequence[float] | None:
    """Matches of these prefixes and of the whole stream; None unless all of these prefixes were counted."""
    if counted is None or len(counted.prefixes) < len(prefixes):
        return None
    whole = counted.prefixes[-1].events == features.sizes[-1]
    values = [getattr(prefix, name) for prefix in counted.prefixes]
    if whole or name == "most":
        end = values[-1]
    elif not isfinite(values[-1]):
        end = float("inf")
    else:
        end = _count_prediction(counted.prefixes, features).value
    return [*values[: len(prefixes)], end]


def _count_prediction(prefixes: Sequence[Prefix], features: _Features) -> Prediction:
    values = [prefix.matches for prefix in prefixes]
    if prefixes[-1].events == features.sizes[-1] or not isfinite(values[-1]):
        return Prediction(values[-1], values[-1], values[-1], measured=True)
    base = [*(float(prefix.events) for prefix in prefixes), float(features.sizes[-1])]
    return predicted(values, _at(prefixes, features, features.times), base)


def _matches(
    counted: Trial | None, trials: Mapping[str, Trial], features: _Features
) -> tuple[Prediction | None, float | None]:
    """Matches of the whole stream, and the most in a row, from the trial that reached the longest prefix."""
    counts = [trial.prefixes for trial in (counted, *trials.values()) if trial is not None and trial.prefixes]
    if not counts:
        return None, None
    furthest = max(counts, key=lambda prefixes: prefixes[-1].events)
    return _count_prediction(furthest, features), furthest[-1].most


def _checked(candidates: Sequence[Candidate], trials: Mapping[str, Trial]) -> list[Candidate]:
    """The candidates; those whose answer on some prefix differs from that of the majority become wrong.

    A wrong candidate has no vote on later prefixes, which few algorithms reach. Without a majority, all are wrong.
    """
    answers: dict[int, dict[str, str]] = {}
    for name, trial in trials.items():
        for prefix in trial.prefixes:
            answers.setdefault(prefix.events, {})[name] = prefix.digest
    wrong: dict[str, str] = {}
    for size in sorted(answers):
        digests = {name: digest for name, digest in answers[size].items() if name not in wrong}
        right = majority([*digests.values()], len(digests))
        if right is None:
            reason = f"on the first {size} events answers differ, and no majority says which is right"
        else:
            reason = f"its answer on the first {size} events is not that of the majority"
        wrong |= {name: reason for name, digest in digests.items() if digest != right}
    return [
        replace(entry, status=Status.WRONG, reason=wrong[entry.algorithm]) if entry.algorithm in wrong else entry
        for entry in candidates
    ]


def _recommended(candidates: Sequence[Candidate], memory: int) -> tuple[str | None, str]:
    tried = [candidate for candidate in candidates if candidate.status is not Status.UNSUPPORTED]
    well = [candidate for candidate in tried if candidate.status is Status.OK and candidate.seconds is not None]
    usable = [entry for entry in well if isfinite(entry.seconds or 0.0) and (entry.state or 0) <= memory]
    if not usable:
        ended = {candidate.algorithm: candidate.ended for candidate in tried}
        ended |= {candidate.algorithm: "would not finish, or needs more memory than its limit" for candidate in well}
        return None, "; ".join(f"{name}: {how}" for name, how in ended.items())
    best = min(usable, key=_at_worst)  # the prediction of a short trial may be far too low
    assert best.seconds is not None
    if best.measured:
        reason = f"the shortest time in the worst case, {best.seconds:.3g} s (measured)"
    else:
        reason = f"the shortest time in the worst case, {_at_worst(best):.3g} s ({best.seconds:.3g} s predicted)"
    others = [candidate for candidate in usable if candidate is not best]
    if others:
        second = min(others, key=_at_worst)
        reason += f"; next is {second.algorithm} with {_at_worst(second):.3g} s"
        near = [entry for entry in sorted(others, key=_at_worst) if _at_best(entry) <= APART * _at_worst(best)]
        alike = [entry.algorithm for entry in near]
        reason += f"; not distinguishable from it: {', '.join(alike)}" if alike else ""
    return best.algorithm, reason


def _at_best(candidate: Candidate) -> float:
    """Seconds at the lower end of the interval."""
    return next(value for value in (candidate.seconds_low, candidate.seconds, inf) if value is not None)


def _at_worst(candidate: Candidate) -> float:
    """Seconds at the upper end of the interval."""
    return next(value for value in (candidate.seconds_high, candidate.seconds, inf) if value is not None)


def _warnings(
    candidates: Sequence[Candidate], able: Mapping[str, Algorithm], most: float | None, matches: Prediction | None
) -> Iterable[str]:
    if most is None or matches is None or max(most, matches.value) < EXPLOSION:
        return
    names = [entry.algorithm for entry in candidates if entry.algorithm in able and able[entry.algorithm].enumerates]
    if names:
        inside = "more than 10^19" if not isfinite(most) else f"about 10^{round(log10(max(1.0, most)))}"
        yield f"{', '.join(names)} would construct {inside} trends in a window"
