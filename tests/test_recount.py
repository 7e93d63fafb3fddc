"""The claims of the pack in the repository, counted again by a script that shares nothing with cepbench."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.scripts import script_module

ROOT = Path(__file__).parents[1]
PACK = ROOT / "docs" / "headline.tar.xz"
SCRIPT = ROOT / "scripts" / "recount.py"


@pytest.fixture(scope="module")
def script() -> Any:
    return script_module("recount")


def test_twenty_claims_agree_with_the_records() -> None:
    command = [sys.executable, "-I", str(SCRIPT), str(PACK)]  # isolated: cepbench is not on its path
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.splitlines()[-1], run.stderr) == (0, "20 of 20 claims agree.", "")


def cell(algorithm: str, n: int, seconds: float, **more: Any) -> dict[str, Any]:
    runs = {"latency_max": [seconds, seconds, 9 * seconds]}
    return {
        "algorithm": algorithm, "point": {"n": n, "k": 5}, "status": "ok", "runs": runs, "summary": {}, **more
    }  # fmt: skip


CELLS = [cell(name, n, n**power) for name, power in (("slow", 2), ("fast", 1)) for n in (1, 2, 4)]


@pytest.mark.parametrize(
    ("claim", "number"),
    [
        ({"to": "fast", "where": {"n": 4}}, 4.0),
        ({"between": {"n": [1, 4]}}, 16.0),
        ({"between": {"n": [4, 1]}, "to": "fast"}, 0.25),
        ({"slope": {"n": [1, 4]}}, 2.0),
        ({"to": "fast", "draws": "n"}, 2.0),
    ],
)
def test_numbers_by_their_definition(script: Any, claim: dict[str, Any], number: float) -> None:
    counted = script.number({"metric": "latency_max", "of": "slow", **claim}, CELLS, {"k": 5})
    assert counted == pytest.approx(number)


def test_a_number_that_the_pack_states_wrongly_is_found(script: Any) -> None:
    claim = {"text": "t", "metric": "latency_max", "of": "slow", "to": "fast", "where": {"n": 4}}
    stated = {"text": "t", "measured": 8.0, "bound": False, "reason": ""}
    figures = [
        ("e", {"claims": [claim]}, {"profile": "quick", "claims": [stated]}, [json.dumps(record) for record in CELLS])
    ]
    assert script.drawn(figures, 20, seed=1) == [("e", "t", 8.0, 4.0)]
