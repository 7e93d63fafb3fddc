"""The statuses of cells."""

from enum import StrEnum


class Status(StrEnum):
    """The end of a cell (docs/measurement.md, Statuses). All but OK keep their reason and are drawn as such."""

    OK = "ok"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    UNSUPPORTED = "unsupported"
    WRONG = "wrong"
    ERROR = "error"
