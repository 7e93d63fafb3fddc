"""Random cases of detection against the oracle, for the algorithms that support it.

300 cases by default; `CEPBENCH_DETECTION_CASES=10000` for as many as one likes.
"""

import os

import pytest

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.oracle import TooManyMatches
from cepbench.verification.agreement import expected_rows
from cepbench.verification.evaluators import answer_of, subject_of
from cepbench.verification.features import DETECTION, all_pairs
from cepbench.verification.random_cases import batch_of, random_case, split
from cepbench.verification.verify import all_cuts, failing_cut, smallest_failure

EACH = 50
FIRSTS = range(0, int(os.environ.get("CEPBENCH_DETECTION_CASES", "300")), EACH)
PAIRS = [pair for pair in all_pairs() if len(pair & DETECTION) == 1 and len(pair) == 2]


def check_random_detection(algorithm: Algorithm, first: int) -> None:
    """`EACH` cases in turns for every feature that queries of detection may have, on every kind of cut."""
    subject, with_rows = subject_of(algorithm), 0
    for seed in range(first, first + EACH):
        case = random_case(seed, PAIRS[seed % len(PAIRS)])
        if any(algorithm.unsupported(query) for query in case.queries):
            continue
        try:
            expected = expected_rows(case, listed=True)
        except TooManyMatches:
            continue
        with_rows += any(expected)
        failing = failing_cut(case, subject, all_cuts(case), expected)
        if failing is not None:
            pytest.fail(str(smallest_failure(failing, subject)))
        batches = split(batch_of(case.events), case.cuts)
        plain, summarised = (
            answer_of(algorithm, case.queries, batches, promise=case.promise, pickled=case.pickled, summarised=flag)
            for flag in (False, True)
        )
        assert summarised.digest() == plain.digest()
        assert summarised.matches == plain.rows == sum(map(len, expected))
    assert with_rows > EACH / 3
