"""MCEP's plans against one another and SASE: 8 patterns of three events with two conditions and a common prefix, on
one-minute bars of stocks: events per second of CPU time.

Run by hand: python benchmarks/mcep.py [FILE], with a file of `ticker,yyyyMMddHHmm,open,high,low,close,volume` lines as
the data set `nasdaq` has them; it is repeated, day after day, up to 10,000 events. Without it bars are made up.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import statistics_of
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey
from streams import best_of

EVENTS = 10_000
BATCH = 4096
DAY = 1440
TICKERS = ("MSFT", "DRIV", "ORLY", "CBRL")
SPECIFICATIONS = (
    "mcep[plan=trivial]",
    "mcep[plan=trivial, sharing=prefix]",
    "mcep[plan=sh]",
    "mcep[plan=annealing]",
    "mcep[plan=annealing, costs=executor]",
    "mcep[plan=annealing, sharing=prefix]",
    "sase",
)
PATTERN = (
    "PATTERN SEQ(MSFT a, DRIV b, {last} c) WHERE a.volume < b.volume AND b.{attribute} {op} c.{attribute} "
    "WITHIN {span} minutes PER MATCH"
)
SPANS = (5, 10, 20)


def bars_of(file: Path) -> EventBatch:
    """The bars of a file, repeated."""
    with file.open() as lines:
        rows = [(row[0], row[1], float(row[5]), int(row[6])) for row in csv.reader(lines)]
    minutes = [int(minute[6:8]) * DAY + int(minute[8:10]) * 60 + int(minute[10:12]) for _, minute, _, _ in rows]
    span = max(minutes) - min(minutes) + DAY
    times = EVENTS // len(rows) + 1
    every = [
        (minute - min(minutes) + round_ * span, ticker, close, volume)
        for round_ in range(times)
        for minute, (ticker, _, close, volume) in zip(minutes, rows, strict=True)
    ]
    return _batch(sorted(every, key=lambda row: row[0])[:EVENTS])


def made_up_bars() -> EventBatch:
    """Bars of every ticker in most minutes."""
    random = np.random.default_rng(1)
    ticker, minute = np.tile(np.arange(4), EVENTS // 4), np.repeat(np.arange(EVENTS // 4), 4)
    close = 30 + np.cumsum(random.normal(0, 0.02, EVENTS))
    volume = random.lognormal(8, 2, EVENTS)
    rows = zip(minute.tolist(), [TICKERS[t] for t in ticker], close.tolist(), volume.astype(int).tolist(), strict=True)
    return _batch(list(rows))


def _batch(rows: list[tuple[int, str, float, int]]) -> EventBatch:
    schema = Schema(TICKERS, (Attribute("close", Kind.FLOAT), Attribute("volume", Kind.INT)), "min")
    time, ticker, close, volume = zip(*rows, strict=True)
    return EventBatch(
        schema,
        np.array(time, np.int64),
        np.array([schema.type_code(name) for name in ticker], np.int32),
        {"close": np.array(close), "volume": np.array(volume, np.int64)},
        np.arange(len(rows), dtype=np.int64),
    )


def main() -> None:
    events = bars_of(Path(sys.argv[1])) if len(sys.argv) > 1 else made_up_bars()
    counts = {name: int((events.type == code).sum()) for code, name in enumerate(TICKERS)}
    statistics = statistics_of(counts, int(events.time[0]), int(events.time[-1]))
    for span in SPANS:
        texts = [
            PATTERN.format(last=last, attribute=attribute, op=op, span=span)
            for last in ("ORLY", "CBRL")
            for attribute in ("volume", "close")
            for op in ("<", ">")
        ]
        workload = compile_workload([parse_query(text) for text in texts], events.schema, summarised=True)
        for specification in SPECIFICATIONS:
            algorithm = make(specification)
            plan = algorithm.plan(workload, statistics)
            matches = 0

            def run(algorithm=algorithm, plan=plan) -> None:
                nonlocal matches
                executor = OneKey(algorithm.operator(plan))
                pieces = [events.slice(n, min(n + BATCH, len(events))) for n in range(0, len(events), BATCH)]
                rows = [*(executor.process(piece) for piece in pieces), executor.finish()]
                matches = sum(int(found.matches.sum()) for part in rows for found in part.values())

            seconds = best_of(run)
            print(f"{span:3d} min  {specification:38s} {len(events) / seconds:12,.0f} events/s  {matches:9,d} matches")


if __name__ == "__main__":
    main()
