"""The base of every error that a user sees, and what is none."""


class CepbenchError(Exception):
    """What was wrong, where, and what is allowed, in one line (a query error adds the underlined place)."""


class InputError(CepbenchError):
    """Events that cannot be used: the message names the file, the row and the column."""


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an interrupt is behind an error: compilers wrap whatever stops them."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False
