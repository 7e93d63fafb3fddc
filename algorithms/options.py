"""Parses the values of parameters such as `cet[memory=64MiB]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cepbench.events.errors import CepbenchError
from cepbench.events.units import in_bytes

GREATEST = 10**6
"""The upper bound of numbers without another bound."""


class WrongOption(CepbenchError):
    """A parameter has a value that is not allowed."""


@dataclass(frozen=True)
class Option:
    """The text given for a parameter of an algorithm. All methods raise `WrongOption` with the allowed values."""

    algorithm: str
    name: str
    text: str

    def among(self, choices: Sequence[str]) -> str:
        """One of at least two words."""
        if self.text not in choices:
            raise self._wrong(f"{', '.join(choices[:-1])} or {choices[-1]}")
        return self.text

    def whole(self, instead: str) -> int | None:
        """A whole number from 1 to a million, or None for the word `instead`."""
        if self.text == instead:
            return None
        if not self.text.isdecimal() or not 1 <= float(self.text) <= GREATEST:
            raise self._wrong(f"{instead} or a whole number from 1 to a million")
        return int(self.text)

    def count(self, least: int) -> int:
        """A whole number from `least` to a million."""
        if not self.text.isdecimal() or not least <= float(self.text) <= GREATEST:
            raise self._wrong(f"a whole number from {least} to a million")
        return int(self.text)

    def ratio(self) -> float:
        """A factor: a number from 1 to a million."""
        found = self._number()
        if not 1 <= found <= GREATEST:
            raise self._wrong("a number from 1 to a million")
        return found

    def positive(self) -> float:
        """A number above 0, e.g. of seconds."""
        found = self._number()
        if not found > 0:
            raise self._wrong("a positive number")
        return found

    def size(self, most: int) -> int:
        """A number of bytes from 1 to `most`, which is a multiple of 1 GiB."""
        try:
            found = in_bytes(self.text)
        except ValueError as error:
            raise self._wrong(str(error)) from None
        if not 1 <= found <= most:
            raise self._wrong(f"at least 1 byte and at most {most // 2**30}GiB")
        return found

    def _number(self) -> float:
        try:
            return float(self.text)
        except ValueError:
            return 0.0

    def _wrong(self, allowed: str) -> WrongOption:
        return WrongOption(f"{self.algorithm}[{self.name}={self.text}]: {self.name} is {allowed}")
