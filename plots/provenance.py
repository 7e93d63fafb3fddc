"""The provenance of records, and its differences: a figure should not mix two machines or commits."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from cepbench.metrics.record import Record
from cepbench.plots.units import human


def flat(nested: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """`{"versions": {"numpy": "2.0"}}` as `{"versions.numpy": "2.0"}`; every value as text."""
    result: dict[str, str] = {}
    for key, value in nested.items():
        if isinstance(value, Mapping):
            result |= flat(value, f"{prefix}{key}.")
        else:
            entries = value if isinstance(value, list | tuple) else [value]
            result[f"{prefix}{key}"] = ", ".join(map(_worker, entries))
    return result


def _worker(entry: Any) -> str:
    """A worker of a cluster in words; another value as text."""
    if not isinstance(entry, Mapping) or "host" not in entry:
        return str(entry)
    memory = human(entry.get("memory_bytes"), "B")
    parts = (f"{entry.get('cores')} cores", memory, f"Python {entry.get('python')}", entry.get("architecture"))
    return f"{entry['host']} ({', '.join(str(part) for part in parts)})"


def common(records: Iterable[Record]) -> dict[str, str]:
    """The keys and values that are the same in all records."""
    return {key: next(iter(counts)) for key, counts in _counts(records).items() if len(counts) == 1}


def differences(records: Iterable[Record]) -> dict[str, dict[str, int]]:
    """The keys that differ, each with its values and their number of records, most frequent first."""
    return {
        key: dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        for key, counts in _counts(records).items()
        if len(counts) > 1
    }


def _counts(records: Iterable[Record]) -> dict[str, Counter[str]]:
    flattened = [flat(record.provenance) for record in records]
    keys = dict.fromkeys(key for entry in flattened for key in entry)
    return {key: Counter(entry.get(key, "(not recorded)") for entry in flattened) for key in keys}
