"""Random plans of the optimizers: valid ones, which differ by their seeds, and which no optimal plan exceeds in
cost."""

import numpy as np
import pandas as pd
import pytest

from cepbench import evaluate
from cepbench.algorithms.registry import make
from cepbench.events.reading import reading_of
from cepbench.pipeline.in_process import whole_stream
from cepbench.pipeline.jobs import prepare
from cepbench.queries.workloads import parse_workload
from tests.generators.streams import stream

SEEDS = range(1, 9)
SEQUENCES = "; ".join(
    f"RETURN COUNT(*) PATTERN SEQ({names}) WITHIN 40 s" for names in ("A, B, C, D", "B, C, D, A", "A, B, C", "D, A, B")
)
TRENDS = "; ".join(
    f"RETURN COUNT(*) PATTERN SEQ({names}) {where} WITHIN 40 s"
    for names, where in (("A, B+", ""), ("C, B+", "WHERE B.value > 300"), ("D, B+", ""))
)
MATCHES = "; ".join(
    f"RETURN MATCHES PATTERN SEQ({names}) WITHIN 9 s PER MATCH" for names in ("A, B, C", "A, B, D", "B, C, D")
)
TREND = "RETURN COMPLETE MATCHES PATTERN A+ WITHIN 12 s"


def events() -> pd.DataFrame:
    batch = stream("uniform", events=120, types=4, seed=7)
    types = [batch.schema.types[code] for code in batch.type]
    return pd.DataFrame({"time": batch.time, "type": types, "value": batch.columns["value"].astype(np.int64)})


@pytest.mark.parametrize(
    ("queries", "best", "random", "cost"),
    [
        (SEQUENCES, "sharon[optimizer=integer]", "sharon[optimizer=random, seed={}]", "model_cost"),
        (
            TRENDS,
            "gloria[costs=paper, optimizer=exact]",
            "gloria[costs=paper, optimizer=random, seed={}]",
            "plan_weight",
        ),
        (MATCHES, "mcep[stop=3000]", "mcep[plan=random, seed={}]", "cost"),
    ],
    ids=["sharon", "gloria", "mcep"],
)
def test_random_plans_differ_and_none_costs_less_than_the_best(queries: str, best: str, random: str, cost: str) -> None:
    frame = events()
    schema, _, statistics, _ = whole_stream(frame, parse_workload(queries), reading_of("s", None), lambda line: None)

    def costs(name: str) -> float:
        return prepare(parse_workload(queries), make(name), schema, "modular", statistics).details[cost]

    drawn = [costs(random.format(seed)) for seed in SEEDS]
    assert len(set(drawn)) > 1
    assert min(drawn) >= costs(best) * (1 - 1e-9)
    assert costs(random.format(3)) == drawn[2]  # the same seed, the same plan


@pytest.mark.parametrize(
    ("queries", "exact", "random"),
    [
        (SEQUENCES, "aseq", "sharon[optimizer=random, seed={}]"),
        (TRENDS, "cogra", "gloria[optimizer=random, seed={}]"),
        (TRENDS, "cogra", "hamlet[sharing=random, seed={}]"),
        (TRENDS, "cogra", "hamlet[sharing=random, granularity=event, seed={}]"),
        (MATCHES, "core", "mcep[plan=random, seed={}]"),
        (TREND, "cet[detect=time]", "cet[partition=random, seed={}]"),
    ],
    ids=["sharon", "gloria", "hamlet", "hamlet visits", "mcep", "cet"],
)
def test_all_random_plans_give_the_same_answer(queries: str, exact: str, random: str) -> None:
    frame = events()
    expected = evaluate(queries, frame, exact)
    for seed in SEEDS:
        assert evaluate(queries, frame, random.format(seed)).equals(expected)
