"""Any text gives a `Query`, which prints and parses back, or a `QueryError`."""

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cepbench.queries.errors import QueryError
from cepbench.queries.model import Query
from cepbench.queries.parser import parse_query
from cepbench.queries.printing import to_text
from cepbench.queries.workloads import parse_workload
from tests.queries.strategies import queries

_TOKENS = """
    RETURN PATTERN SEMANTICS WHERE GROUP-BY WITHIN SLIDE AND OR NOT SEQ NEXT COUNT MIN MATCHES COMPLETE any contiguous
    A B C A.x B.y q1: , ; ( ) [ ] { } + * ? . | & ∨ < <= = != <> 1 2.5 -3 1e9 0 s min events days 'a' "b" ` ' -- \\ /
    SEQ( COUNT(*) NEXT(A).x [a] A+ {2,}
"""
_CHARACTERS = ["\n", "\n\n", "\0", "\ufeff", "İ", "ſEQ(", "\ud800", "９"]
WORDS = st.sampled_from([*_TOKENS.split(), *_CHARACTERS])
TEXTS = st.one_of(
    st.text(),
    st.lists(WORDS, max_size=25).map(" ".join),
    st.lists(WORDS, max_size=25).map("".join),
    st.lists(WORDS, max_size=15).map(lambda words: "PATTERN " + " ".join(words)),
    st.lists(WORDS, max_size=15).map(lambda words: "PATTERN A, B WHERE " + " ".join(words)),
)
SETTINGS = settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))


def answered(text: str) -> None:
    """Parses as a query and as a workload; anything but an answer or a `QueryError` goes through."""
    with suppress(QueryError):
        query = parse_query(text)
        assert parsed(to_text(query)) == (query,)
    with suppress(QueryError):
        workload = parse_workload(text)
        assert parsed(";\n".join(map(to_text, workload))) == workload


def parsed(text: str) -> tuple[Query, ...]:
    """A canonical text, of which no error is expected."""
    try:
        return parse_workload(text)
    except QueryError as error:
        raise AssertionError(f"{text!r} does not parse") from error


@given(TEXTS)
@SETTINGS
def test_random_texts(text: str) -> None:
    answered(text)


@given(queries().map(to_text), st.data())
@settings(SETTINGS, max_examples=400)
@pytest.mark.full
def test_mutated_queries(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        stop = data.draw(st.integers(start, min(start + 8, len(text))))
        text = text[:start] + data.draw(st.one_of(st.just(""), WORDS, st.text(max_size=3))) + text[stop:]
    answered(text)
