"""Plans that optimizers choose: `tests/golden/plans/*.yaml`, a file per algorithm.

A case has queries, the rates of the types, and a plan per options of the algorithm: numbers that the plan reports, and
the places of shared patterns. A query of detection has a window of 10 s; one without WITHIN has one of 1 s.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from cepbench.algorithms.registry import make
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query

FOLDER = Path(__file__).parents[1] / "golden" / "plans"
SCHEMA = Schema(tuple("ABCDEFGHXYZ"), (Attribute("x", Kind.INT),))


def cases() -> list[Any]:
    loaded = {file.stem: yaml.safe_load(file.read_text(encoding="utf-8")) for file in sorted(FOLDER.glob("*.yaml"))}
    return [
        pytest.param(
            f"{algorithm}[{options}]" if options else algorithm, case, plan, id=f"{algorithm} {name} {options}"
        )
        for algorithm, named in loaded.items()
        for name, case in named.items()
        for options, plan in case["plans"].items()
    ]


def query_of(algorithm: str, text: str) -> str:
    """The text of a query; a plan of detection returns matches."""
    detects, window = algorithm.startswith("mcep"), "" if "WITHIN" in text else " WITHIN 1 s"
    return f"PATTERN {text} WITHIN 10 s PER MATCH" if detects else f"RETURN COUNT(*) PATTERN {text}{window}"


@pytest.mark.parametrize(("specification", "case", "expected"), cases())
def test_plans(specification: str, case: dict[str, Any], expected: dict[str, Any]) -> None:
    algorithm = make(specification)
    queries = [parse_query(query_of(specification, text)) for text in case["queries"]]
    statistics = Statistics(1000, 10, case["rates"]) if "rates" in case else Statistics()
    plan = algorithm.plan(compile_workload(queries, SCHEMA), statistics)
    numbers = {name: value for name, value in expected.items() if name != "shared"}
    assert {name: plan.details[name] for name in numbers} == pytest.approx(numbers)
    if "shared" in expected:
        candidates: Any = vars(plan)["shared"]
        shared = {"".join(s.type for s in c.pattern): [list(place) for place in c.occurrences] for c in candidates}
        assert shared == expected["shared"]
