"""Progress on stderr: a bar on a terminal, and a note that kernels are being compiled."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click


@contextmanager
def bar(unit: str, description: str = "") -> Iterator[Any]:
    """A bar of `tqdm` on a terminal, for work of more than a second; its `total` may be set when it is known."""
    from tqdm import tqdm

    with tqdm(desc=description, unit=unit, unit_scale=True, delay=1, disable=None, leave=False) as shown:
        yield shown


def advance(shown: Any, total: int, more: int) -> None:
    """Advances a bar, towards `total`."""
    shown.total = total
    shown.update(more)


@contextmanager
def compilation_shown() -> Iterator[None]:
    """Notes once that kernels are being compiled, and shows on a terminal which."""
    from cepbench.algorithms.engine.kernels.compilation import watched

    said = False

    def show(kernel: str) -> None:
        nonlocal said
        if not said:
            click.echo("cepbench: compiling kernels; later runs find them on disk", err=True)
            said = True
        if terminal:
            click.echo(f"\r\033[K  {kernel}", nl=False, err=True)

    terminal = sys.stderr.isatty()
    try:
        with watched(show):
            yield
    finally:
        if said and terminal:
            click.echo("\r\033[K", nl=False, err=True)
