"""The base class of all errors that a user sees, interrupts, and the choices for an unknown name."""

from collections.abc import Iterable
from difflib import get_close_matches


class CepbenchError(Exception):
    """An error in one line: what was wrong, where, and the choices (a query error adds the underlined place)."""


class InputError(CepbenchError):
    """Events that cannot be used: the message names the file, the row and the column."""


def choices(name: str, known: Iterable[str], more: str = "") -> str:
    """The valid names in place of an unknown one, and the nearest, for the end of a message.

    >>> choices("creta", ["greta", "cogra"])
    'choose one of greta, cogra; did you mean greta?'
    """
    names = list(known)
    near = get_close_matches(name.lower(), names, 1)
    return f"choose one of {', '.join(names)}{more}" + (f"; did you mean {near[0]}?" if near else "")


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an interrupt caused an error: compilers wrap what stops them."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False
