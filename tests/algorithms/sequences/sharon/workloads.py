"""Sequences written as strings of one-letter types."""

from collections.abc import Iterable

from cepbench.algorithms.engine.event_sequence import Sequence, Symbol


def symbols(text: str) -> tuple[Symbol, ...]:
    """One symbol per letter."""
    return tuple(Symbol(letter) for letter in text)


def sequences(texts: Iterable[str]) -> list[Sequence]:
    """A sequence per text; `!x` negates x in the gap where it stands."""
    return [_sequence(number, text) for number, text in enumerate(texts)]


def _sequence(number: int, text: str) -> Sequence:
    places: list[str] = []
    negated: dict[int, frozenset[Symbol]] = {}
    letters = iter(text)
    for letter in letters:
        if letter == "!":
            negated[len(places) - 1] = negated.get(len(places) - 1, frozenset()) | {Symbol(next(letters))}
        else:
            places.append(letter)
    gaps = tuple(negated.get(gap, frozenset()) for gap in range(len(places) - 1))
    return Sequence(number, tuple(range(len(places))), symbols("".join(places)), gaps)
