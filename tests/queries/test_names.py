import pytest

from cepbench.queries.errors import QueryError
from cepbench.queries.names import Names, scopes
from cepbench.queries.parser import parse_query

PATTERN = parse_query("PATTERN SEQ(A x, NOT SEQ(C, NOT E, A), B A, A+)").pattern


def test_names_mean_occurrences() -> None:
    names = Names.of(PATTERN)
    assert names.indices("x") == (0,)
    assert names.indices("C") == (1,)
    assert names.indices("A") == (4,)  # the alias wins over the type
    assert names.indices("B") == (4,)
    assert names.negated == {1, 2, 3}
    assert Names.of(parse_query("PATTERN SEQ(A x, NOT A, B, A+)").pattern).indices("A") == (0, 1, 3)


def test_an_unknown_name_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(QueryError, match="unknown name 'nothing'; the pattern has A, C, E, B, x"):
        Names.of(PATTERN).indices("nothing")


def test_scopes_are_the_innermost_negations() -> None:
    assert scopes(PATTERN) == (None, (1,), (1, 0, 1), (1,), None, None)
