import json

import pytest


@pytest.mark.parametrize(("command", "field", "known"), [
    ("algorithms", "name", {"sase", "greta", "cogra"}),
    ("datasets", "name", {"stock", "cluster", "transport", "ridesharing", "sequences"}),
    ("experiments", "id", {"greta-13.1", "cogra-19.1"}),
])  # fmt: skip
def test_lists_as_text_and_json(cepbench, command, field, known):
    rows = json.loads(cepbench(command, "--json").out)
    names = [row[field] for row in rows]
    assert known <= set(names)
    lines = cepbench(command).out.splitlines()
    assert [line.split()[0] for line in lines] == [field, *names]


def test_parameters_of_a_stream(cepbench):
    rows = json.loads(cepbench("datasets", "stock", "--json").out)
    assert {"seed", "rate", "events", "selectivity"} <= {row["name"] for row in rows}
    assert "selectivity" in cepbench("datasets", "stock").out
    rows = json.loads(cepbench("datasets", "sequences", "--json").out)
    assert {"seed", "queries", "length", "overlap"} <= {row["name"] for row in rows}


def test_every_listed_stream_can_be_generated(cepbench, tmp_path):
    for row in json.loads(cepbench("datasets", "--json").out):
        if row["kind"] == "generated":
            ended = cepbench("generate", row["name"], "-o", tmp_path / row["name"], "-p", "events=50")
            assert (ended.status, ended.err) == (0, "")
            assert "50 events" in ended.out


def test_run_lists_the_experiments(cepbench):
    assert cepbench("run", "--list").out == cepbench("experiments").out


def test_a_data_set_reports_how_to_get_from_its_files_to_a_figure(cepbench):
    found = json.loads(cepbench("datasets", "nasdaq", "--json").out)
    assert {"source", "license", "layouts", "attributes", "figures", "commands", "note"} <= set(found)
    assert found["commands"][0] == "cepbench import nasdaq --from PATH -o streams/nasdaq"
    assert "cepbench import nasdaq --from PATH -o streams/nasdaq-stock --typed-by stock" in found["commands"]
    assert "cepbench run greta-13.1 --set data=streams/nasdaq-stock --set 'axes.events=[200]'" in found["commands"]
    text = cepbench("datasets", "nasdaq").out
    assert all(reported in text for reported in (found["source"], found["license"], found["note"], *found["commands"]))
    ended = cepbench("datasets", "lse")
    assert (ended.status, "no stream, data set or workload 'lse'; choose one of " in ended.err) == (2, True)


def test_a_line_of_the_experiments_fits_a_terminal(cepbench):
    assert max(map(len, cepbench("experiments").out.splitlines())) <= 120
