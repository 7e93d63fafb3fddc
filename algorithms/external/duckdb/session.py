"""The connection to DuckDB: one per process, in memory, with one thread; and whether DuckDB is installed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cepbench.algorithms.base import NotEnoughMemory
from cepbench.algorithms.external import packages
from cepbench.events.errors import CepbenchError

if TYPE_CHECKING:
    import duckdb

UNMAPPED = "failed to map segment from shared object"
"""The message of the loader of libraries where the address space is too small."""
INTERRUPTED = "Query interrupted"
"""The message of DuckDB in place of the exception of a signal."""


class DuckDBFailed(CepbenchError):
    """DuckDB is missing, or did not execute a statement; the message has its reason."""


def missing() -> str | None:
    """Why DuckDB cannot run on this machine, in one line; None if it can."""
    return packages.missing(packages.DUCKDB)


def rows_of_statement(sql: str, events: Mapping[str, NDArray[Any]]) -> pa.Table:
    """The rows that a statement returns for the table `events`, which DuckDB reads in place.

    Raises `DuckDBFailed` and `NotEnoughMemory`.
    """
    connection = current()
    import duckdb

    try:
        connection.register("events", pa.table(dict(events)))
        with warnings.catch_warnings():
            # It advises `connection.sql(...)`, which copies no rows, but plans each statement twice.
            warnings.filterwarnings("ignore", message="Arrow output on a DB-API result")
            return connection.execute(sql).to_arrow_table()
    except RuntimeError as error:
        if str(error) == INTERRUPTED:
            raise KeyboardInterrupt from error
        raise
    except (duckdb.Error, MemoryError) as error:
        raise _failure(error) from None
    finally:
        connection.unregister("events")


def current() -> duckdb.DuckDBPyConnection:
    """The connection of this process, which a fork does not inherit. Raises `DuckDBFailed` and `NotEnoughMemory`."""
    pid = os.getpid()
    if pid not in _connections:
        reason = missing()
        if reason is not None:
            raise DuckDBFailed(reason)
        packages.importable(packages.DUCKDB)
        try:
            import duckdb

            connection = duckdb.connect(":memory:", config={"threads": 1, "temp_directory": ""})
            connection.execute("SET enable_progress_bar = false")  # it prints to the user's terminal
            _connections[pid] = connection
        except Exception as error:  # of the loader of libraries, and of DuckDB
            raise _failure(error) from None
    return _connections[pid]


def numbers(column: pa.ChunkedArray, nothing: int | float = 0) -> NDArray[Any]:
    """A column as an array; `nothing` replaces null."""
    values: NDArray[Any] = column.fill_null(nothing).to_numpy()
    return np.ascontiguousarray(values)


_connections: dict[int, duckdb.DuckDBPyConnection] = {}
"""By process: a fork keeps that of its parent, unused."""


def _failure(error: Exception) -> CepbenchError:
    """An error of DuckDB in one line."""
    text = next(iter(str(error).splitlines()), type(error).__name__)
    lacks = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException" or UNMAPPED in text
    return (NotEnoughMemory if lacks else DuckDBFailed)(f"DuckDB: {text}")
