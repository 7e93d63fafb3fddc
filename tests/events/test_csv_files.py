"""Blocks of a CSV file: typed where all values are of the type that was guessed, strings otherwise."""

from pathlib import Path

import pyarrow as pa
import pytest

from cepbench.events.csv_files import csv_blocks
from cepbench.events.schema import Kind


@pytest.mark.parametrize(
    ("text", "kinds", "types"),
    [
        ("n,s\n1,2\n", {"n": Kind.INT}, [pa.int64(), pa.string()]),
        ("n,s\n1,2\n", {"n": Kind.INT, "other": Kind.FLOAT}, [pa.int64(), pa.string()]),
        ("n,s\n1,2\n", {"n": Kind.FLOAT, "s": Kind.INT}, [pa.float64(), pa.int64()]),
        ("n,s\none,2\n", {"n": Kind.INT}, [pa.string(), pa.string()]),
        ("n,s\n1,2\n", {}, [pa.string(), pa.string()]),
    ],
)
def test_columns_have_the_kinds_that_all_values_allow(
    tmp_path: Path, text: str, kinds: dict[str, Kind], types: list[pa.DataType]
) -> None:
    file = tmp_path / "events.csv"
    file.write_text(text)
    [block] = csv_blocks(file, ["n", "s"], kinds)
    assert block.schema.types == types
