import pytest

from cepbench.queries.errors import QueryError
from cepbench.queries.parser import MOST_CHARACTERS, parse_query


def refused(text: str) -> tuple[str, str]:
    """The message, and the underlined text (with the rest of its line cut off)."""
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    assert caught.value.place is not None
    line, carets = caught.value.place.split("\n")
    return caught.value.message, line[len(carets.rstrip("^")) : len(carets)]


@pytest.mark.parametrize(
    ("text", "underlined", "message"),
    [
        ("", "", "the query ends too early; expected RETURN or PATTERN"),
        ("-- nothing", "-", "the query ends too early; expected RETURN or PATTERN"),
        ("PATTERN", "", "ends too early; expected an event type, SEQ(...), NOT or '('"),
        ("RETRUN COUNT(*) PATTERN A", "RETRUN", "expected RETURN or PATTERN; did you mean RETURN?"),
        ("PATTERN A WHRE A.x > 5", "A", "did you mean WHERE by 'WHRE'?"),
        ("PATTERN A GROUP-BY g WITHN 5 s", "WITHN", "did you mean WITHIN?"),
        (
            "PATTERN A B C",
            "C",
            "expected '+', '*', '?', '{n,m}', ',', AND, OR, SEMANTICS, WHERE, GROUP-BY, WITHIN or the end",
        ),
        ("PATTERN SEQ(A WHERE A.x = 1", "WHERE", "expected an alias, ')', '+', '*', '?', '{n,m}', ',', AND or OR"),
        ("PATTERN SEQ(A,)", ")", "expected an event type"),
        ("PATTERN SEQ(A, where)", "where", "where is a keyword: write `where` in backticks to use it as a name"),
        ("PATTERN SEQ", "SEQ", "SEQ is a keyword"),
        ("PATTERN A WHERE A.not = 1", "not", "expected an attribute; not is a keyword"),
        ("PATTERN A # B", "#", "unexpected '#'"),
        ("PATTERN A WHERE A.x = 'abc", "'abc", "' is not closed on this line"),
        ("PATTERN A WHERE A.x = '\\q'", "'\\q'", "unknown escape \\q"),
        (
            "PATTERN A, B WHERE A.x > 5 OR B.x < 3",
            "B.x < 3",
            "OR and NOT combine conditions on one event, not on A and B",
        ),
        ("PATTERN A WHERE A.x", "", "expected NOT, a comparison (< <= > >= = !=), IN (...), '+', '-' or '*'"),
        ("PATTERN A WHERE x > 5", "x > 5", "a predicate names an attribute of an event, as in E.x"),
        ("PATTERN A WHERE 1 < 2", "1 < 2", "a predicate names an attribute of an event, as in E.x"),
        ("PATTERN A WHERE A.x < passive", "passive", "passive is a text, which compares by = and != only"),
        ("PATTERN A WHERE A.x < 'passive'", "A.x < 'passive'", "a text compares by = and != only"),
        ("PATTERN A WHERE 2 * A.x = 'passive'", "2 * A.x = 'passive'", "a text has no factor"),
        ("PATTERN A+ WHERE NEXT(A).x < NEXT(A).x", "NEXT(A).x", "NEXT is allowed on one side only"),
        ("PATTERN A+ WHERE NEXT(A).x < 5", "NEXT(A).x", "NEXT(E).x is compared with an attribute of the event before"),
        ("PATTERN A WHERE [", "", "expected an attribute"),
        ("PATTERN A WHERE A.x < 1e999", "1e999", "too large"),
        ("PATTERN A WHERE A.x < 9223372036854775808", "9223372036854775808", "must fit into 64 bits"),
        ("PATTERN A WHERE A.x > -9223372036854775809", "-9223372036854775809", "must fit into 64 bits"),
        (f"PATTERN A WHERE A.x < {'9' * 5000}", "9" * 100, "at most 400 characters"),
        ("PATTERN A{3,2}", "3,2}", "a repetition {n,m} needs 0 <= n <= m"),
        ("PATTERN A{,2}", "{,2}", "write {0,2} for none or up to 2"),
        ("PATTERN A{-1,}", "-", "expected a whole number"),
        ("PATTERN A{9999999999,}", "9999999999", "is repeated at most 1024 times"),
        ("PATTERN A a+ b", "b", "an alias follows an event type or an OR in parentheses, once"),
        ("PATTERN SEQ(A, B)+ b", "b", "an alias follows an event type or an OR in parentheses, once"),
        ("PATTERN A SEMANTICS strict", "strict", "choose skip-till-any-match, skip-till-next-match or contiguous"),
        ("PATTERN A SEMANTICS any SEMANTICS any", "SEMANTICS any", "a query has one SEMANTICS only"),
        ("PATTERN A GROUP-BY a GROUPBY b", "GROUPBY b", "a query has one GROUP-BY only"),
        ("PATTERN A PATTERN B", "PATTERN", "a query has one PATTERN"),
        ("PATTERN A; PATTERN B", "PATTERN", "queries are separated by a blank line or ';'"),
        ("PATTERN A RETURN COUNT(*)", "RETURN", "RETURN occurs once, before PATTERN"),
        ("RETURN PATTERN A", "PATTERN", "expected COMPLETE MATCHES, MATCHES, an attribute, COUNT(...)"),
        ("RETURN SUM(A) PATTERN A", ")", "expected '.'"),
        ("PATTERN A SLIDE 2 s", "SLIDE", "GROUP-BY, WITHIN or the end of the query; SLIDE is a keyword"),
        ("PATTERN A WITHIN 5 s SLIDE 2 s WHER A.x > 5", "WHER", "did you mean WHERE?"),
        ("PATTERN A WITHIN 5", "", "expected a unit (events, ms, s, min, h, days)"),
        ("PATTERN A WITHIN 5 lightyears", "lightyears", "unknown unit 'lightyears'; choose events, ms, s"),
        ("PATTERN A WITHIN 0 s", "0", "a length must be positive"),
        ("PATTERN A WITHIN 5 s SLIDE -1 s", "-1", "a length must be positive"),
        ("PATTERN A WITHIN 1e999999999 s", "1e999999999", "at most 10**18"),
        ("PATTERN A WITHIN 1/0 s", "1", "a length must be positive"),
        ("\0", "\ufffd", "unexpected '\\x00'"),
        ("\ud800", "\ufffd", "unexpected '\\ud800'"),
    ],
)
def test_syntax(text: str, underlined: str, message: str) -> None:
    reported, place = refused(text)
    assert message in reported
    assert place == underlined


