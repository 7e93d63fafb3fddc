"""The contents of a pack: figures, records as JSON lines, experiment files and environments."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from cepbench.metrics.figure import FIGURE_FILE
from cepbench.metrics.pack import write_members
from cepbench.metrics.results import PACKED, RECORDS_FILE, Results

EXPERIMENTS = "experiments"  # a folder of a pack
ENVIRONMENT = "environment.json"


def write_pack(path: Path, everything: Sequence[Results], experiments: Mapping[str, bytes]) -> Path:
    """Writes results, and the files of their experiments by id, to one file. Raises `Unwritable`."""
    members = {ENVIRONMENT: _environments(everything)}
    members |= {f"{EXPERIMENTS}/{name}.yaml": content for name, content in experiments.items()}
    for results in everything:
        folder = f"{PACKED}/{results.figure.experiment}/{results.figure.profile}"
        lines = [json.dumps(record.model_dump(mode="json"), separators=(",", ":")) for record in results.records]
        members[f"{folder}/{FIGURE_FILE}"] = results.figure.model_dump_json(indent=1).encode()
        members[f"{folder}/{RECORDS_FILE}"] = "".join(f"{line}\n" for line in lines).encode()
    about = {"figures": len(everything), "records": sum(len(results.records) for results in everything)}
    return write_members(path, members, about)


def _environments(everything: Sequence[Results]) -> bytes:
    """The different provenances, in the order of their first cells, and how many cells have each."""
    texts = [json.dumps(record.provenance) for results in everything for record in results.records]
    counts = {text: texts.count(text) for text in dict.fromkeys(texts)}
    return json.dumps([{"cells": n, "provenance": json.loads(text)} for text, n in counts.items()], indent=1).encode()
