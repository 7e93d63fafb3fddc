"""The oracle: answers by enumeration, directly from docs/semantics.md, in exact Python integers.

It reads a query as written (`queries.model`) and events as plain values, and shares nothing with the automaton, the
compiled tables or the kernels that it checks. It is slow and meant to be obviously correct: its time is exponential in
the events of a window, and nothing is computed incrementally.
"""

from cepbench.algorithms.oracle.answering import LIMIT, CannotTally, answer, check_query, needed_attributes, tally
from cepbench.algorithms.oracle.detecting import DetectionMeaning, detection_meaning
from cepbench.algorithms.oracle.matching import TooManyMatches
from cepbench.algorithms.oracle.names import Meaning, Pair, meaning_of
from cepbench.algorithms.oracle.steps import Leaf, Steps
from cepbench.algorithms.oracle.stream import plain_events

__all__ = [
    "LIMIT",
    "CannotTally",
    "DetectionMeaning",
    "Leaf",
    "Meaning",
    "Pair",
    "Steps",
    "TooManyMatches",
    "answer",
    "check_query",
    "detection_meaning",
    "meaning_of",
    "needed_attributes",
    "plain_events",
    "tally",
]
