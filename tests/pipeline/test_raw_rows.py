"""Messages about raw rows that are no events."""

import pytest

from cepbench.pipeline.raw_rows import BadRows


@pytest.mark.parametrize(
    ("reasons", "examples", "summary"),
    [
        ({"no volume": 1}, ("a.csv, row 7",), "1 with no volume (a.csv, row 7)"),
        ({"no volume": 1, "no time": 3}, ("l 1", "l 2", "l 5"), "1 with no volume, 3 with no time (l 1; l 2; l 5 ...)"),
    ],
)
def test_bad_rows_are_counted_by_reason_and_some_are_named(
    reasons: dict[str, int], examples: tuple[str, ...], summary: str
) -> None:
    assert BadRows(reasons, examples).summary == summary
