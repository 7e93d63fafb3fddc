"""The `cepbench` command: its sub-commands, and its error messages.

Every failure is one clear line on stderr and an exit status (`cli.interrupts`), never a traceback; `CEPBENCH_DEBUG=1`
shows it.
"""

import logging
import os
import sys
import warnings
from collections.abc import Sequence

import click

from cepbench.cli.bench import advise, bench
from cepbench.cli.capabilities import capabilities
from cepbench.cli.compile import compile_command
from cepbench.cli.engines import engines
from cepbench.cli.explain import explain
from cepbench.cli.generate import generate
from cepbench.cli.import_command import import_command
from cepbench.cli.interrupts import reported, reraised, terminable
from cepbench.cli.lists import algorithms, datasets, experiments
from cepbench.cli.new import new
from cepbench.cli.pack import pack, review, unpack
from cepbench.cli.query import query
from cepbench.cli.results import compare, export, plot, report
from cepbench.cli.run import run
from cepbench.cli.stream import stream
from cepbench.cli.verify import verify


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="cepbench", message="%(prog)s %(version)s")
def cepbench() -> None:
    """Run, check and compare Complex Event Processing algorithms."""


COMMANDS = (
    algorithms,
    capabilities,
    datasets,
    experiments,
    engines,
    query,
    explain,
    stream,
    bench,
    advise,
    import_command,
    generate,
    new,
    run,
    plot,
    report,
    export,
    compare,
    pack,
    unpack,
    review,
    verify,
    compile_command,
)
for command in COMMANDS:
    cepbench.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line (by default that of the process) and exits with its status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if os.environ.get("CEPBENCH_DEBUG") == "1":
        sys.exit(_call(arguments))
    logging.disable()  # Py4J logs the traceback of any interrupt of a call to Spark
    # Of PySpark, commands use only what the tests show to work with pandas 3.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    try:
        with reraised(), terminable():
            status = _call(arguments)
    except (Exception, KeyboardInterrupt) as error:
        status = reported(error, words)
    sys.exit(status)


def _call(arguments: Sequence[str] | None) -> int:
    """The status of a command that no error stopped; click returns it when the command exits early."""
    status = cepbench.main(None if arguments is None else list(arguments), prog_name="cepbench", standalone_mode=False)
    return status if isinstance(status, int) else 0


if __name__ == "__main__":
    main()
