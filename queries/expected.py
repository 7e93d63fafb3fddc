"""Syntax errors in terms of the language: what was found, and what was expected."""

from __future__ import annotations

import re
from collections.abc import Set
from difflib import get_close_matches
from typing import Any

from lark import Lark
from lark.exceptions import UnexpectedInput, UnexpectedToken

from cepbench.queries.lexis import RESERVED

_WORDS = {
    "RETURN": "RETURN",
    "PATTERN": "PATTERN",
    "COMPLETE": "COMPLETE MATCHES",
    "MATCHES": "MATCHES",
    "OUTER_ATTRIBUTE": "an attribute",
    "COUNT": "COUNT(...)",
    "FUNCTION": "MIN, MAX, SUM or AVG(E.attribute)",
    "TYPE": "an event type",
    "SEQ": "SEQ(...)",
    "NOT": "NOT",
    "ALIAS": "an alias",
    "REPETITIONS": "a whole number",
    "SEMANTICS_NAME": "skip-till-any-match, skip-till-next-match or contiguous",
    "NAME": "an event's name",
    "NEXT": "NEXT(...)",
    "ATTRIBUTE": "an attribute",
    "NUMBER": "a number",
    "TEXT": "a text in quotes",
    "COMPARISON": "a comparison (< <= > >= = !=)",
    "IN": "IN (...)",
    "UNIT": "a unit (events, ms, s, min, h, days)",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "RBRACE": "'}'",
    "DOT": "'.'",
    "PLUS": "'+'",
    "MINUS": "'-'",
    "STAR": "'*'",
    "OPTIONAL": "'?'",
    "LBRACE": "'{n,m}'",
    "SLASH": "'/'",
    "COMMA": "','",
    "AND": "AND",
    "OR": "OR",
    "SEMANTICS": "SEMANTICS",
    "WHERE": "WHERE",
    "GROUP_BY": "GROUP-BY",
    "WITHIN": "WITHIN",
    "SLIDE": "SLIDE",
    "PER": "PER MATCH",
    "MATCH": "MATCH",
    "SEMICOLON": "';'",
    "$END": "the end of the query",
}
"""The name of each terminal of `sase.lark`, in the order in which an error lists them."""

_UNSAID = frozenset({"OR_OF", "AND_OF", "SLASH", "SEMICOLON"})
_NAMES = frozenset({"TYPE", "ALIAS", "ATTRIBUTE", "OUTER_ATTRIBUTE", "NAME"})
_KEYWORDS = frozenset({word for word in _WORDS.values() if word.isupper()})
_CLAUSES = ("PATTERN", "SEMANTICS", "WHERE", "GROUP-BY", "WITHIN", "SLIDE")
_NOTATIONS = tuple(
    (re.compile(pattern, re.IGNORECASE), hint)
    for pattern, hint in (
        (
            r"skip[-_]till[-_](any|next)[-_]match\s*(\(|AND\b)?",
            r"the semantics has a clause of its own: SEMANTICS skip-till-\1-match",
        ),
        (
            r"(strict|partition)[-_]contiguity\s*(\(|AND\b)?",
            "the semantics has a clause of its own: SEMANTICS contiguous",
        ),
        (
            r"(?<=\w)\[[^\]]*\](\.\w+)?",
            "an alias of E+ means all its events: S.price < NEXT(S).price compares adjacent ones",
        ),
        (r"->|\b(followed|next)\s+by\b", "write SEQ(A, B) for B after A"),
        (r"\bSELECT\b.*", "a query is RETURN ... PATTERN SEQ(A a, B b) WHERE a.x = 1 WITHIN 5 minutes, in this order"),
        (r"\bEVENT\b", "write PATTERN for EVENT"),
        (r"\bFILTER\b.*", "write WHERE for FILTER, and a.x = 1 for a[x = 1]"),
        (r"[!~]", "write NOT"),
        (r"&&", "write AND"),
        (r"\bIS\b(\s+NOT)?\s+NULL\b", "an attribute in a condition may not be null; --where leaves rows out"),
        (r"\bBETWEEN\b", "write E.x >= 1 AND E.x <= 5"),
        (r"\d%", "write a share as a number: 0.8 * E.x for 80%"),
    )
)
"""Notations of other papers and engines, and ours."""

