"""Queries without a meaning, and notations of foreign engines: one line that helps (`refusals.yaml`)."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from cepbench.events.errors import InputError
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.queries.compile import compile_workload
from cepbench.queries.errors import QueryError
from cepbench.queries.parser import parse_query

CASES = yaml.safe_load((Path(__file__).parent / "refusals.yaml").read_text(encoding="utf-8"))["cases"]
ATTRIBUTES = {"v": Kind.INT, "w": Kind.INT, "p": Kind.FLOAT, "name": Kind.STRING, "owner": Kind.STRING}
SCHEMA = Schema(tuple("ABCN"), tuple(Attribute(name, kind) for name, kind in ATTRIBUTES.items()), "s", ("x",))


@pytest.mark.parametrize("case", CASES, ids=[case["query"] for case in CASES])
def test_refusal(case: dict[str, Any]) -> None:
    with pytest.raises((QueryError, InputError)) as caught:
        compile_workload([parse_query(case["query"])], SCHEMA)
    error = caught.value
    message = error.message if isinstance(error, QueryError) else str(error)
    assert "\n" not in message
    assert [part for part in case.get("says", []) if part not in message] == [], message
    assert [part for part in case.get("never", []) if part in message] == [], message
