"""Values of parameters, which arrive as text."""

from collections.abc import Callable
from typing import Any

import pytest

from cepbench.algorithms.options import Option, WrongOption

READERS: dict[str, Callable[[Option], Any]] = {
    "among": lambda option: option.among(("red", "green", "blue")),
    "whole": lambda option: option.whole("none"),
    "ratio": Option.ratio,
    "positive": Option.positive,
    "size": lambda option: option.size(2**34),
}


@pytest.mark.parametrize(
    ("reader", "text", "value"),
    [
        ("among", "green", "green"),
        ("whole", "1", 1),
        ("whole", "1000000", 10**6),
        ("whole", "none", None),
        ("ratio", "1", 1.0),
        ("ratio", "1000000", 1e6),
        ("positive", "0.25", 0.25),
        ("size", "1", 1),
        ("size", "64MB", 64 * 10**6),
        ("size", "64MiB", 64 * 2**20),
        ("size", "16GiB", 2**34),
    ],
)
def test_values(reader: str, text: str, value: object) -> None:
    assert READERS[reader](Option("a", "b", text)) == value


@pytest.mark.parametrize(
    ("reader", "texts", "allowed"),
    [
        ("among", ("yellow", "Red", ""), "red, green or blue$"),
        ("whole", ("0", "-1", "1.5", "", "many", "1000001", "9" * 5000), "none or a whole number from 1 to a million$"),
        ("ratio", ("0.5", "nan", "inf", "1e7", "big"), "a number from 1 to a million$"),
        ("positive", ("0", "-1", "nan", "x"), "a positive number$"),
        ("size", ("", "MB", "-1MB", "12XB", "1e9", "nan", "9" * 5000), "a size such as 4096"),
        ("size", ("0", "0.9", "17GiB"), "at least 1 byte and at most 16GiB$"),
    ],
)
def test_what_is_wrong_and_what_is_allowed_in_one_line(reader: str, texts: tuple[str, ...], allowed: str) -> None:
    for text in texts:
        with pytest.raises(WrongOption, match=rf"^a\[b={text}\]: b is {allowed}") as caught:
            READERS[reader](Option("a", "b", text))
        assert "\n" not in str(caught.value)
