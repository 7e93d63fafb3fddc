"""How a cell ended."""

from enum import StrEnum


class Status(StrEnum):
    """How a cell ended (docs/measurement.md, Statuses). All but OK keep their reason and are drawn as such."""

    OK = "ok"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    UNSUPPORTED = "unsupported"
    WRONG = "wrong"
    ERROR = "error"
