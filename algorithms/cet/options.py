"""The parameters of `cet[...]`, which arrive as strings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cepbench.events.errors import CepbenchError

DETECTORS = ("baseline", "memory", "time", "hybrid")
PARTITIONERS = ("branch-and-bound", "greedy", "exhaustive")
UNITS = {"": 1, "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}
MOST = 16 * 2**30
"""Bytes; stored trends refer to one another by 32-bit words."""

MOST_GRAPHLETS = 10**6

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")


class WrongOption(CepbenchError):
    """A parameter with a value that it cannot take."""


def chosen(name: str, value: str, choices: Sequence[str]) -> str:
    """`value`, which must be one of `choices`."""
    if value not in choices:
        raise WrongOption(f"cet[{name}={value}]: {name} is {', '.join(choices[:-1])} or {choices[-1]}")
    return value


def bytes_of(value: str) -> int:
    """A size such as 64MB, 1GB, 500KB or 4096, in bytes; a KB is 1024 bytes."""
    found = _SIZE.fullmatch(value.strip())
    if found is None or found[2].upper() not in UNITS:
        raise WrongOption(f"cet[memory={value}]: memory is a size such as 64MB, 1GB, 500KB or 4096 (bytes)")
    size = float(found[1]) * UNITS[found[2].upper()]
    if not 1 <= size <= MOST:
        raise WrongOption(f"cet[memory={value}]: memory is at least 1 byte and at most {MOST // 2**30}GB")
    return int(size)


def graphlets_of(value: str) -> int | None:
    """A number of graphlets, or None for `searched`."""
    if value == "searched":
        return None
    if not value.isdecimal() or not 0 < float(value) <= MOST_GRAPHLETS:
        raise WrongOption(f"cet[graphlets={value}]: graphlets is searched or a whole number from 1 to a million")
    return int(value)


def ratio_of(value: str) -> float:
    """How many times larger the first graphlet is."""
    try:
        ratio = float(value)
    except ValueError:
        ratio = 0.0
    if not 1 <= ratio <= 1e6:
        raise WrongOption(f"cet[ratio={value}]: ratio is a number from 1 to a million")
    return ratio
