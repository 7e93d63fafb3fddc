"""The origin of rows of a stream, for messages about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cepbench.events.errors import InputError


@dataclass(frozen=True)
class Place:
    """The origin of a block of rows: `before` rows of `file` precede it, perhaps a heading; `called`: names of columns.

    `rows`: which rows of the block were kept, if not all.
    """

    file: str
    before: int = 0
    called: Mapping[str, str] = field(default_factory=dict)
    rows: NDArray[np.int64] | None = field(default=None, compare=False)

    def name(self, column: str) -> str:
        """The input's name of a column."""
        return self.called.get(column, column)

    def error(self, index: int, column: str, problem: str) -> InputError:
        """An error in row `index` (from 0) of the block; users count rows from 1, with the heading."""
        row = self.before + (index if self.rows is None else int(self.rows[index])) + 1
        return InputError(f"{self.file}, row {row}, column {self.name(column)!r}: {problem}")
