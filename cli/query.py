"""`cepbench query`: the answer of one workload on one stream."""

from collections.abc import Callable
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cepbench.cli.interrupts import GRACE, GRACE_ON_SPARK, time_limit, timeout
from cepbench.cli.options import Bytes, Place, as_options, cluster, plugins, reading, where
from cepbench.cli.options import arithmetic as counted
from cepbench.cli.progress import advance, bar, compilation_shown
from cepbench.cli.tables import FORMS, PARQUET, answer_text, parquet_bytes
from cepbench.events.reading import Reading
from cepbench.pipeline.cluster import SparkCluster

if TYPE_CHECKING:
    from cepbench.algorithms.answers.builder import AnswerBuilder


class QueryFile(Place):
    """A file of queries; the text of a query as the argument gets a hint."""

    def convert(
        self, value: str | PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | PathLike[str]:
        if "PATTERN" in str(value).upper().split():
            self.fail("this is a query; write it to a file and give the name of the file", param, ctx)
        return super().convert(value, param, ctx)


def one_algorithm(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str:
    """The algorithm; several are refused, since a query has one answer."""
    if len(values) > 1:
        instead = f"cepbench bench -a {','.join(values)}"
        raise click.UsageError(f"-a is given {len(values)} times; give one algorithm, or compare several by {instead}")
    return values[0]


query_file = QueryFile(exists=True, dir_okay=False, readable=True)
asked = click.option("-q", "--query", "workload", required=True, type=query_file, help="File with one or many queries.")
input_events = click.option(
    "-e",
    "--events",
    required=True,
    type=Place(exists=True),
    help="Event store, CSV or Parquet file, or folder of such files.",
)
one = click.option(
    "-a",
    "--algorithm",
    required=True,
    multiple=True,
    callback=one_algorithm,
    metavar="SPEC",
    help="Algorithm, such as greta or name[parameter=value].",
)


@click.command()
@asked
@input_events
@one
@click.option("-o", "--output", type=Place(dir_okay=False), help="File for the answer.")
@click.option(
    "--format", "form", type=click.Choice(FORMS), help="Format of the answer; by default that of the file, or table."
)
@click.option(
    "--explain", is_flag=True, help="Show how the queries are evaluated, such as the SQL of duckdb; run nothing."
)
@counted
@where
@reading
@timeout
@click.option(
    "--memory",
    type=Bytes(),
    metavar="SIZE",
    help="Limit of memory of this process, such as '4 GB'; by default 80 % of that of the machine.",
)
@click.option(
    "--folder",
    type=Place(exists=True, file_okay=False),
    help="On a cluster: shared folder for imported events; by default beside the output, or the current one.",
)
@plugins
@cluster
def query(
    workload: Path,
    events: Path,
    algorithm: str,
    output: Path | None,
    form: str | None,
    explain: bool,
    arithmetic: str,
    reading: Reading,
    timeout: float | None,
    memory: int | None,
    folder: Path | None,
    cluster: SparkCluster,
) -> None:
    """Evaluate queries on a stream.

    Without --master the query runs in this process and needs no Java.
    """
    text = query_text(workload)
    if explain:
        if cluster.master is not None or form is not None:
            raise click.UsageError("--explain shows a plan and runs nothing; leave --master and --format out")
        from cepbench.pipeline.in_process import explanation_of

        _put(f"{explanation_of(text, events, algorithm, arithmetic, reading, notice)}\n".encode(), output)
        return
    form = form or _form_of(output)
    if form == PARQUET and output is None:
        raise click.UsageError("the format parquet needs a file; give one by --output")
    if cluster.master is not None and memory is not None:
        raise click.UsageError(
            "--memory limits this process; with --master use --conf, such as spark.executor.memory=4g"
        )
    with time_limit(timeout, GRACE if cluster.master is None else GRACE_ON_SPARK):
        if cluster.master is None:
            from cepbench.pipeline.fork import memory_limit

            with memory_limit(memory, "--memory"):
                _put(_content(text, events, algorithm, arithmetic, reading, form), output)
        else:
            from cepbench.pipeline.distributed import answer_on_spark
            from cepbench.pipeline.session import stop

            try:
                beside = folder or (None if output is None else output.parent)
                answer = answer_on_spark(
                    text, events, algorithm, arithmetic, reading, notice, master=cluster, folder=beside
                )
            finally:
                stop()
            _put(_rendered(answer, arithmetic, form, notice), output)


def _content(text: str, events: Path, algorithm: str, arithmetic: str, reading: Reading, form: str) -> bytes:
    """The answer in a format; by kernels that run as plain Python where that is faster."""
    from cepbench.pipeline.plain import in_plain_python, is_faster

    def answer(notify: Callable[[str], None], progress: Callable[[int, int], None] = lambda total, more: None) -> bytes:
        from cepbench.pipeline.in_process import answer_of

        answered = answer_of(text, events, algorithm, arithmetic, reading, notify, progress)
        return _rendered(answered, arithmetic, form, notify)

    def plain_answer() -> tuple[bytes, list[str]]:
        notices: list[str] = []
        return answer(notices.append), notices

    if is_faster(algorithm, arithmetic, events) and (plain := in_plain_python(plain_answer)) is not None:
        content, notices = plain
        name = algorithm.partition("[")[0].strip()
        ran = f"kernels ran as plain Python; `cepbench compile {name}` compiles them, once, for larger inputs"
        for line in (*notices, ran):
            notice(line)
        return content
    with bar("event", algorithm) as shown, compilation_shown():
        return answer(notice, partial(advance, shown))


def _rendered(answer: "AnswerBuilder", arithmetic: str, form: str, notify: Callable[[str], None]) -> bytes:
    """An answer in a format."""
    rows = answer.table() if form == PARQUET else answer.frame()
    named = rows.column_names if form == PARQUET else rows.columns
    if arithmetic == "modular" and "overflow" in named and rows["overflow"].to_numpy().any():
        notify("some values are beyond 64 bits and left out; --arithmetic float gives their magnitude")
    return parquet_bytes(rows) if form == PARQUET else answer_text(rows, form).encode()


def _put(content: bytes, output: Path | None) -> None:
    """Prints a content, or writes it to a file."""
    if output is None:
        click.echo(content.decode(), nl=False)
    else:
        from cepbench.metrics.files import write

        write(output, content)


def query_text(file: Path) -> str:
    """The queries of a file."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{file} is not UTF-8 text (byte {error.start})") from None


def notice(text: str) -> None:
    """Prints a notice."""
    click.echo(f"cepbench: {as_options(text)}", err=True)


def _form_of(file: Path | None) -> str:
    suffix = "" if file is None else file.suffix.lstrip(".")
    return suffix if suffix in FORMS else FORMS[0]
