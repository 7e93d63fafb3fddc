"""Random workloads of queries that share sub-patterns, and streams in bursts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from cepbench.algorithms.trends.greta import Greta
from cepbench.queries.compile import compile_workload
from cepbench.queries.errors import QueryError
from cepbench.queries.model import Query
from cepbench.queries.parser import parse_query
from cepbench.verification.random_cases import Case, batch_of, random_cuts

TYPES = "ABCD"
WINDOWS = ("", "WITHIN 8 s", "WITHIN 12 s SLIDE 4 s", "WITHIN 6 s SLIDE 2 s", "WITHIN 9 s SLIDE 4 s",
           "WITHIN 3 s SLIDE 5 s", "WITHIN 5 s SLIDE 1 s", "WITHIN 7 EVENTS SLIDE 3 EVENTS")  # fmt: skip
SHARED = ("{}+", "SEQ({0}+, {1})", "SEQ({1}, {0}+)", "SEQ({1}, {0}+, {2})", "(SEQ({1}, {0}+))+", "(SEQ({0}+, {1}))+",
          "SEQ({1}?, {0}+)", "SEQ({1}+, {0}+)", "SEQ({1}, NOT {2}, {0}+)", "SEQ({0}+, NOT {2}, {1})",
          "SEQ(NOT {1}, {0}+)", "SEQ({0}+, NOT {1})", "SEQ({0}+, NOT SEQ({1}, {2}), {3})",
          "SEQ({0}+, NOT SEQ({1}, {2}))", "SEQ({0}+, {1}, {0}+)", "SEQ({1}, NOT {0}, {2}+)",
          "SEQ({1}, NOT SEQ({2}, {3}), {0}+)", "{0}+ | SEQ({0}, {1})", "{0}+ & SEQ({0}+, {1})",
          "SEQ({1}, {0}*, {2})", "{0}{{2,}}", "SEQ({0}, {1})")  # fmt: skip
SEQUENCES = ("SEQ({0}, {1})", "SEQ({0}, {1}, {2})", "SEQ({1}, {0}, {2})", "SEQ({0}, {1}, {2}, {3})",
             "SEQ({1}, {2}, {3})", "SEQ({0}, {2}, {3})", "SEQ({0}, {1}?, {2})", "SEQ({0}, {1}, {0})",
             "SEQ({0}, ({1} | {2}), {3})", "SEQ({0}, {1}, NOT {2}, {3})", "SEQ({0}, {1}, {0}, {2})",
             "SEQ(NOT {3}, {0}, {1}, {2})", "SEQ({0}, {1}, {2}, NOT {3})")  # fmt: skip
KLEENE = ("(SEQ({0}, {1}))+", "SEQ({2}, (SEQ({0}, {1}))+)", "SEQ((SEQ({0}, {1}))+, {2})",
          "(SEQ({2}, (SEQ({0}, {1}))+))+", "SEQ({2}, (SEQ({0}, {1}))+, {3})",
          "(SEQ((SEQ({2}, (SEQ({0}, {1}))+))+, {3}))+", "(SEQ({0}, {1}, {2}))+", "(SEQ({0}, {1}+))+",
          "(SEQ({0}?, {1}))+", "SEQ({3}, (SEQ({0}, {1}, {2}?))+)", "(SEQ({0}, NOT {2}, {1}))+",
          "(SEQ({0}, {1}))+ | SEQ({2}, {1})", "(SEQ({0}, {1}))+ & SEQ({0}, {1})", "({0} | {1})+",
          "SEQ({0}, ({1} | {2})+, {3})", "SEQ(NOT {2}, (SEQ({0}, {1}))+)", "SEQ((SEQ({0}, {1}))+, NOT {2})",
          "SEQ((SEQ({0}, {1}))+, NOT SEQ({2}, {3}))", "SEQ((SEQ({0}, {1}))+, NOT SEQ({2}, {3}), {0})")  # fmt: skip
LONG_WINDOWS = ("", "WITHIN 120 s SLIDE 40 s", "WITHIN 30 s SLIDE 10 s")
ITEMS = ("COUNT({})", "MIN({}.x)", "MAX({}.x)", "SUM({}.x)", "AVG({}.x)", "SUM({}.y)", "MAX({}.y)", "AVG({}.y)")


@dataclass(frozen=True)
class Bursts:
    """Types of the events, how likely the next one is of the same, and how many there may be."""

    types: str = "AAABBCDZ"
    stays: tuple[float, ...] = (0.3, 0.6, 0.85)
    sizes: tuple[int, ...] = (5, 12, 18)


BURSTS = Bursts()
SHORT_BURSTS = Bursts("AABBCCDDZ", (0.0, 0.3, 0.6), (12, 18, 24))


def random_workload(
    seed: int, most: int = 24, patterns: Sequence[str] = SHARED, orders: int = 0, bursts: Bursts = BURSTS
) -> Case:
    """Up to seven queries, most of which share A+, and up to `most` events in bursts.

    Or queries of other `patterns`, whose types are mostly in one of so many `orders`.
    """
    random = Random(seed)
    known = [random.sample(TYPES, 4) for _ in range(orders)]
    grouped = random.random() < 0.3
    windows = random.sample(WINDOWS, random.choice((1, 1, 2, 3)))
    alike = random.random() < 0.6
    items = [_item(random) for _ in range(random.choice((0, 0, 1, 2)))]
    queries = tuple(
        _query(
            random, n, patterns, known, grouped=grouped, window=random.choice(windows), items=items if alike else None
        )
        for n in range(1, random.randint(2, 7) + 1)
    )
    events = random_bursts(random, grouped, random.choice((*bursts.sizes, most)), bursts)
    if seed % 8 == 7:
        events = alternating(events, TYPES[1 + seed // 8 % 3])
    cuts = random_cuts(random, len(events)) if random.random() < 0.8 else ()
    return Case(seed, queries, events, cuts, promise=random.random() < 0.5, pickled=random.random() < 0.3)


def long_workload(seed: int) -> Case:
    """As `random_workload`, with streams and windows whose counts mostly overflow: too long for the oracle."""
    random = Random(seed)
    queries = tuple(
        _query(random, n, SHARED, [], grouped=False, window=random.choice(LONG_WINDOWS), items=[_item(random)])
        for n in range(1, 9)
    )
    events = random_bursts(random, False, random.choice((200, 400)))
    return Case(seed, queries, events, random_cuts(random, len(events)), promise=random.random() < 0.5)


def _query(
    random: Random,
    number: int,
    patterns: Sequence[str],
    orders: list[list[str]],
    *,
    grouped: bool,
    window: str,
    items: list[str] | None,
) -> Query:
    while True:
        names = random.sample(TYPES, 4)
        if orders and random.random() < 0.8:
            names = list(random.choice(orders))
        elif not orders and random.random() < 0.8:
            names.remove("A")
            names.insert(0, "A")
        pattern = random.choice(patterns).format(*names)
        conditions = _conditions(random, names[0]) + (_conditions(random, names[1]) if random.random() < 0.2 else [])
        if random.random() < 0.15:
            conditions.append(f"{names[1]}.x {random.choice('<>')} {names[0]}.x")
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        group = "GROUP-BY g" if grouped else ""
        asked = [_item(random) for _ in range(random.choice((0, 0, 1, 2)))] if items is None else items
        counted = [item.replace("@", names[0] if item.endswith("0") else names[1])[:-1] for item in asked]
        if "&" in pattern:
            counted = []
        returned = ", ".join(dict.fromkeys((["COUNT(*)"] if not counted or random.random() < 0.5 else []) + counted))
        text = f"q{number}: RETURN {returned} PATTERN {pattern} {where} {group} {window}"
        try:
            query = parse_query(text)
            compile_workload([query], batch_of(()).schema)
            if Greta().unsupported(query):
                continue
            return query
        except QueryError:
            continue


def _item(random: Random) -> str:
    return random.choice(ITEMS).format("@") + random.choice("001")


def _conditions(random: Random, name: str) -> list[str]:
    conditions = []
    if random.random() < 0.25:
        conditions.append(f"{name}.x {random.choice(('<', '>='))} {random.choice((0, 1, 3))}")
    if random.random() < 0.25:
        conditions.append(f"{name}.x {random.choice(('<', '<=', '!='))} NEXT({name}).x")
    return conditions


def random_bursts(random: Random, grouped: bool, size: int, bursts: Bursts = BURSTS) -> tuple[Mapping[str, Any], ...]:
    """Runs of events of one type, with ties."""
    time, kind, events = random.choice((0, 3)), "A", []
    ties, stays = random.choice((0.0, 0.2, 0.5)), random.choice(bursts.stays)
    for _ in range(size):
        if random.random() > stays:
            kind = random.choice(bursts.types)
        events.append(_event(random, time, kind, 2 if grouped else 1))
        time += 0 if random.random() < ties else random.choice((1, 1, 1, 2, 4))
    return tuple(events)


def alternating(events: tuple[Mapping[str, Any], ...], other: str) -> tuple[Mapping[str, Any], ...]:
    """The first three quarters become A B A B, so that each event is a burst."""
    last = len(events) * 3 // 4
    return tuple({**event, "type": ("A", other)[n % 2]} if n < last else event for n, event in enumerate(events))


def _event(random: Random, time: int, kind: str, groups: int) -> dict[str, Any]:
    x, y = random.randint(-3, 5), random.randint(-8, 8) / 4
    return {"time": time, "type": kind, "x": x, "y": y, "g": random.randint(1, groups), "h": 1, "s": "u"}
