"""Plain text, JSON and Parquet for listings and answers."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

PARQUET = "parquet"
FORMS = ("table", "csv", "json", PARQUET)
GAP = "  "


def show(rows: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    """A listing: one line per row, or a JSON list of objects."""
    if as_json:
        click.echo(json.dumps(list(rows), indent=2, ensure_ascii=False, default=str))
    elif rows:
        click.echo(aligned(list(rows[0]), [[str(value) for value in row.values()] for row in rows]))


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side under their names, without trailing blanks."""
    lines = [list(header), *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def answer_text(answer: "pd.DataFrame", form: str) -> str:
    """An answer as `table`, `csv` or `json` (one object per row); missing values are empty, or null.

    Timestamps are written in ISO 8601.
    """
    import pandas as pd

    for name in answer.select_dtypes(["datetime", "datetimetz"]):
        moments = [None if moment is pd.NaT else moment.isoformat() for moment in answer[name]]
        answer = answer.assign(**{str(name): pd.Series(moments, dtype=object)})
    if form == "csv":
        return str(answer.to_csv(index=False, lineterminator="\n"))
    records = _records(answer)
    if form == "json":
        return json.dumps(records, indent=2, ensure_ascii=False) + "\n"
    rows = [[_cell(value) for value in record.values()] for record in records]
    return aligned([str(name) for name in answer.columns], rows) + "\n"


def parquet_bytes(answer: "pa.Table") -> bytes:
    """An answer as a Parquet file."""
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(answer, file)
    return file.getvalue()


def _records(answer: "pd.DataFrame") -> list[dict[str, Any]]:
    columns = {str(name): [_plain(value) for value in answer[name]] for name in answer.columns}
    return [{name: values[row] for name, values in columns.items()} for row in range(len(answer))]


def _plain(value: Any) -> Any:
    """A value of a DataFrame as a JSON value: NumPy scalars as Python's, missing values as None."""
    import pandas as pd

    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "tolist"):
        value = value.tolist()
    return None if value is pd.NA else value


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, bool | list) else str(value)
