"""Values of Sharon's parameters, which arrive as text."""

from __future__ import annotations

import re

from cepbench.events.errors import CepbenchError

_SIZE = re.compile(r"(\d+)\s*(MB|GB)", re.IGNORECASE)
_UNITS = {"MB": 2**20, "GB": 2**30}


def chosen(name: str, value: str, choices: tuple[str, ...]) -> str:
    """One of some words."""
    if value not in choices:
        raise CepbenchError(f"sharon: unknown {name} {value!r}; choose {', '.join(choices)}")
    return value


def positive(name: str, text: str) -> float:
    """A number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0:
        raise CepbenchError(f"sharon: {name} must be a positive number, not {text!r}")
    return number


def size(name: str, text: str) -> int:
    """Bytes of `256MB` or `2GB`."""
    found = _SIZE.fullmatch(text.strip())
    if found is None or int(found[1]) == 0:
        raise CepbenchError(f"sharon: {name} must be a size such as 256MB or 2GB, not {text!r}")
    return int(found[1]) * _UNITS[found[2].upper()]
