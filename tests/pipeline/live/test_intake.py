"""Events leave in the order of time; which are late depends on the order of arrival alone."""

from random import Random

import numpy as np
import pytest

from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.pipeline.live.processor import Intake

SCHEMA = Schema(("A", "B"))


def batch(times: list[int], first: int = 0) -> EventBatch:
    """Events whose position is their place in the order of arrival."""
    n = len(times)
    return EventBatch(
        SCHEMA, np.array(times, np.int64), np.zeros(n, np.int32), {}, np.arange(first, first + n, dtype=np.int64)
    )


def run(times: list[int], delay: int, cuts: list[int]) -> tuple[list[int], list[int], Intake]:
    """Times that left, places of late events, and the intake at the end."""
    intake, left, late, numbers = Intake(delay, batch([])), list[int](), list[int](), list[int]()
    for start, stop in zip([0, *cuts], [*cuts, len(times)], strict=True):
        intake, leaving, places = intake.take(batch(times[start:stop], start))
        assert leaving.watermark == intake.watermark
        assert all(time <= intake.watermark for time in leaving.time)
        left += leaving.time.tolist()
        numbers += leaving.position.tolist()
        late += (places + start).tolist()
    intake, leaving = intake.close()
    assert [*numbers, *leaving.position.tolist()] == list(range(intake.left))
    return left + leaving.time.tolist(), late, intake


def test_an_event_is_late_if_the_watermark_has_passed_it() -> None:
    left, late, intake = run([5, 3, 9, 6, 7, 9, 20, 18, 17], 2, [2, 5])
    assert late == [3, 8]
    assert left == [3, 5, 7, 9, 9, 18, 20]
    assert (intake.arrived, intake.late, intake.left, intake.largest) == (9, 2, 7, 20)


@pytest.mark.parametrize("seed", range(40))
def test_cuts_change_nothing(seed: int) -> None:
    random = Random(seed)
    n, delay = random.randint(0, 30), random.choice((0, 1, 4))
    times = [max(0, number // 2 + random.randint(-5, 1)) for number in range(n)]
    whole = run(times, delay, [])[:2]
    cuts = sorted(random.choices(range(n + 1), k=random.randint(1, 8)))
    assert run(times, delay, cuts)[:2] == whole
    timely = [time for place, time in enumerate(times) if place not in whole[1]]
    assert whole[0] == sorted(timely)
    expected = [p for p, time in enumerate(times) if time < max(times[:p], default=time) - delay]
    assert whole[1] == expected


def test_events_that_wait_hold_the_watermark_at_zero() -> None:
    intake, leaving, _ = Intake(10, batch([])).take(batch([3, 4]))
    assert (intake.watermark, len(leaving), len(intake.waiting)) == (0, 0, 2)