_FOUND = re.compile(r"[^\W\d](?:\w|-(?!-))*|\d[\w.]*|[<>=!]+|.", re.DOTALL)


def syntax_error(parser: Lark, code: str, error: UnexpectedInput) -> tuple[str, int, int]:
    """Message and place of an error that `parser` raised on `code`."""
    end = len(code.rstrip())
    start = error.pos_in_stream
    if start is None or start >= end or (isinstance(error, UnexpectedToken) and error.token.type == "$END"):
        return f"the query ends too early; expected {_listed(_accepted(parser, code, end))}", end, end + 1
    match = _FOUND.match(code, start)
    word = match.group() if match else code[start]
    stop = start + len(word)
    if word in "'\"`":
        line_end = code.find("\n", start)
        return f"{word} is not closed on this line", start, line_end if line_end >= 0 else end
    accepted = _accepted(parser, code, start)
    shown = word if word.isprintable() and len(word) <= 40 else ascii(word[:40])[1:-1]
    return f"unexpected '{shown}'; expected {_listed(accepted)}{_hint(code, start, word, accepted)}", start, stop


def notation_hint(code: str, start: int) -> str:
    """Our notation for one of another engine that is written at a place, or nothing."""
    for pattern, hint in _NOTATIONS:
        for match in pattern.finditer(code):
            if match.start() <= start < match.end():
                return f"; {match.expand(hint)}"
    return ""


def _accepted(parser: Lark, code: str, stop: int) -> Set[str]:
    """Terminals that could follow `code[:stop]`, of which only the last token is wrong or missing.

    The exception lists those of its LALR state, which are too many before a reduction and too few after it.
    """
    interactive: Any = parser.parse_interactive(code)  # most of lark is untyped
    tokens = interactive.lexer_thread.lex(interactive.parser_state)
    try:
        for token in tokens:
            if token.start_pos is not None and token.start_pos >= stop:
                break
            interactive.feed_token(token)
    except UnexpectedInput:
        pass  # the wrong token itself has no terminal here
    return frozenset(interactive.accepts())


def _listed(accepted: Set[str]) -> str:
    words = [word for name, word in _WORDS.items() if name in accepted and (name not in _UNSAID or len(accepted) == 1)]
    words = list(dict.fromkeys(words))
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _hint(code: str, start: int, text: str, accepted: Set[str]) -> str:
    """Our notation, a similar word, or a hint to a rule."""
    if notation := notation_hint(code, start):
        return notation
    word = text.upper()
    if word == "RETURN" and "$END" in accepted:
        return "; RETURN occurs once, before PATTERN"
    if word == "PATTERN" and "$END" in accepted:
        return "; a query has one PATTERN (queries are separated by a blank line or ';')"
    before = code[:start].upper().split()
    if (word == "PER" and "SLIDE" in before) or (word == "SLIDE" and before[-2:] == ["PER", "MATCH"]):
        return "; WITHIN has SLIDE or PER MATCH, not both"
    if word in RESERVED and accepted & _NAMES:
        return f"; {text} is a keyword: write `{text}` in backticks to use it as a name"
    near = get_close_matches(word, sorted({_WORDS[n] for n in accepted if n in _WORDS} & _KEYWORDS), 1, 0.7)
    if near:
        return f"; did you mean {near[0]}?"
    last = code[:start].split()[-1:]
    near = get_close_matches(last[0].upper(), _CLAUSES, 1, 0.7) if last else []
    return f"; did you mean {near[0]} by {last[0]!r}?" if near and near[0] != last[0].upper() else ""
