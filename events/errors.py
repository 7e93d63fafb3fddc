"""The base of every error that a user sees."""


class CepbenchError(Exception):
    """What was wrong, where, and what is allowed, in one line (a query error adds the underlined place)."""


class InputError(CepbenchError):
    """Events that cannot be used: the message names the file, the row and the column."""
