"""The schema of a stream's events: types, attributes, time unit."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from cepbench.events.errors import InputError, listed
from cepbench.events.units import check_time_unit

RESERVED = ("time", "type", "_position")


class Kind(StrEnum):
    """The kind of an attribute. Strings are dictionary codes into `Schema.strings`."""

    INT = "int64"
    FLOAT = "float64"
    STRING = "string"


@dataclass(frozen=True)
class Attribute:
    """A named attribute that every event of the stream may carry."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class Schema:
    """Dictionaries and attributes of one stream.

    `types` decodes the type column and `strings` every string attribute: one dictionary for all of them, so that codes
    of different attributes compare. `time_unit` is one of `events.units.NANOSECONDS`. `zone` is how answers show times:
    None for numbers, "" for timestamps without a zone, or the zone of timestamps.
    """

    types: tuple[str, ...]
    attributes: tuple[Attribute, ...] = ()
    time_unit: str = "s"
    strings: tuple[str, ...] = ()
    zone: str | None = None

    def __post_init__(self) -> None:
        check_time_unit(self.time_unit)
        names = [attribute.name for attribute in self.attributes]
        for name in names:
            if name in RESERVED:
                raise InputError(f"attribute {name!r} is a reserved name; choose another")
            if names.count(name) > 1:
                raise InputError(f"attribute {name!r} is declared twice")

    @cached_property
    def _type_codes(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.types)}

    @cached_property
    def _string_codes(self) -> dict[str, int]:
        return {text: code for code, text in enumerate(self.strings)}

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """The kind of each attribute, by name."""
        return {attribute.name: attribute.kind for attribute in self.attributes}

    def type_code(self, name: str) -> int:
        """The code of a type, or -1 when no event of the stream has it."""
        return self._type_codes.get(name, -1)

    def string_code(self, text: str) -> int:
        """The code of a string value, or -1 when no event of the stream carries it."""
        return self._string_codes.get(text, -1)

    def decode(self, attribute: str, values: Sequence[int | float]) -> list[int | float | str]:
        """Stored values of an attribute as answers show them."""
        if self.kinds[attribute] is Kind.STRING:
            return [self.strings[int(value)] for value in values]
        return list(values)


def check_attributes(schema: Schema, needs: Mapping[str, Collection[str]], place: str) -> None:
    """`InputError` that names all attributes that queries need and the stream lacks."""
    absent = sorted({needed for attributes in needs.values() for needed in attributes} - schema.kinds.keys())
    if absent:
        available = listed(schema.kinds) if schema.kinds else "no attributes"
        columns = f"columns {' and '.join(map(repr, absent))} are" if len(absent) > 1 else f"column {absent[0]!r} is"
        raise InputError(f"{place}: {columns} missing; there are {available}")
