"""Spark SQL expressions of several data sets: times without a time zone, and the attributes `score` and `bound`."""

from cepbench.datasets.base import Derived
from cepbench.events.schema import Kind

_MANTISSA = 2**53


def days(text: str) -> str:
    """Days since 1970 of a text that begins with yyyy-MM-dd; null if it is not a date.

    Dates are counted without a time zone: Spark's functions of time stamps would apply the session's.
    """
    return f"CAST(unix_date(try_cast(substring({text}, 1, 10) AS DATE)) AS BIGINT)"


def seconds(text: str) -> str:
    """Seconds since 1970 of a text that begins with yyyy-MM-dd HH:mm:ss (any character for the blank), in the text's
    own time zone.
    """
    parts = [f"try_cast(substring({text}, {start}, 2) AS BIGINT)" for start in (12, 15, 18)]
    return f"{days(text)} * 86400 + {parts[0]} * 3600 + {parts[1]} * 60 + {parts[2]}"


def selective(*columns: str) -> tuple[Derived, ...]:
    """`score` and `bound` as in generators with selectivity 0.5: uniform in [0, 1), by hashes of raw columns.

    Real data sets have no such attributes. They are independent of the measured values, and rows that are equal in
    `columns` have equal ones.
    """

    def uniform(salt: str) -> str:
        values = ", ".join(f"`{column}`" for column in columns)
        return f"(xxhash64({values}, '{salt}') & {_MANTISSA - 1}L) / {_MANTISSA}.0D"

    return (Derived("score", Kind.FLOAT, uniform("score")), Derived("bound", Kind.FLOAT, uniform("bound")))
