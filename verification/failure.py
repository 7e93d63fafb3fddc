"""A wrong answer as a text that can be run again."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

from cepbench.queries.printing import to_text
from cepbench.verification.agreement import expected_rows, frame_of
from cepbench.verification.random_cases import Case


@dataclass(frozen=True)
class Failure:
    """The smallest failing case found, and the reason; `answered` is the wrong answer, or the error."""

    case: Case
    reason: str
    answered: str

    def __str__(self) -> str:
        """The queries, the events as CSV, the cuts of batches, the right answer and the given one."""
        queries = "\n\n".join(to_text(query) for query in self.case.queries)
        return (
            f"seed {self.case.seed}: {self.reason}\n\n{queries}\n\n{_csv(self.case)}\n"
            f"{_batches(self.case)}\n\nexpected:\n{_expected(self.case)}\n\nanswered:\n{self.answered}"
        )


def _batches(case: Case) -> str:
    if not case.cuts:
        return "in one batch"
    how = f"batches end before events {', '.join(map(str, case.cuts))} (counted from 0)"
    how += ", each with the time of the next event" if case.promise else ""
    return how + (", executors pickled after each" if case.pickled else "")


def _csv(case: Case) -> str:
    """The events with the attributes that the queries name."""
    words = {word for query in case.queries for word in re.findall(r"\w+", to_text(query))}
    attributes = dict.fromkeys(name for event in case.events for name in event if name in words)
    names = list(dict.fromkeys(("time", "type", *attributes)))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(case.events)
    return text.getvalue()


def _expected(case: Case) -> str:
    rows = [row for rows in expected_rows(case) for row in rows]
    return str(frame_of(rows).to_string(index=False)) if rows else "no rows"
