import pytest


def test_same_seed_same_stream(cepbench, tmp_path):
    command = ("generate", "stock", "-p", "events=200", "-p", "rate=10", "--seed", "7", "-o")
    first, second = cepbench(*command, tmp_path / "a"), cepbench(*command, tmp_path / "b", "--key", "company")
    other = cepbench("generate", "stock", "-p", "events=200", "-p", "rate=10", "-p", "seed=8", "-o", tmp_path / "c")
    prints = [ended.out.split("fingerprint ")[1] for ended in (first, second, other)]
    assert prints[0] == prints[1] != prints[2]
    same = cepbench("generate", "stock", "-p", "events=200", "-p", "rate=10", "--seed", "8", "-o", tmp_path / "d")
    assert same.out.split("fingerprint ")[1] == prints[2]


def test_store_is_replaced_only_on_request(cepbench, tmp_path):
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


def test_a_workload_is_a_file_that_queries_can_be_read_from(cepbench, tmp_path):
    file = tmp_path / "shared.sase"
    command = ("generate", "sequences", "-p", "queries=3", "-p", "length=2", "-p", "types=9", "--seed", "4", "-o", file)
    assert cepbench(*command).out == f"{file}: 3 queries\n"
    first = file.read_text()
    assert cepbench(*command).err.startswith(f"cepbench: {file} is there already; --replace replaces it")
    assert cepbench(*command, "--replace").status == 0
    assert file.read_text() == first
    events = tmp_path / "events.csv"
    events.write_text("time,type,customer\n1,Item0,1\n2,Item1,1\n")
    assert cepbench("query", "-q", file, "-e", events, "-a", "cogra").status == 0


def test_a_workload_takes_no_options_of_streams(cepbench, tmp_path):
    ended = cepbench("generate", "sequences", "-o", tmp_path / "w.sase", "--key", "customer")
    assert (ended.status, ended.out) == (2, "")
    assert "sequences is a workload" in ended.err
    ended = cepbench("generate", "sequences", "-o", tmp_path / "w.sase", "-p", "overlap=2")
    assert (ended.status, ended.out) == (2, "")
    assert "overlap = '2' is not allowed" in ended.err
