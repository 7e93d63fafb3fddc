"""Evaluation in this process: partitioning, cuts, and everything that is refused before it runs."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cepbench
from cepbench.algorithms.base import Algorithm, NotEnoughMemory, UnsupportedQuery
from cepbench.algorithms.registry import ALGORITHMS, make
from cepbench.algorithms.rows import Group
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError, InputError
from cepbench.events.files import read_events
from cepbench.events.statistics import Statistics
from cepbench.generators.registry import from_spec
from cepbench.pipeline.fork import memory_limit
from cepbench.pipeline.generation import generate
from cepbench.pipeline.import_events import import_events
from cepbench.pipeline.in_process import answer_of
from cepbench.pipeline.jobs import prepare
from cepbench.pipeline.keys import RawKey
from cepbench.pipeline.loop import Keys
from cepbench.pipeline.rebucketing import rebucket
from cepbench.queries.errors import QueryError
from cepbench.queries.workloads import parse_workload
from cepbench.verification.evaluators import run

WORKLOAD = """
whole: RETURN COUNT(*), SUM(A.value) PATTERN SEQ(A, B) WITHIN 40 seconds SLIDE 20 seconds

keyed: RETURN key, COUNT(*), AVG(A.value) PATTERN SEQ(A+, B) WHERE A.value < NEXT(A).value GROUP-BY key
WITHIN 40 seconds

