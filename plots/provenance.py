"""Where records come from, and where that differs: numbers of two machines or commits do not belong in one figure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from cepbench.metrics.record import Record


def flat(nested: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """`{"versions": {"numpy": "2.0"}}` as `{"versions.numpy": "2.0"}`; every value as text."""
    result: dict[str, str] = {}
    for key, value in nested.items():
        if isinstance(value, Mapping):
            result |= flat(value, f"{prefix}{key}.")
        else:
            result[f"{prefix}{key}"] = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return result


def common(records: Iterable[Record]) -> dict[str, str]:
    """What is the same in all records."""
    return {key: next(iter(counts)) for key, counts in _counts(records).items() if len(counts) == 1}


def differences(records: Iterable[Record]) -> dict[str, dict[str, int]]:
    """What is not: for each key the values and how many records have each, most frequent first."""
    return {
        key: dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        for key, counts in _counts(records).items()
        if len(counts) > 1
    }


def _counts(records: Iterable[Record]) -> dict[str, Counter[str]]:
    flattened = [flat(record.provenance) for record in records]
    keys = dict.fromkeys(key for entry in flattened for key in entry)
    return {key: Counter(entry.get(key, "(not recorded)") for entry in flattened) for key in keys}
