"""CORE here against the real engine (PyPI `pycer` 0.1.6), on the same streams, and whether their matches are the same.

    python -m cepbench.benchmarks.core_engine [--events 200000]

The engine is installed (docs/engines.md), and runs in a process of its own. Both read all events at once. Of the engine
the time is that of its process from the first event until all output is there, less that of a call without events. A
query whose first type never comes shows what sending events from Python takes (the floor). The engine writes matches as
text, `core` as rows.
"""

from __future__ import annotations

import argparse

from cepbench.algorithms.detection.core.automaton import SubsetAutomaton
from cepbench.algorithms.detection.core.runs import Runs
from cepbench.algorithms.engine.batches import kernel_events
from cepbench.algorithms.external.core_engine.engine import Engine
from cepbench.algorithms.rows import MatchRows
from cepbench.benchmarks.core import TYPES, compiled, stream

NEVER = "L"


def ours(types: list[str], window: int, size: int, kinds: int) -> tuple[float, float, list[list[int]]]:
    """Seconds of the updates, of the enumeration, and the matches."""
    query, events = compiled(f"PATTERN SEQ({', '.join(types)}) WITHIN {window} events PER MATCH"), stream(size, kinds)
    batch = kernel_events(query.columns, events)
    for _ in range(2):  # the first run is a warm-up
        runs = Runs(query.parts[0], SubsetAutomaton.of(query.parts[0]), query.reach, True, digests=False)
        parts = [part for part in runs.read(batch, events.position) if isinstance(part, MatchRows)]
    listed = [
        part.positions[a:b].tolist() for part in parts for a, b in zip(part.offsets, part.offsets[1:], strict=False)
    ]
    return runs.update_seconds, runs.enumeration_seconds, listed


def main() -> None:
    """All of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=200_000)
    size = parser.parse_args().events
    engine = Engine()
    cases = [
        (["A", "B", "C", NEVER], 9, 100, size),
        (["A", "B", "C", NEVER], 9, 10_000, size),
        (["A", "B", "C"], 9, 100, size // 10),
        (["A", "B", "C", "D", "E"], 11, 100, size // 10),
        (["A", "B+", "C"], 9, 30, size // 10),
        (["A", "B+", "C", "D+", "E"], 11, 30, size // 10),
    ]
    print("pattern, window: engine / core, seconds")
    for types, kinds, window, events in cases:
        kind = stream(events, kinds).type.tolist()
        head = list(TYPES), kind, [list(range(events))]
        text = f"({'; '.join(f'{name} as v{n}' for n, name in enumerate(types))})"
        span = f"{window - 1} EVENTS"  # that follow the first one
        empty = engine.run(text, span, list(TYPES), [], [[]])["process"]
        floor = engine.run(f"({NEVER} as v0; A as v1)", span, *head)["process"] - empty
        answer = engine.run(text, span, *head)
        spent = answer["process"] - empty
        update, enumerated, matches = ours(types, window, events, kinds)
        same = sorted(matches) == sorted(sorted(match) for match in answer["matches"])
        alike = "the same" if same else "NOT the same"
        print(
            f"  SEQ({', '.join(types)}), {window:,} events, {events:,} read: {spent:.3f} (floor {floor:.3f}) / "
            f"{update:.4f} updates + {enumerated:.4f} enumeration; {len(answer['matches']):,} / {len(matches):,} "
            f"matches, {alike}; {spent / (update + enumerated):,.0f} times"
        )
    engine.close()


if __name__ == "__main__":
    main()
