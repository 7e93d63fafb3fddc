"""The base class of all errors that a user sees, interrupts, and the choices for an unknown name."""

from collections.abc import Iterable
from difflib import get_close_matches


class CepbenchError(Exception):
    """An error in one line: what was wrong, where, and the choices (a query error adds the underlined place)."""


class InputError(CepbenchError):
    """Events that cannot be used: the message names the file, the row and the column."""


MOST_LISTED = 20
"""The most names that a message lists."""


def choices(name: str, allowed: Iterable[str], more: str = "") -> str:
    """The valid names in place of an unknown one, and the nearest, for the end of a message.

    Of many names, only those that contain the unknown one or resemble it are listed.

    >>> choices("creta", ["greta", "cogra"])
    'choose one of greta, cogra; did you mean greta?'
    >>> choices("13.1", [f"greta-{chapter}.1" for chapter in range(30)])
    'choose one of 30 names; did you mean greta-13.1?'
    """
    names = list(allowed)
    close = get_close_matches(name.lower(), names, 1 if len(names) <= MOST_LISTED else 3)
    if len(names) <= MOST_LISTED:
        return f"choose one of {', '.join(names)}{more}" + (f"; did you mean {close[0]}?" if close else "")
    near = [candidate for candidate in names if name and name.lower() in candidate.lower()] or close
    meant = f"did you mean {' or '.join(near[:3])}?" if near else f"for example {', '.join(names[:3])}"
    return f"choose one of {len(names)} names{more}; {meant}"


def listed(names: Iterable[str]) -> str:
    """Names separated by commas, quoted where they begin or end with blanks.

    >>> listed(["time", " type"])
    "time, ' type'"
    """
    return ", ".join(name if name == name.strip() else repr(name) for name in map(str, names)) or "none"


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an interrupt caused an error: compilers wrap what stops them."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False
