"""The `cepbench` command: its sub-commands, and its error messages.

Every failure is one clear line on stderr and an exit status, never a traceback:

- 2: the request or the input is wrong (`CepbenchError`, an unusable file or option); a query error also shows the
  underlined place.
- 1: a check failed (`verify`, `run`, `bench`, `advise`, `review`), or there is an error in cepbench itself.
- 130: interrupted; 143: terminated (SIGTERM). Temporary files and processes are cleaned up first.
- 124: not done within --timeout.

`CEPBENCH_DEBUG=1` shows the traceback.
"""

import logging
import os
import sys
from collections.abc import Sequence

import click

from cepbench.cli.bench import advise, bench
from cepbench.cli.capabilities import capabilities
from cepbench.cli.compile import compile_command
from cepbench.cli.generate import generate
from cepbench.cli.import_command import import_command
from cepbench.cli.interrupts import Terminated, TimeIsUp, reraised, terminable
from cepbench.cli.lists import algorithms, datasets, experiments
from cepbench.cli.new import new
from cepbench.cli.options import as_options
from cepbench.cli.pack import pack, review
from cepbench.cli.query import query
from cepbench.cli.results import compare, export, plot, report
from cepbench.cli.run import run
from cepbench.cli.stream import stream
from cepbench.cli.verify import verify
from cepbench.events.errors import CepbenchError, is_interrupt

CHECK_FAILED = 1
WRONG_USE = 2
INTERRUPTED = 130
TERMINATED = 143
TIMED_OUT = 124


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="cepbench", message="%(prog)s %(version)s")
def cepbench() -> None:
    """Run, check and compare Complex Event Processing algorithms."""


COMMANDS = (
    algorithms,
    capabilities,
    datasets,
    experiments,
    query,
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
    review,
    verify,
    compile_command,
)
for command in COMMANDS:
    cepbench.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line (by default that of the process) and exits with its status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if os.environ.get("CEPBENCH_DEBUG") == "1":
        sys.exit(_call(arguments))
    logging.disable()  # Py4J logs the traceback of any interrupt of a call to Spark
    try:
        with reraised(), terminable():
            status = _call(arguments)
    except click.UsageError as error:
        status = _fail(error.format_message(), _hint(error))
    except click.ClickException as error:
        status = _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt) as error:
        status = _interrupted(error, given)
    except CepbenchError as error:
        status = _fail(as_options(str(error)))
    except BrokenPipeError:
        # The reader of the output has closed it; there is nowhere to report, and nothing more to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = CHECK_FAILED
    except OSError as error:
        status = _fail(_file_problem(error))
    except MemoryError:
        status = _fail("out of memory; use fewer events, or shorter windows")
    except Exception as error:
        if is_interrupt(error):
            sys.exit(_interrupted(error, given))
        problem = str(error).strip().split("\n", 1)[0]
        click.echo(
            f"cepbench: unexpected {type(error).__name__}{': ' if problem else ''}{problem} "
            "(an error in cepbench; CEPBENCH_DEBUG=1 shows where)",
            err=True,
        )
        status = CHECK_FAILED
    sys.exit(status)


def _call(arguments: Sequence[str] | None) -> int:
    """The status of a command that no error stopped; click returns it when the command exits early."""
    status = cepbench.main(None if arguments is None else list(arguments), prog_name="cepbench", standalone_mode=False)
    return status if isinstance(status, int) else 0


def _interrupted(error: BaseException, given: Sequence[str]) -> int:
    """Reports that a command was interrupted and what is kept; returns the status."""
    # An interrupt that passed through exec of a text, as Numba and dataclasses use it, leaves CPython with the state of
    # an uncaught one: `python -m` would end by the signal, regardless of the status. Running another text clears that.
    exec("")
    begun: BaseException | None = error
    while begun is not None and not isinstance(begun, KeyboardInterrupt):
        begun = begun.__cause__ or begun.__context__
    if isinstance(begun, TimeIsUp):
        click.echo(f"cepbench: {begun}", err=True)
        return TIMED_OUT
    terminated = isinstance(begun, Terminated)
    kept = "; finished cells are kept, and the same command continues with the others" if given[:1] == ["run"] else ""
    click.echo(f"cepbench: {'terminated' if terminated else 'interrupted'}{kept}", err=True)
    return TERMINATED if terminated else INTERRUPTED


def _fail(message: str, hint: str = "") -> int:
    click.echo(f"cepbench: {message}{hint}", err=True)
    return WRONG_USE


def _hint(error: click.UsageError) -> str:
    return f" (see '{error.ctx.command_path} --help')" if error.ctx else ""


def _file_problem(error: OSError) -> str:
    """`file: reason`, as far as the system says so."""
    reason = (error.strerror or str(error) or type(error).__name__).lower()
    return reason if error.filename is None else f"{error.filename}: {reason}"


if __name__ == "__main__":
    main()