@pytest.mark.parametrize(
    ("text", "underlined", "message"),
    [
        ("PATTERN A WHERE B.x > 5", "B.x", "unknown name 'B'; the pattern has A"),
        ("PATTERN A a, B WHERE c.x < a.x", "c.x", "unknown name 'c'; the pattern has A, B, a"),
        ("PATTERN A WHERE A.x < NEXT(B).x", "NEXT(B).x", "unknown name 'B'"),
        ("RETURN COUNT(B) PATTERN A", "COUNT(B)", "unknown name 'B'"),
        ("RETURN g, COUNT(*), MIN(B.x) PATTERN A GROUP-BY g", "MIN(B.x)", "unknown name 'B'"),
        ("RETURN B.g, COUNT(*) PATTERN A GROUP-BY g", "B", "unknown name 'B'"),
        ("RETURN COUNT(*) PATTERN A GROUP-BY B.g", "B", "unknown name 'B'"),
        ("RETURN g, COUNT(*) PATTERN A", "g", "'g' is not in GROUP-BY (the query has none)"),
        ("RETURN h, COUNT(*) PATTERN A GROUP-BY g", "h", "'h' is not in GROUP-BY (it has g)"),
        ("RETURN g PATTERN A GROUP-BY g", "RETURN g", "RETURN needs an aggregate"),
        ("RETURN COUNT(*), COUNT( * ) PATTERN A", "COUNT( * )", "COUNT(*) is listed twice"),
        ("RETURN g, A.g, COUNT(*) PATTERN A GROUP-BY g", "A.g", "g is listed twice"),
        ("PATTERN A GROUP-BY g, h, A.g", "A.g", "g is listed twice"),
        ("PATTERN A GROUP-BY match", "match", "'match' is a column of every answer"),
        ("PATTERN A x, B x", "B x", "the alias 'x' is given twice"),
        ("PATTERN NOT A", "NOT A", "NOT is allowed inside SEQ only"),
        ("PATTERN SEQ(A, (NOT B)+)", "(NOT B)", "NOT is allowed inside SEQ only"),
        ("PATTERN SEQ(A, NOT NOT B)", "NOT B", "NOT is allowed inside SEQ only"),
        ("PATTERN A OR NOT B", "NOT B", "NOT is allowed inside SEQ only"),
        ("PATTERN SEQ(NOT A, NOT B)", "SEQ(NOT A, NOT B)", "a SEQ needs a part without NOT"),
        ("PATTERN SEQ(A, NOT (NOT B, C))", "NOT B", "NOT may not begin or end a negated SEQ"),
        ("PATTERN SEQ(A, NOT (B, C?, NOT D))", "NOT D", "NOT may not begin or end a negated SEQ"),
        ("PATTERN SEQ(A, NOT (B, NOT C, D*), E)", "NOT C", "NOT may not begin or end a negated SEQ"),
        ("PATTERN SEQ(NOT A*, B)", "A*", "a negated pattern must not match the empty sequence"),
        ("PATTERN SEQ(A AND B, C)", "A AND B", "AND is allowed at the top of the pattern only"),
        ("PATTERN A OR (B AND C)", "(B AND C)", "AND is allowed at the top of the pattern only"),
        ("PATTERN SEQ(A, NOT (B AND C))", "(B AND C)", "AND is allowed at the top of the pattern only"),
        ("RETURN COUNT(*) PATTERN A AND B AND C", "A AND B AND C", "joins exactly two patterns by AND"),
        ("RETURN COUNT(*), COUNT(A) PATTERN A AND B", "COUNT(A)", "COUNT(*) is the only aggregate"),
        ("RETURN COMPLETE MATCHES PATTERN A AND B", "RETURN COMPLETE MATCHES", "not defined for AND"),
        ("RETURN COUNT(N) PATTERN SEQ(A, NOT N, B)", "COUNT(N)", "'N' is under NOT, so no match binds it"),
        ("RETURN SUM(A.x) PATTERN SEQ(A, NOT A, B)", "SUM(A.x)", "'A' is under NOT"),
        ("PATTERN SEQ(A, NOT N, B) WHERE A.x < N.x", "A.x < N.x", "may not mix"),
        ("PATTERN SEQ(A, NOT N, B, NOT M) WHERE N.x < M.x", "N.x < M.x", "may not mix"),
        ("PATTERN A WITHIN 10 events SLIDE 5 s", "5 s", "both count events or both measure time"),
        ("PATTERN A WITHIN 5 s SLIDE 1 event", "1 event", "both count events or both measure time"),
        ("PATTERN A WITHIN 2.5 events", "2.5 events", "a window counts whole events"),
        ("PATTERN NOT A, NOT B", "NOT A, NOT B", "a SEQ needs a part without NOT"),
    ],
)
def test_meaning(text: str, underlined: str, message: str) -> None:
    reported, place = refused(text)
    assert message in reported
    assert place == underlined


