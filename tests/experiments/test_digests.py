from cepbench.experiments.digests import judged
from cepbench.metrics.status import Status
from tests.experiments.records import record

POINT = {"n": 1}


def statuses(*answers):
    """Algorithm and digest of each cell -> its status afterwards."""
    records = [record(a, POINT, round=i, digest=d) for i, (a, d) in enumerate(answers)]
    changed = {r.cell: r for r in judged(records)}
    return [changed.get(r.cell, r).status for r in records]


def test_agreement():
    assert statuses(("a", "x"), ("b", "x"), ("c", "x")) == [Status.OK] * 3
    assert judged([record("a", POINT)]) == []


def test_the_majority_is_right():
    assert statuses(("a", "x"), ("b", "y"), ("c", "x")) == [Status.OK, Status.WRONG, Status.OK]


def test_two_that_disagree_are_both_wrong():
    assert statuses(("a", "x"), ("b", "y")) == [Status.WRONG, Status.WRONG]
    assert statuses(("a", "x"), ("b", "y"), ("c", "z")) == [Status.WRONG] * 3


def test_algorithms_vote_and_not_cells():
    assert statuses(("a", "x"), ("a", "x"), ("a", "x"), ("b", "y"), ("c", "y")) == [Status.WRONG] * 3 + [Status.OK] * 2


def test_the_oracle_decides():
    assert statuses(("a", "x"), ("b", "x"), ("oracle", "y")) == [Status.WRONG, Status.WRONG, Status.OK]


def test_who_contradicts_himself_has_no_vote():
    outcomes = statuses(("a", "x"), ("a", "y"), ("b", "x"), ("c", "x"))
    assert outcomes == [Status.OK, Status.WRONG, Status.OK, Status.OK]
    # With the vote of a, either b or c would have a majority, whichever answer it were for.
    assert statuses(("a", "x"), ("a", "y"), ("b", "x"), ("c", "y")) == [Status.WRONG] * 4
    assert statuses(("a", "x"), ("a", "y"), ("b", "x")) == [Status.WRONG] * 3


def test_half_of_the_algorithms_are_no_majority() -> None:
    assert statuses(("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")) == [Status.WRONG] * 4
    assert statuses(("a", "x"), ("b", "x"), ("c", "y"), ("d", "z")) == [Status.WRONG] * 4
    assert statuses(("a", "x"), ("b", "x"), ("c", "x"), ("d", "z"), ("e", "y")) == [Status.OK] * 3 + [Status.WRONG] * 2


def test_an_oracle_that_contradicts_itself_decides_nothing() -> None:
    outcomes = statuses(("a", "x"), ("b", "x"), ("c", "x"), ("oracle", "y"), ("oracle", "z"))
    assert outcomes == [Status.OK] * 3 + [Status.WRONG] * 2


def test_reasons_name_the_others_and_are_taken_back():
    records = [record("a", POINT), record("b", POINT, digest="other")]
    wrong = judged(records)
    assert {r.algorithm: r.reason for r in wrong} == {
        "a": "the answer differs from that of b, and no majority says which one is right",
        "b": "the answer differs from that of a, and no majority says which one is right",
    }
    later = judged([*wrong, record("c", POINT)])
    assert [(r.algorithm, r.status, r.reason) for r in later] == [
        ("a", Status.OK, ""),
        ("b", Status.WRONG, "the answer differs from that of a, c"),
    ]


def test_cells_without_an_answer_do_not_count():
    records = [record("a", POINT), record("b", POINT, Status.TIMEOUT), record("c", POINT, Status.ERROR)]
    assert judged(records) == []


def test_a_memory_run_with_another_answer_stays_wrong() -> None:
    answers = [record(name, POINT, digest="d") for name in ("greta", "cogra")]
    wrong = record("sase", POINT, Status.WRONG, digest=None)
    assert judged([*answers, wrong]) == []
