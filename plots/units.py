"""Numbers with prefixes: 10 k, 1 M, 250 ms, 1.2 MB (decimal, as on the axes of the papers)."""

from math import floor, isfinite, log10

Step = tuple[float, str]  # factor and the printed unit

_SECONDS: tuple[Step, ...] = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))
_BYTES: tuple[Step, ...] = ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"))
_COUNTS: tuple[Step, ...] = ((1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T"))


def steps(unit: str) -> tuple[Step, ...]:
    """The prefixes of a unit, smallest first; units other than s and B are counts."""
    return {"s": _SECONDS, "B": _BYTES}.get(unit, _COUNTS)


def step(value: float, unit: str) -> Step:
    """The largest prefix for which the number is at least 1; otherwise the smallest prefix."""
    size = abs(value) * (1 + 1e-9)
    fitting = [choice for choice in steps(unit) if choice[0] <= size]
    if not fitting:
        return steps(unit)[0] if unit in ("s", "B") and value else _plain(unit)
    return fitting[-1]


def human(value: float | None, unit: str = "", digits: int = 3) -> str:
    """`1.25 MB`, `10 k`, `310 k events/s`; an en dash for None, and ∞ for infinity."""
    if value is None:
        return "–"
    if not isfinite(value):
        return "∞" if value > 0 else ("−∞" if value < 0 else "not a number")
    value = _rounded(value, digits)
    factor, printed = step(value, unit)
    number = _number(value / factor, digits)
    suffix = "" if unit in ("s", "B") else unit
    return " ".join(part for part in (number, printed, suffix) if part)


def tick(value: float, unit: str) -> str:
    """A tick label: like `human`, without the unit of counts, which is in the axis label; 1 125 instead of 1.125 k."""
    if unit == "ms":  # the unit has a prefix already
        return plain(value)
    prefixed = unit if unit in ("s", "B") else ""
    text = human(value, prefixed, digits=4)
    return plain(value) if not prefixed and "." in text and abs(value) < 1e4 and len(text) > len("1.25 k") else text


def plain(value: float, digits: int = 4) -> str:
    """A number without a prefix: 27.3, 1 234, 1.2e+08."""
    if not isfinite(value):
        return human(value)
    return _number(value, digits) if 1e-4 <= abs(value) < 1e7 or value == 0 else f"{value:.{digits - 1}g}"


def _plain(unit: str) -> Step:
    return next(choice for choice in steps(unit) if choice[0] == 1.0)


def _rounded(value: float, digits: int) -> float:
    """Rounded before a prefix is chosen, so that 999.96 ms becomes 1 s and not 1000 ms."""
    return round(value, digits - 1 - floor(log10(abs(value)))) if value else 0.0


def _number(value: float, digits: int) -> str:
    rounded = _rounded(value, digits)
    whole = f"{rounded:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    return whole if abs(rounded) >= 10 ** (digits - 1) else f"{rounded:.{digits}g}"