def test_what_looks_alike_is_allowed() -> None:
    for text in [
        "RETURN MATCHES PATTERN A AND B AND C",
        "RETURN COUNT(b) PATTERN SEQ(A b, NOT A, C)",
        "PATTERN SEQ(A, NOT SEQ(C c, NOT E, D d), B) WHERE c.x < d.x AND E.x = 1 AND A.x < B.x",
        "PATTERN SEQ(NOT (A OR B), C+, NOT D)",
        "PATTERN A WITHIN 5 s SLIDE 7 s",
        "PATTERN A x, x",
    ]:
        parse_query(text)


def test_the_line_is_named() -> None:
    with pytest.raises(QueryError) as caught:
        parse_query("RETURN COUNT(*)\nPATTERN A\n\tWHERE B.x = 1\nWITHIN 5 s")
    assert str(caught.value) == (
        "unknown name 'B'; the pattern has A\n"
        "line 3: \tWHERE B.x = 1\n"
        "        \t      ^^^"
    )  # fmt: skip


def test_a_long_line_is_cut() -> None:
    with pytest.raises(QueryError) as caught:
        parse_query("PATTERN " + "A, " * 5000 + "# " + ", A" * 5000)
    assert len(str(caught.value)) < 500
    assert "…" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "PATTERN " + "(" * 90_000,
        "PATTERN " + "SEQ(A, " * 10_000,
        "PATTERN " + "SEQ(A, " * 10_000 + "A" + ")" * 10_000,
        "PATTERN A" + "+" * 90_000,
        "PATTERN SEQ(A" + ", NOT " * 10_000 + "B)",
        "PATTERN SEQ(A," + "NOT " * 10_000 + "B)",
        "PATTERN " + "(" * 10_000 + "A" + "|B)" * 10_000,
        "PATTERN A WHERE " + "(" * 10_000 + "A.x = ",
        "P" * (MOST_CHARACTERS + 1),
        "\\'" * 40_000,
        "'" * 90_001,
    ],
    ids=lambda text: text[:20].strip(),
)
def test_very_deep_and_very_long_texts(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("text", "start", "stop", "place"),
    [
        ("ab cd", 3, 5, "line 1: ab cd\n           ^^"),
        ("\nab", 0, None, "line 1: \n        ^"),
        ("\nab", 1, 9, "line 2: ab\n        ^^"),
        ("ab\n", 3, 3, "line 2: \n        ^"),
        ("ab", -1, None, "line 1: ab\n        ^"),
    ],
)
def test_a_place_is_shown_in_its_line(text: str, start: int, stop: int | None, place: str) -> None:
    assert QueryError("no", text, start, stop).place == place
