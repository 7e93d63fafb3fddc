"""Maps of sharing, scaling, limits, disorder and sizes, on records whose answers are known."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cepbench.metrics.figure import Axis
from cepbench.metrics.record import Realised, Record, Samples, Summary
from cepbench.metrics.results import Results
from cepbench.metrics.status import Status
from cepbench.plots.atlas import breakeven, disorder, limits, scaling, sizing
from tests.plots.conftest import ONE, make_figure, make_record


def results(experiment: str, records: list[Record], **more: Any) -> Results:
    figure = make_figure(experiment=experiment, id="q", panels=ONE, claims=(), **more)
    return Results(Path(), figure, tuple(records))


def timed(name: str, point: dict[str, Any], seconds: float, **more: Any) -> Record:
    return make_record(name, point, summary=Summary(service_total=seconds, **more), memory="state_peak" in more)


def sharing_map() -> Results:
    """Sharing pays from 10 queries on at a share of 0.5, and nowhere at 0.1."""
    seconds = {(2, 0.1): 4.0, (10, 0.1): 4.0, (2, 0.5): 2.0, (10, 0.5): 0.5}
    records = []
    for (queries, share), shared in seconds.items():
        point = {"queries": queries, "share": share}
        records += [timed("cogra", point, 1.0), timed("hamlet[sharing=static]", point, shared)]
        records += [timed("hamlet", point, min(1.0, shared) * 1.1), timed("gloria", point, 3.0)]
    return results("atlas-pays-queries", records, x=Axis(name="queries", label="Queries"),
                   series=Axis(name="share", label="Share"))  # fmt: skip


def test_a_map_knows_where_sharing_pays_and_who_wins() -> None:
    [shown] = breakeven.maps_of([sharing_map()]).values()
    assert (shown.columns, shown.rows) == ([2, 10], [0.1, 0.5])
    assert shown.gain == pytest.approx(np.array([[0.25, 0.25], [0.5, 2.0]]))
    assert shown.winners == {"COGRA": 3, "shared": 1, "Hamlet": 0, "Gloria": 0, "equal": 0}
    assert breakeven.loss(shown) == pytest.approx(np.full((2, 2), 1.1))
    page = breakeven.answer([sharing_map()])
    assert page is not None
    assert "at 1 of 4 points over queries and share" in page.short
    assert page.drawn[0].sentence == (
        "For 1 of 2 values of share sharing pays up to the largest number of queries: from 10 on; for 1 it never pays."
    )
    advised = breakeven.answer([sharing_map()], [(0.01, 9.0), (0.05, 1.0), (0.06, 1.2)])
    assert advised is not None
    assert "takes 1 times the time of the fastest system at the median and 1.2 times at the 95th" in advised.short
    assert (
        "the most is 1.2) at the 2 of 3 points whose fastest system takes 50 ms or more, and 1.2 times" in advised.short
    )
    close = [r.model_copy(update={"algorithm": "gloria"}) for r in sharing_map().records if r.algorithm == "cogra"]
    without_gloria = [r for r in sharing_map().records if r.algorithm != "gloria"]
    [equal] = breakeven.maps_of([replace(sharing_map(), records=(*without_gloria, *close))]).values()
    assert equal.winners["equal"] == 3


def test_a_time_that_was_cut_off_decides_where_the_other_one_ended() -> None:
    whole = sharing_map()
    stopped = [
        r.model_copy(update={"status": Status.TIMEOUT, "summary": Summary()})
        if (r.algorithm, r.point["share"]) in {("cogra", 0.1), ("hamlet[sharing=static]", 0.5)}
        else r
        for r in whole.records
    ]
    [shown] = breakeven.maps_of([replace(whole, records=tuple(stopped))]).values()
    assert shown.pays.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    both = [r.model_copy(update={"status": Status.TIMEOUT, "summary": Summary()}) for r in whole.records]
    [unknown] = breakeven.maps_of([replace(whole, records=tuple(both))]).values()
    assert np.isnan(unknown.pays).all()
    assert breakeven.answer([replace(whole, records=tuple(both))]) is not None


def test_the_longest_worker_is_placed_first() -> None:
    assert scaling.longest_first([1.0, 1.0, 2.0], 2) == 2.0
    assert scaling.longest_first([3.0, 3.0, 2.0, 2.0, 2.0], 2) == 7.0
    assert scaling.longest_first([1.0, 2.0], 1) == 3.0


def test_a_simulation_is_compared_with_the_measurement() -> None:
    def record(slots: int, workers: list[float], elapsed: float, events: int = 1000) -> Record:
        samples = Samples(workers=[seconds / 2 for seconds in workers], starts=[seconds / 2 for seconds in workers])
        summary = Summary(elapsed=elapsed, plan_seconds=0.5)
        point = {"events": events, "skew": 0.8, "slots": slots}
        return make_record("cogra", point, samples=samples, summary=summary)

    records = [record(1, [1.0, 2.0, 3.0], 6.0), record(2, [1.2, 2.4, 3.6], 4.0)]
    [case] = scaling.cases_of(results("atlas-scaling-keys", records))
    assert (case.work, case.workers, case.slowed) == ("events 1 k, skew 0.8", (1.0, 2.0, 3.0), pytest.approx(1.2))
    assert scaling.difference(case, 2, 1.2) == pytest.approx((0.5 + 3.6) / 4.0 - 1)
    assert (case.planning, case.starting) == (0.5, pytest.approx(0.5))
    records.append(record(2, [2.0, 4.0, 6.0], 9.0, events=2000))
    assert scaling.weak(scaling.cases_of(results("atlas-scaling-keys", records))) == [pytest.approx(1.5)]
    page = scaling.answer([results("atlas-scaling-keys", records)])
    assert page is not None
    assert page.short.startswith(
        "On 2 slots the work is done 1.5 times as fast as on one; workers take 1.2 times as long if all slots are busy."
    )
    assert "differ by at most 2.5 %, in 1 of 1 cases by no more than 15 %" in page.short


def test_the_first_limit_is_that_of_the_smallest_size_at_which_it_is_reached() -> None:
    def record(size: int, status: Status = Status.OK, overflow: bool = False, memory: int = 0) -> Record:
        summary = Summary(service_total=1.0, process_peak=memory or size * 10_000) if status is Status.OK else Summary()
        point = {"window": size, "work": "trends"}
        return make_record("greta", point, status=status, summary=summary, memory=True, overflow=overflow)

    series = Axis(name="work", label="Work")
    records = [record(100), record(1000, overflow=True), record(10_000, Status.OUT_OF_MEMORY)]
    [course] = limits.courses_of(results("atlas-breaks-window", records, series=series))
    assert (course.ends, course.limit, course.at, course.overflows) == (1000, "memory", 10_000, (1000,))
    assert course.predicted == pytest.approx((4 << 30) / 10_000)
    assert course.first == "arithmetic"
    assert not course.foreseen  # 4 GB are more than a process has at the size at which it was stopped
    page = limits.answer([results("atlas-breaks-window", records, series=series)])
    assert page is not None
    assert page.short.startswith(
        "Of 1 pairs of a system and a kind of work, 0 are stopped by the limit of time (60 s, with 4.29 GB), 1 by"
    )
    wrong = [record(100), record(1000, Status.WRONG)]
    bad = limits.answer([results("atlas-breaks-window", wrong, series=series)])
    assert bad is not None
    assert bad.short.endswith("Wrong answers: 1; errors: none.")
    assert "and 0 end at all sizes" in bad.short
    [flat] = limits.courses_of(
        results("atlas-breaks-window", [record(100), record(1000, memory=10_000_000)], series=series)
    )
    assert flat.predicted == pytest.approx((4 << 30) / 10_000)
    [far] = limits.courses_of(
        results("atlas-breaks-window", [record(100), record(1000, memory=4_000_000)], series=series)
    )
    assert far.predicted is None  # it would lie beyond a thousand times the last size


def test_few_keys_may_be_what_stops_a_system() -> None:
    def record(keys: int, status: Status = Status.OK) -> Record:
        summary = Summary(service_total=1.0, process_peak=1000 * keys) if status is Status.OK else Summary()
        return make_record("greta", {"keys": keys, "work": "trends"}, status=status, summary=summary, memory=True)

    records = [record(1, Status.TIMEOUT), record(10, Status.TIMEOUT), record(100), record(1000)]
    few = results("atlas-breaks-keys", records, series=Axis(name="work", label="Work"))
    [course] = limits.courses_of(few)
    assert (course.least, course.ends, course.limit, course.at, course.beyond) == (100, 1000, "time", 10, False)
    assert limits.answer([few]) is not None
    none = results("atlas-breaks-keys", records[:1], series=Axis(name="work", label="Work"))
    assert limits.answer([none]) is not None  # of a system that never ended


def test_a_wait_keeps_matches_and_duplicates_add_some() -> None:
    def record(matches: float, **point: Any) -> Record:
        realised = Realised(events=300, windows=10, rows=10, substreams=1, rate=300.0, matches_per_window=matches)
        exact = {"work": "sequences", "late": 0.1, "delay": 1, "slack": 100, "duplicates": 0, "deduplicated": False}
        summary = Summary(state_peak=1000)
        return make_record("cogra", {**exact, **point}, realised=realised, summary=summary)

    records = [record(7.0, slack=0), record(9.95, slack=3), record(10.0)]
    records += [record(12.0, late=0, duplicates=0.1), record(10.0, late=0, duplicates=0.1, deduplicated=True)]
    [wait] = disorder.waits_of(records)
    assert wait.complete == pytest.approx({0.0: 0.7, 3.0: 0.995, 100.0: 1.0})
    assert wait.enough == 3.0
    lost = disorder.waits_of([*records, record(1.0, late=0.3, slack=3)])  # not the exact number of matches
    assert lost == [wait]
    [shown] = disorder.duplicates_of(records)
    assert shown.added == pytest.approx({0.1: 0.2})
    page = disorder.answer([results("atlas-disorder", records)])
    assert page is not None
    assert page.rows == (("sequences", "10 %", "1 s", "70 %", "3 s", "900"),)
    others = [r.model_copy(update={"algorithm": "core", "point": {**r.point, "work": "matches"}}) for r in records]
    both_works = disorder.answer([results("atlas-disorder", [*records, *others])])
    assert both_works is not None
    states = {line.get_label(): list(line.get_ydata()) for line in both_works.drawn[0].drawing.axes[1].lines}
    assert states["COGRA"] == states["CORE"] == [1000, 1000]  # each has one kind of work only
    assert page.drawn[0].sentence == (
        "99 % of the matches need a wait of 3 times the mean delay, of the waits tried; the events that wait then "
        "are 43.2 times the state of a system."  # 900 events of 48 bytes over 1,000 bytes
    )
    assert "At 0 of 0 points at which several systems ended" in page.measured
    greta = make_record("greta", records[0].point, realised=records[0].realised, group=records[0].group)
    wrong = greta.model_copy(update={"status": Status.WRONG})
    assert page.short.endswith(" not left out add matches: 20 % if they are 10 % of the events.")
    both = [record(13.0, duplicates=0.1), record(10.0, duplicates=0.1, deduplicated=True)]
    crossed = disorder.answer([results("atlas-disorder", [*records, *both])])
    assert crossed is not None
    assert crossed.short.endswith(" of the events, 30 % if they are 10 % and others are late.")
    assert crossed.rows == page.rows
    several = disorder.answer([results("atlas-disorder", [*records, greta, wrong])])
    assert several is not None
    assert (
        "At 1 of 1 points at which several systems ended, their answers are the same; wrong answers: 1."
        in several.measured
    )


def test_a_size_is_computed_from_the_limits() -> None:
    records = [
        timed(
            "cogra",
            {"work": "trends", "keys": keys},
            1.0,
            throughput_per_core=rate,
            state_peak=round(100 * sizing.Load(keys, 10**6).active),
            process_peak=round(300 * sizing.Load(keys, 10**6).active),
        )
        for keys, rate in ((1_000, 1e6), (1_000_000, 1e5))
    ]
    queries = [timed("cogra", {"closure": "flat", "queries": n}, 1.0, throughput_per_core=1e4 / n) for n in (1, 100)]
    [shown] = sizing.capacities_of([results("atlas-breaks-keys", records), results("atlas-breaks-queries", queries)])
    loads = [sizing.Load(keys, 10**6) for keys in (1_000, 5_000, 10**7, 1)]
    assert [shown.rate(load) for load in loads] == [1e6, 1e5, 1e5, None]
    # A thousand keys with ten events each in a window are like 100,000 keys in a window of a million.
    short = sizing.Load(1_000, 10_000)
    assert (short.like, shown.rate(short)) == (1e5, 1e5)
    assert (shown.state(short), shown.memory(short)) == pytest.approx((1e5, 6e5), rel=1e-3)
    assert shown.rate(sizing.Load(1_000, 10**6, 100)) == pytest.approx(1e4)
    assert (shown.cores(1e6, loads[2]), shown.cores(1e6, loads[3])) == (15, None)
    # Of ten million keys about a million have an event in a window of a million.
    assert (shown.state(loads[2]), shown.state(loads[3])) == (pytest.approx(0.95e8, rel=0.01), None)
    failed = make_record("cogra", {"work": "trends", "keys": 10**7}, status=Status.OUT_OF_MEMORY)
    [stopped] = sizing.capacities_of([results("atlas-breaks-keys", [*records, failed])])
    assert stopped.rate(loads[2]) is None
    page = sizing.answer([results("atlas-breaks-keys", records)])
    assert page is not None
    assert page.short == (
        "A million events per second on ten million keys, one query in windows of 1 M events, take 15 cores and "
        "95.2 MB of state with COGRA."
    )
