import pytest


def test_same_seed_same_stream(cepbench, tmp_path):
    command = ("generate", "stock", "-p", "events=200", "-p", "rate=10", "--seed", "7", "-o")
    first, second = cepbench(*command, tmp_path / "a"), cepbench(*command, tmp_path / "b", "--key", "company")
    other = cepbench("generate", "stock", "-p", "events=200", "-p", "rate=10", "-p", "seed=8", "-o", tmp_path / "c")
    prints = [ended.out.split("fingerprint ")[1] for ended in (first, second, other)]
    assert prints[0] == prints[1] != prints[2]


def test_store_is_replaced_only_when_told(cepbench, tmp_path):
    command = ("generate", "stock", "-p", "events=20", "-o", tmp_path / "a")
    assert cepbench(*command).status == 0
    assert cepbench(*command).status == 2
    assert cepbench(*command, "--replace").status == 0


def test_generated_store_can_be_queried(cepbench, tmp_path):
    cepbench("generate", "uniform", "-p", "events=100", "-o", tmp_path / "store")
    (tmp_path / "q.sase").write_text("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 s")
    answers = [
        cepbench("query", "-q", tmp_path / "q.sase", "-e", tmp_path / "store", "-a", algorithm)
        for algorithm in ("sase", "greta", "cogra")
    ]
    assert len({ended.out for ended in answers}) == 1
    assert answers[0].status == 0


@pytest.mark.spark
def test_spark_writes_the_same_stream(cepbench, tmp_path):
    command = ("generate", "stock", "-p", "events=1000", "--key", "company", "--buckets", "3", "-o")
    here, there = cepbench(*command, tmp_path / "a"), cepbench(*command, tmp_path / "b", "--master", "local[2]")
    assert here.out.split(": ")[1] == there.out.split(": ")[1]
