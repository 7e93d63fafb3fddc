"""Packs: results are read as they were written, and damage is refused in one line."""

import io
import json
import lzma
import tarfile
from dataclasses import replace

import pytest

from cepbench.metrics.commits import load_commits
from cepbench.metrics.pack import MANIFEST, PackError, read_members, write_members
from cepbench.metrics.record import Samples
from cepbench.metrics.record_files import write_record
from cepbench.metrics.results import ResultsError, load_results, write_pack
from cepbench.metrics.table import load_frame
from tests.metrics.test_results import FIGURE, record, save

SAMPLES = Samples(latency=[0.1, 1 / 3], service=[5e-324, 0.2], state_bytes=[8, 1 << 60])


@pytest.fixture
def results(tmp_path):
    root = tmp_path / "results"
    folder = save(root, FIGURE, [record("sase", n, provenance={"commit": "abc"}) for n in (20, 3)])
    write_record(folder / "cells", record("greta", 7, samples=SAMPLES, provenance={"commit": "def"}))
    save(root, FIGURE.model_copy(update={"id": "9", "experiment": "other"}), [])
    return root


@pytest.fixture
def pack(results, tmp_path):
    return write_pack(tmp_path / "run.tar.xz", load_results(results), {"greta-13.1": b"algorithms: [sase]\n"})


def changed(pack, change):
    """The archive with other members and the manifest as it was."""
    with tarfile.open(pack) as archive:
        members = {member.name: archive.extractfile(member).read() for member in archive}
    change(members)
    with io.BytesIO() as out:
        with tarfile.open(fileobj=out, mode="w") as archive:
            for name, content in members.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        pack.write_bytes(lzma.compress(out.getvalue()))


def test_a_pack_is_read_as_its_results_folder(results, pack):
    folder, packed = load_results(results), load_results(pack)
    assert [(entry.figure, entry.records) for entry in packed] == [(entry.figure, entry.records) for entry in folder]
    assert packed[1].records[-1].samples == SAMPLES
    assert load_frame(pack).equals(load_frame(results))


def test_equal_results_give_equal_bytes(results, pack, tmp_path):
    again = write_pack(tmp_path / "again.tar.xz", load_results(pack), {"greta-13.1": b"algorithms: [sase]\n"})
    assert again.read_bytes() == pack.read_bytes()


def test_a_pack_has_experiment_files_environments_and_checksums(pack):
    members = read_members(pack)
    assert members["experiments/greta-13.1.yaml"] == b"algorithms: [sase]\n"
    assert json.loads(members["environment.json"]) == [
        {"cells": 2, "provenance": {"commit": "abc"}},
        {"cells": 1, "provenance": {"commit": "def"}},
    ]
    with tarfile.open(pack) as archive:
        manifest = json.load(archive.extractfile(archive.next()))
    assert (manifest["format"], manifest["figures"], manifest["records"]) == (1, 2, 3)
    assert manifest["members"].keys() == members.keys()


def test_a_folder_of_packs_is_compared_by_commit(results, tmp_path):
    everything = load_results(results)
    for commit in ("a1", "b2"):
        cells = (record("sase", 1, provenance={"commit": commit * 5, "committed": commit}),)
        write_pack(tmp_path / "packs" / f"{commit}.tar.xz", [replace(everything[1], records=cells)], {})
    assert [entry.name for entry in load_commits([tmp_path / "packs"])] == ["a1a1a1a", "b2b2b2b"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.pop(MANIFEST), "not a pack: it has no manifest.json"),
        (lambda m: m.update({MANIFEST: b"[]"}), "not a pack: it has no manifest.json"),
        (lambda m: m.update({MANIFEST: m[MANIFEST].replace(b'"format": 1', b'"format": 2')}), "pack format 2, exp"),
        (lambda m: m.pop("environment.json"), "damaged pack: environment.json is missing"),
        (lambda m: m.update({"more.json": b""}), "damaged pack: more.json is not listed"),
        (lambda m: m.update({"environment.json": b"[]"}), "damaged pack: environment.json is not as it was written"),
    ],
)
def test_a_pack_that_was_changed_is_refused_in_one_line(pack, change, message):
    changed(pack, change)
    with pytest.raises(ResultsError, match=message) as caught:
        load_results(pack)
    assert str(caught.value).startswith(f"{pack}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("size", [0, 10, 300, -1])
def test_a_pack_that_was_cut_is_refused(pack, size):
    pack.write_bytes(pack.read_bytes()[:size])
    with pytest.raises(PackError, match="not a pack, or a damaged one"):
        read_members(pack)


def test_every_flipped_byte_is_found(pack):
    whole = pack.read_bytes()
    for place in range(0, len(whole), 37):
        pack.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        with pytest.raises(PackError):
            read_members(pack)


@pytest.mark.parametrize("place", ["../../escaped/smoke", "/abs/smoke", "../smoke", "other/smoke"])
def test_a_figure_that_leads_elsewhere_is_refused(tmp_path, place):
    name, profile = place.rsplit("/", 1)
    figure = FIGURE.model_copy(update={"experiment": "x" if name == "other" else name, "profile": profile})
    members = {f"results/{place}/figure.json": figure.model_dump_json().encode()}
    pack = write_members(tmp_path / "run.tar.xz", members, {})
    with pytest.raises(ResultsError, match="a figure of"):
        load_results(pack)


def test_a_pack_that_fills_the_memory_is_refused(pack, monkeypatch):
    monkeypatch.setattr("cepbench.metrics.pack.MOST_BYTES", 1000)
    with pytest.raises(PackError, match="or more, once it is unpacked"):
        read_members(pack)


def test_a_record_of_another_version_is_named_by_its_line(tmp_path):
    line = record().model_dump_json() + "\n" + record().model_dump_json().replace('"format":2', '"format":99') + "\n"
    members = {
        "results/greta-13.1/smoke/figure.json": FIGURE.model_dump_json().encode(),
        "results/greta-13.1/smoke/records.jsonl": line.encode(),
    }
    pack = write_members(tmp_path / "run.tar.xz", members, {})
    with pytest.raises(
        ResultsError, match=r"run.tar.xz/greta-13.1/smoke/records.jsonl:2: record format 99, .* that wrote it"
    ):
        load_results(pack)


def test_of_many_latencies_a_pack_has_those_at_equal_distances_of_rank(results, tmp_path):
    many = [float(rank) for rank in range(40_000, 0, -1)]
    write_record(
        results / FIGURE.experiment / FIGURE.profile / "cells", record("greta", 7, samples=Samples(latency=many))
    )
    [latency] = [
        r.samples.latency
        for entry in load_results(write_pack(tmp_path / "many.tar.xz", load_results(results), {}))
        for r in entry.records
        if r.algorithm == "greta"
    ]
    assert latency == many[1::4]  # in their order