both: RETURN key, COUNT(*) PATTERN SEQ(A, B) WHERE [value] GROUP-BY key
"""


def frame() -> pd.DataFrame:
    random = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "time": np.sort(random.integers(0, 200, 400)),
            "type": random.choice(["A", "B", "C"], 400),
            "key": random.choice(["u", "v", "w"], 400),
            "value": random.integers(0, 4, 400),
        }
    )


def split(events: EventBatch, attributes: tuple[str, ...]) -> list[tuple[RawKey, Group, EventBatch]]:
    """The keys of a batch, as they are stored and as a user knows them, and their events."""
    keys = Keys(attributes)
    pieces = keys.batch(events).pieces
    return [(keys.stored[key], keys.decoded[key], piece) for key, piece in pieces]


def test_a_batch_by_key_is_a_partition_in_stream_order() -> None:
    events = read_events(frame()).batch
    for attributes in (("key",), ("value",), ("key", "value"), ("value", "key", "value")):
        pieces = split(events, attributes)
        assert sorted(p for *_, piece in pieces for p in piece.position.tolist()) == list(range(400))
        keys = [key for key, *_ in pieces]
        assert len(set(keys)) == len(keys)
        for key, decoded, piece in pieces:
            assert (np.diff(piece.position) > 0).all()
            assert {tuple(row) for row in zip(*(piece.columns[a].tolist() for a in attributes), strict=True)} == {key}
            assert all(isinstance(value, str) == (a == "key") for a, value in zip(attributes, decoded, strict=True))
    assert split(events, ()) == [((), (), events)]
    assert {piece.watermark for *_, piece in split(events.slice(0, 50, 77), ("key",))} == {77}
    assert split(events.slice(5, 5), ("key",)) == []
    assert split(events.slice(5, 6), ("key",))[0][2].position.tolist() == [5]
    zeros = pd.DataFrame({"time": [1, 1, 2], "type": "A", "x": [0.0, -0.0, 1.5]})
    assert [len(piece) for *_, piece in split(read_events(zeros).batch, ("x",))] == [2, 1]


def test_counts_are_those_of_a_plain_loop() -> None:
    events = frame()
    answer = cepbench.evaluate(WORKLOAD, events, "greta")
    for key in ("u", "v", "w"):
        expected = 0
        for value in range(4):
            part = events[(events["key"] == key) & (events["value"] == value)]
            first, last = part[part["type"] == "A"]["time"], part[part["type"] == "B"]["time"]
            expected += int((first.to_numpy()[:, None] < last.to_numpy()).sum())
        row = answer[(answer["query"] == "both") & (answer["key"] == key)]
        assert row["COUNT(*)"].tolist() == [expected]


def test_queries_of_one_job_keep_their_rows() -> None:
    events = pd.DataFrame({"time": [1, 2, 3], "type": ["A", "A", "B"]})
    answer = cepbench.evaluate("RETURN COUNT(*) PATTERN A\n\nRETURN COUNT(*) PATTERN SEQ(A+, B)", events, "greta")
    assert dict(zip(answer["query"], answer["COUNT(*)"], strict=True)) == {"q1": 2, "q2": 3}


def cuts(batch: EventBatch, seed: int) -> list[EventBatch]:
    random = np.random.default_rng(seed)
    places = [0, *np.sort(random.integers(0, len(batch) + 1, 60)).tolist(), len(batch)]
    pieces = []
    for start, stop in itertools.pairwise(places):
        until = int(batch.time[stop]) if stop < len(batch) and random.random() < 0.5 else None
        pieces.append(batch.slice(start, stop, until))
    return pieces


@pytest.mark.parametrize("algorithm", ["sase", "greta"])
def test_batches_may_be_cut_anywhere(algorithm: str) -> None:
    whole = cepbench.evaluate(WORKLOAD, frame(), algorithm)
    assert set(whole["query"]) == {"whole", "keyed", "both"}
    events = read_events(frame()).batch
    for seed in range(3):
        cut = run(make(algorithm), parse_workload(WORKLOAD), cuts(events, seed))
        pd.testing.assert_frame_equal(cut, whole)


def test_files_stores_and_frames_give_one_answer(tmp_path: Path) -> None:
    generator = from_spec("uniform", {"events": 2000, "groups": 5, "tie_probability": 0.3})
    store = generate(generator, tmp_path / "store", spark=None, key=("key",), buckets=3)
    columns = next(generator.batches())
    letters = np.array(generator.schema().types)
    table = pd.DataFrame({"time": columns.time, "type": letters[columns.type], **columns.columns})
    table.to_csv(tmp_path / "e.csv", index=False)
    table.to_parquet(tmp_path / "e.parquet")
    whole = rebucket(store, (), 1, spark=None)
    answers = [
        answer_of(WORKLOAD, events, "greta").digest()
        for events in (table, tmp_path / "e.csv", str(tmp_path / "e.parquet"), store.path, whole.path)
    ]
    assert len(set(answers)) == 1
    assert answer_of(WORKLOAD, table, "sase").digest() == answers[0]


def test_times_have_a_unit() -> None:
    events = pd.DataFrame({"time": [0, 1500], "type": ["A", "B"]})
    query = "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 2 seconds"
    assert cepbench.evaluate(query, events, "greta", reading="ms")["COUNT(*)"].tolist() == [1]
    assert len(cepbench.evaluate(query, events, "greta")) == 0


def test_what_was_done_to_the_input_is_said() -> None:
    events = pd.DataFrame({"time": [2, 1], "type": ["B", "A"]})
    messages: list[str] = []
    query = "RETURN COUNT(*) PATTERN SEQ(A, B)"
    assert len(cepbench.evaluate(query, events, "greta", notify=messages.append)) == 1
    assert len(messages) == 1
    with pytest.warns(UserWarning, match="row 2, column 'time': earlier than the row before"):
        cepbench.evaluate(query, events, "greta")


def test_refused_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = "RETURN COUNT(*) PATTERN A"
    with pytest.raises(QueryError, match="line 1"):
        cepbench.evaluate("RETURN COUNT(*) PATTERN SEQ(A,", frame(), "greta")
    with pytest.raises(CepbenchError, match="unknown algorithm 'none'"):
        cepbench.evaluate(counting, frame(), "none")
    with pytest.raises(CepbenchError, match="unknown arithmetic 'exact'"):
        cepbench.evaluate(counting, frame(), "greta", "exact")
    with pytest.raises(InputError, match="no such file or folder"):
        cepbench.evaluate(counting, tmp_path / "none.csv", "greta")
    holes = frame().assign(value=lambda f: f["value"].where(f["type"] != "A"))
    with pytest.raises(InputError, match="column 'value': null or NaN in an event of type 'A'"):
        cepbench.evaluate("RETURN SUM(A.value) PATTERN A", holes, "greta")
    assert len(cepbench.evaluate("RETURN SUM(B.value) PATTERN B", holes, "greta")) == 1
    with pytest.raises(InputError, match="column 'value'"):
        cepbench.evaluate("RETURN COUNT(*) PATTERN B GROUP-BY value", holes, "greta")
    greta: type[Algorithm] = next(a for a in ALGORITHMS if a.name == "greta")
    monkeypatch.setattr(greta, "unsupported", lambda self, query: "it is Friday")
    with pytest.raises(UnsupportedQuery, match=r"^greta cannot evaluate query q1: it is Friday$"):
        cepbench.evaluate(counting, tmp_path / "none.csv", "greta")


@pytest.mark.parametrize("query", ["query.sase", "there.txt", Path("query.sase")])
def test_a_file_is_no_query(query: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.txt").write_text("RETURN COUNT(*) PATTERN A")
    with pytest.raises(QueryError, match=r"^'(query\.sase|there\.txt)' looks like a file; read it first") as refused:
        cepbench.evaluate(query, frame(), "greta")
    assert "\n" not in str(refused.value)


def test_no_events() -> None:
    assert len(cepbench.evaluate("RETURN COUNT(*) PATTERN A", pd.DataFrame({"time": [], "type": []}), "greta")) == 0


def test_what_to_know_of_a_plan_is_reported() -> None:
    workload = "\n\n".join(f"q{n}: RETURN COUNT(*) PATTERN SEQ(A, B, C) WITHIN 60 s SLIDE 20 s" for n in range(2))
    reported: list[str] = []
    plain = answer_of(workload, frame(), "sharon", notify=reported.append)
    assert reported == []
    hurried = answer_of(workload, frame(), "sharon[limit=1e-9]", notify=reported.append)
    [notice] = reported
    assert notice.startswith("sharon: the search for an optimal plan reached a limit")
    assert hurried.digest() == plain.digest()


def test_types_without_events_are_reported_also_where_they_are_declared() -> None:
    events = read_events(pd.DataFrame({"time": range(4), "type": list("ABCA")}))

    def reported(pattern: str, **rates: float) -> tuple[str, ...]:
        queries = parse_workload(f"RETURN COUNT(*) PATTERN {pattern} WITHIN 5 s")
        return prepare(queries, make("greta"), events.schema, "modular", Statistics(4, 4, rates)).notices

    assert reported("SEQ(A, B)", A=0.5, B=0.25, C=0.25) == ()
    assert reported("SEQ(A, Z)", A=0.5, B=0.25, C=0.25) == (
        "query q1: the stream has no events of type Z; it has A, B, C",
    )
    assert reported("SEQ(A, C)", A=0.5, B=0.5, C=0.0) == ("query q1: the stream has no events of type C; it has A, B",)


MANY = "the {} events have {} matches, and each is listed; RETURN COUNT(*) only counts them"


def listed(query: str, events: int) -> list[str]:
    """The notices before matches of one type of event are listed, which is cut off."""
    notices: list[str] = []

    def stop(total: int, more: int) -> None:
        raise InterruptedError

    frame = pd.DataFrame({"time": range(events), "type": "A"})
    with pytest.raises((NotEnoughMemory, InterruptedError)), memory_limit(3 * 10**8):
        answer_of(query, frame, "sase", notify=notices.append, progress=stop)
    return notices


def test_a_warning_before_very_many_matches_are_listed() -> None:
    assert listed("PATTERN A+", 30) == [MANY.format(30, "1.07e+09")]
    assert listed("PATTERN A+", 100) == [MANY.format(100, "more than 10^19")]
    assert listed("a: PATTERN A+\n\nb: RETURN COUNT(*) PATTERN A", 30) == [MANY.format(30, "1.07e+09")]


def test_no_warning_before_few_matches_are_listed() -> None:
    assert listed("PATTERN A+", 20) == []
    assert listed("PATTERN SEQ(A, A a) WITHIN 3 s", 3000) == []


def test_a_warning_about_the_matches_of_a_store(tmp_path: Path) -> None:
    frame, notices = pd.DataFrame({"time": range(30), "type": "A"}), list[str]()
    import_events(frame, tmp_path / "store", spark=None)
    with pytest.raises(NotEnoughMemory), memory_limit(3 * 10**8):
        answer_of("PATTERN A+", tmp_path / "store", "sase", notify=notices.append)
    assert notices == [MANY.format(30, "1.07e+09")]


def test_memory_of_evaluate_is_limited() -> None:
    frame = pd.DataFrame({"time": range(30), "type": "A"})
    with (
        pytest.warns(UserWarning, match="matches"),
        pytest.raises(NotEnoughMemory, match=r"more than 300 MB of memory \(memory\)"),
    ):
        cepbench.evaluate("PATTERN A+", frame, "sase", memory=3 * 10**8)
