"""What the compilers of sharable sets share: members with the columns of a whole set, and arrays of records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cepbench.events.schema import Schema
from cepbench.queries.aggregates import COUNT_ALL, Layout
from cepbench.queries.automaton import Automaton
from cepbench.queries.compile import Part
from cepbench.queries.names import Names
from cepbench.queries.records import Records, records_of
from cepbench.queries.tables import Columns, Predicates, build_tables

Row = dict[str, Any]
"""The fields of a record."""


def compile_part(automaton: Automaton, layout: Layout, schema: Schema, columns: Columns, names: Names) -> Part:
    """As the query was compiled, but with the columns of the whole set."""
    nothing = Layout((COUNT_ALL,), (), ())
    tables = build_tables(automaton, layout, schema, columns, names)
    return Part(automaton, tables, tuple(compile_part(n, nothing, schema, columns, names) for n in automaton.negations))


def joined(lists: Sequence[Predicates]) -> Predicates:
    """Lists of predicates behind one another, numbered through."""
    sizes = offsets(len(found.one) for found in lists)
    ptr = np.concatenate([[0], *(found.ptr[1:] + at for found, at in zip(lists, sizes, strict=False))])
    return Predicates(ptr.astype(np.int64), np.concatenate([found.one for found in lists]))


def records(record: type, rows: Sequence[Mapping[str, Any]]) -> Records:
    """Rows as an array of records."""
    found = np.zeros(len(rows), records_of(record))
    for name in found.dtype.names or ():
        found[name] = [row[name] for row in rows]
    return found


def offsets(sizes: Iterable[int]) -> list[int]:
    """Where each of some runs begins; behind them, the end of all."""
    return [0, *np.cumsum(list(sizes)).tolist()]


def negated_codes(automaton: Automaton, schema: Schema) -> set[int]:
    """Type codes of all negated events."""
    codes: set[int] = set()
    for negation in automaton.negations:
        codes |= {schema.type_code(position.type) for position in negation.positions}
        codes |= negated_codes(negation, schema)
    return codes - {-1}
