"""The base of every error that a user sees, what is none, and choices where a name is unknown."""

from collections.abc import Iterable
from difflib import get_close_matches


class CepbenchError(Exception):
    """What was wrong, where, and what is allowed, in one line (a query error adds the underlined place)."""


class InputError(CepbenchError):
    """Events that cannot be used: the message names the file, the row and the column."""


def choices(name: str, known: Iterable[str], more: str = "") -> str:
    """What may stand in place of an unknown name, and which of it is near, for the end of a message.

    >>> choices("creta", ["greta", "cogra"])
    'choose one of greta, cogra; did you mean greta?'
    """
    names = list(known)
    near = get_close_matches(name.lower(), names, 1)
    return f"choose one of {', '.join(names)}{more}" + (f"; did you mean {near[0]}?" if near else "")


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an interrupt is behind an error: compilers wrap whatever stops them."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False
