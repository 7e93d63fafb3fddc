"""Shrinks a failing case: drops events and clauses while it still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from cepbench.events.errors import CepbenchError
from cepbench.queries.model import (
    Aggregates,
    AllOf,
    And,
    AnyOf,
    Comparison,
    Condition,
    CountAll,
    Event,
    In,
    Inverse,
    Local,
    Maybe,
    Not,
    Or,
    Pattern,
    Plus,
    Predicate,
    Query,
    Relation,
    Repeat,
    Semantics,
    Seq,
    Star,
    Term,
    WindowClause,
)
from cepbench.queries.parser import parse_query
from cepbench.queries.printing import to_text
from cepbench.verification.random_cases import Case


def shrink(case: Case, still_fails: Callable[[Case], bool]) -> Case:
    """A case from which nothing more can be dropped while `still_fails` holds.

    Every candidate is smaller than its case in an order without infinite descent, so this ends. A candidate with an
    invalid query does not fail.
    """
    while True:
        for candidate in _smaller(case):
            if _fails(candidate, still_fails):
                case = candidate
                break
        else:
            return case


def _fails(case: Case, still_fails: Callable[[Case], bool]) -> bool:
    try:
        for query in case.queries:
            parse_query(to_text(query))
        return still_fails(case)
    except CepbenchError:
        return False


def _smaller(case: Case) -> Iterator[Case]:
    """Candidates, those that drop the most first."""
    if case.cuts:
        yield replace(case, cuts=())
    if case.pickled:
        yield replace(case, pickled=False)
    if case.promise:
        yield replace(case, promise=False)
    size = len(case.events)
    length = size
    while length:
        for start in range(0, size, length):
            yield _without_events(case, start, min(start + length, size))
        length //= 2
    for queries in _smaller_workloads(case.queries):
        yield replace(case, queries=queries)
    for index in range(len(case.cuts)):
        yield replace(case, cuts=case.cuts[:index] + case.cuts[index + 1 :])
    yield from _simpler_values(case)


def _without_events(case: Case, start: int, stop: int) -> Case:
    """Without events start..stop-1; cuts of batches among the others remain."""
    events = case.events[:start] + case.events[stop:]
    moved = {cut - max(0, min(cut, stop) - start) for cut in case.cuts}
    return replace(case, events=events, cuts=tuple(sorted(cut for cut in moved if 0 < cut < len(events))))


def _simpler_values(case: Case) -> Iterator[Case]:
    """One attribute of all events at a common value, and times closer together."""
    for name in sorted({name for event in case.events for name in event} - {"time", "type"}):
        values = {event[name] for event in case.events}
        if len(values) > 1:
            least = min(values - {None})
            yield replace(case, events=tuple({**event, name: least} for event in case.events))
    times = sorted({event["time"] for event in case.events})
    closer = {time: rank + 1 for rank, time in enumerate(times)}
    if any(time > closer[time] for time in times) and all(time >= closer[time] for time in times):
        yield replace(case, events=tuple({**event, "time": closer[event["time"]]} for event in case.events))


def _smaller_workloads(queries: tuple[Query, ...]) -> Iterator[tuple[Query, ...]]:
    """Without one of several queries, then with one of them smaller."""
    if len(queries) > 1:
        yield from (queries[:index] + queries[index + 1 :] for index in range(len(queries)))
    for index, query in enumerate(queries):
        yield from ((*queries[:index], smaller, *queries[index + 1 :]) for smaller in _smaller_queries(query))


def _smaller_queries(query: Query) -> Iterator[Query]:
    for index in range(len(query.predicates)):
        yield replace(query, predicates=query.predicates[:index] + query.predicates[index + 1 :])
    if query.window is not None:
        yield replace(query, window=None)
        yield from (replace(query, window=window) for window in _smaller_windows(query.window))
    if query.span is not None and query.span.amount > 1:
        yield replace(query, span=replace(query.span, amount=query.span.amount - 1))
    if query.group_by:
        returns = query.returns
        if isinstance(returns, Aggregates):
            returns = replace(returns, group=())
        yield replace(query, group_by=(), returns=returns)
    if isinstance(query.returns, Aggregates):
        items = query.returns.items
        for index in range(len(items) if len(items) > 1 else 0):
            yield replace(query, returns=replace(query.returns, items=items[:index] + items[index + 1 :]))
        if len(items) == 1 and items != (CountAll(),):
            yield replace(query, returns=replace(query.returns, items=(CountAll(),)))
    if query.semantics is not Semantics.ANY:
        yield replace(query, semantics=Semantics.ANY)
    for index, predicate in enumerate(query.predicates):
        for smaller in _smaller_predicates(predicate):
            yield replace(query, predicates=(*query.predicates[:index], smaller, *query.predicates[index + 1 :]))
    for pattern in _smaller_patterns(query.pattern):
        if not isinstance(pattern, Not):
            yield replace(query, pattern=pattern)


def _smaller_windows(window: WindowClause) -> Iterator[WindowClause]:
    """Tumbling windows instead of others, then shorter windows of the same kind."""
    within, slide = window.within.amount, window.slide.amount
    lengths = [] if within == slide else [(within, within)]
    if within > 1 and slide > 1:
        lengths.append((within - 1, slide - 1))
    if within > slide + 1:
        lengths.append((within - 1, slide))
    if slide > within + 1:
        lengths.append((within, slide - 1))
    for shorter_within, shorter_slide in lengths:
        yield WindowClause(replace(window.within, amount=shorter_within), replace(window.slide, amount=shorter_slide))


def _smaller_predicates(predicate: Predicate) -> Iterator[Predicate]:
    """Every predicate with a smaller condition, or without factors and offsets."""
    match predicate:
        case Local(name, condition):
            yield from (Local(name, smaller) for smaller in _smaller_conditions(condition))
        case Comparison(left, _, right):
            plain = replace(predicate, left=replace(left, factor=1), right=replace(right, factor=1))
            yield from (plain,) if plain != predicate else ()
            plain = replace(predicate, left=replace(left, offset=0), right=replace(right, offset=0))
            yield from (plain,) if plain != predicate else ()


def _smaller_conditions(condition: Condition) -> Iterator[Condition]:
    """Every condition with one operator, value, factor or offset less."""
    match condition:
        case Relation(left, op, right):
            for term in _simpler_terms(left):
                yield Relation(term, op, right)
            for term in _simpler_terms(right) if isinstance(right, Term) else ():
                yield Relation(left, op, term)
        case In(attribute, values):
            for index in range(len(values) if len(values) > 1 else 0):
                yield In(attribute, values[:index] + values[index + 1 :])
        case Inverse(part):
            yield part
            yield from (Inverse(smaller) for smaller in _smaller_conditions(part))
        case AllOf(parts) | AnyOf(parts):
            yield from parts
            for index, part in enumerate(parts):
                if len(parts) > 2:
                    yield replace(condition, parts=parts[:index] + parts[index + 1 :])
                for smaller in _smaller_conditions(part):
                    yield replace(condition, parts=(*parts[:index], smaller, *parts[index + 1 :]))


def _simpler_terms(term: Term) -> Iterator[Term]:
    if term.factor != 1:
        yield replace(term, factor=1)
    if term.offset != 0:
        yield replace(term, offset=0)


def _smaller_patterns(pattern: Pattern) -> Iterator[Pattern]:
    """Every pattern with one operator, part, copy or alias less."""
    match pattern:
        case Event(type_name, alias):
            if alias is not None:
                yield Event(type_name)
        case Plus(part) | Star(part) | Maybe(part):
            yield part
            yield from (replace(pattern, part=smaller) for smaller in _smaller_patterns(part))
        case Repeat(part, least, most):
            yield Plus(part) if most is None else part
            if least > 1:
                yield Repeat(part, least - 1, most)
            if most is not None and most > least:
                yield Repeat(part, least, most - 1)
            yield from (replace(pattern, part=smaller) for smaller in _smaller_patterns(part))
        case Not(part):
            yield from (Not(smaller) for smaller in _smaller_patterns(part))
        case Seq(parts) | Or(parts) | And(parts):
            yield from parts
            if isinstance(pattern, Or) and pattern.alias is not None:
                yield Or(parts)
            for index, part in enumerate(parts):
                if len(parts) > 2:
                    yield replace(pattern, parts=parts[:index] + parts[index + 1 :])
                for smaller in _smaller_patterns(part):
                    yield replace(pattern, parts=(*parts[:index], smaller, *parts[index + 1 :]))
