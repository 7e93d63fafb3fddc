"""Errors of data sets."""

from cepbench.events.errors import CepbenchError


class DatasetError(CepbenchError):
    """A data set that does not exist or is declared wrongly: one line that says what is allowed."""
