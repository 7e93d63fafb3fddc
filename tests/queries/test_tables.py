"""Tables of types and predicates that belong to no automaton."""

from cepbench.events.schema import Schema
from cepbench.queries.tables import bindings


def test_types_are_listed_by_their_code() -> None:
    """B is bound twice, C nowhere, and D is no type of the stream."""
    ptr, bound = bindings(["B", "A", "D", "B"], Schema(("A", "B", "C"), ()))
    assert ptr.tolist() == [0, 1, 3, 3]
    assert bound.tolist() == [1, 0, 3]
