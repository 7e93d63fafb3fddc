"""The worked example of the paper: Tables 3-5, Equations 9-11, Examples 2, 3 and 10."""

from typing import Any

import pytest
from numpy.typing import NDArray

from cepbench.algorithms.trends.hamlet.executor import HamletExecutor
from cepbench.algorithms.trends.hamlet.kernels.benefit import non_shared_cost, shared_cost
from cepbench.algorithms.trends.hamlet.kernels.state import FRESH, SUMS, VALUES
from cepbench.algorithms.trends.hamlet.plan import plan_of
from cepbench.algorithms.trends.hamlet.sharing import Sharing
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from tests.algorithms.trends.sets import hamlet, sets_of
from tests.contract.streams import batch
from tests.streams import golden_plans, stream

GOLDEN = golden_plans()["hamlet"]
QUERIES = ("q1: RETURN COUNT(*) PATTERN SEQ(A, B+)", "q2: RETURN COUNT(*) PATTERN SEQ(C, B+)")
BEFORE = "A1/0 A2/0 C3/0"
GRAPHLET = ("B4/1", "B5/2", "B6/2", "B7/3")
BETWEEN = "A8/0 A9/0 C10/0 C11/0 C12/0"


def executor_of(queries: tuple[str, ...], text: str) -> HamletExecutor:
    """The executor of the only sharable set, after a stream whose last burst is complete."""
    events = batch(stream(f"{text} Z99/0"))
    workload = compile_workload([parse_query(query) for query in queries], events.schema)
    executor = hamlet(plan_of(workload), Sharing("static"))
    executor.process(events)
    executor.finish()
    [sharable] = sets_of(executor)
    assert isinstance(sharable, HamletExecutor)
    return sharable


def rows(executor: HamletExecutor) -> NDArray[Any]:
    """The counts of expressions and values, by row and snapshot."""
    graphlets = executor.set_state.graphlets
    return graphlets.cells.ring[:, 0].reshape(-1, len(graphlets.snapshot))


def values(executor: HamletExecutor, snapshot: int) -> dict[str, int]:
    """The value of a snapshot per query, whose only window is the whole stream."""
    cells = rows(executor)[VALUES : VALUES + int(executor.compiled.program.template.whole["contexts"][0]), snapshot]
    return {f"q{n}": int(value) for n, value in enumerate(cells, start=1)}


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_coefficients_of_a_snapshot_in_its_graphlet(size: int) -> None:
    executor = executor_of(QUERIES, f"{BEFORE} {' '.join(GRAPHLET[:size])}")
    assert values(executor, 0) == GOLDEN["snapshots"]["x"]
    assert rows(executor)[FRESH, 0] == GOLDEN["snapshots"]["in_graphlet_B3"][size - 1]
    assert rows(executor)[SUMS, 0] == sum(GOLDEN["snapshots"]["in_graphlet_B3"][: size - 1])


def test_a_later_graphlet_takes_a_snapshot_of_what_was_before() -> None:
    executor = executor_of(QUERIES, f"{BEFORE} {' '.join(GRAPHLET)} {BETWEEN} B13/0")
    assert values(executor, 0) == GOLDEN["snapshots"]["y"]
    assert executor.set_state.counts["graphlet_snapshots"] == 2
    assert executor.set_state.counts["event_snapshots"] == 0


def test_snapshots_at_event_level() -> None:
    queries = (QUERIES[0], f"{QUERIES[1]} WHERE B.x != NEXT(B).x")  # no edge from the second B to the third
    executor = executor_of(queries, f"{BEFORE} {' '.join(GRAPHLET)} {BETWEEN} B13/9")
    assert executor.set_state.counts["event_snapshots"] == 2, "the third B, and the one whose predecessors differ"
    assert values(executor, 0) == GOLDEN["snapshots"]["x"]
    assert values(executor, 1) == GOLDEN["event_level"]["z"]
    assert values(executor, 3) == GOLDEN["event_level"]["y"]


@pytest.mark.parametrize("case", GOLDEN["decisions"])
def test_benefit_of_the_worked_decisions(case: dict[str, Any]) -> None:
    numbers = {name: float(case[name]) for name in ("b", "n", "sp", "sc", "k", "g", "t")}
    b, n, sp, sc, k, g, t = numbers.values()
    shared, alone = shared_cost(b, n, sp, sc, k, g, t, 0.0), non_shared_cost(b, n, k, 0.0)
    assert (shared, alone) == (case["shared"], case["non_shared"])
    assert (alone - shared > 0) is case["share"]


Queries = dict[Any, set[str]]
"""Names of queries, by what they have."""


def merged(*patterns: str) -> tuple[Queries, Queries]:
    """Figures 3 and 8 as compiled: transitions by the types that they connect, and shared sub-patterns E+ by E."""
    queries = [parse_query(f"q{n}: RETURN COUNT(*) PATTERN {p}") for n, p in enumerate(patterns, start=1)]
    schema = batch(stream("A1 B2 C3")).schema
    [compiled] = plan_of(compile_workload(queries, schema)).sets
    template = compiled.program.template
    types = {p: name for name, kind in zip(schema.types, template.kind, strict=True) for p in bound(template, kind)}
    names = [compiled.members[m].query.query.name for m in template.position["member"]]
    transitions, shared = Queries(), Queries()
    for p, position in enumerate(template.position):
        for edge in template.transition[position["enter"] : position["enter_end"]]:
            transitions.setdefault((types[int(edge["source"])], types[p]), set()).add(names[p])
    for p in template.unit["position"].tolist():
        shared.setdefault(types[p], set()).add(names[p])
    return transitions, shared


def bound(template: Any, kind: Any) -> list[int]:
    """The positions that events of a type may match."""
    positions: list[int] = template.lists[kind["binding"] : kind["binding_end"]].tolist()
    return positions


def test_merged_template() -> None:
    transitions, shared = merged("SEQ(A, B+)", "SEQ(C, B+)")
    assert transitions == {("A", "B"): {"q1"}, ("C", "B"): {"q2"}, ("B", "B"): {"q1", "q2"}}
    assert shared == {"B": {"q1", "q2"}}


def test_merged_template_of_nested_loops() -> None:
    transitions, shared = merged("(SEQ(A, B+))+", "(SEQ(C, B+))+")
    loops = {("B", "A"): {"q1"}, ("B", "C"): {"q2"}}
    assert transitions == {("A", "B"): {"q1"}, ("C", "B"): {"q2"}, ("B", "B"): {"q1", "q2"}} | loops
    assert shared == {"B": {"q1", "q2"}}
