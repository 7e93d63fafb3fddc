"""Newlines of a CSV file, by the kernel where something is quoted and by searching where nothing is."""

import random

import pytest

from cepbench.events.csv_states import CLOSING, FIELD, PLAIN, QUOTED, advanced


@pytest.mark.parametrize(
    ("data", "before", "after", "row"),
    [
        (b'"a",1\n2,3\n4', FIELD, PLAIN, 6),
        (b'"a\nb"\n', FIELD, FIELD, 6),
        (b'"a\nb', FIELD, QUOTED, -1),
        (b'\n"\n', QUOTED, FIELD, 3),
        (b'"say ""x""\n"\n', FIELD, FIELD, 13),
        (b'in"side\n', FIELD, FIELD, 8),
        (b'"a"\tb\n', FIELD, FIELD, 6),
        (b'"', QUOTED, CLOSING, -1),
        (b'"a"b"\n', FIELD, FIELD, 6),
        (b"a\nb,", QUOTED, QUOTED, -1),
        (b"a\rb\tc", FIELD, PLAIN, -1),
    ],
)
def test_a_row_begins_after_a_newline_outside_of_quotes(data: bytes, before: int, after: int, row: int) -> None:
    assert advanced(data, before) == (after, row)


@pytest.mark.parametrize("before", [FIELD, PLAIN, CLOSING])
def test_without_quotes_both_ways_agree(before: int) -> None:
    quoted = b'"x"\ty'  # leaves the state PLAIN, in the middle of a row
    for seed in range(300):
        data = bytes(random.Random(seed).choices(b"ab,\t\r\n ", k=seed % 9))
        (state, row), (with_quotes, shifted) = advanced(data, PLAIN), advanced(quoted + data, FIELD)
        assert (with_quotes, shifted) == (state, row + len(quoted) if row >= 0 else -1), data
        if data:
            assert advanced(data, before) == (state, row)
