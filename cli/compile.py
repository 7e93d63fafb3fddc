"""`cepbench compile`: compiles kernels before the first query needs them."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

import click

from cepbench.cli.options import plugins
from cepbench.cli.progress import bar


@click.command("compile")
@click.argument("algorithms", metavar="[ALGORITHM]...", nargs=-1)
@click.option(
    "--arithmetic",
    type=click.Choice(["modular", "float", "both"]),
    default="modular",
    show_default=True,
    help="Arithmetic of counts; each has its own kernels.",
)
@plugins
def compile_command(algorithms: tuple[str, ...], arithmetic: str) -> None:
    """Compile the kernels that most queries need.

    Compiles for all algorithms, plug-ins included, or for the ALGORITHMs. Kernels are compiled once and kept; without
    this command the first query of an algorithm waits for them.
    """
    from cepbench.algorithms.registry import algorithms as all_algorithms
    from cepbench.algorithms.registry import make
    from cepbench.pipeline.plain import check_compiled
    from cepbench.pipeline.warmup import warm_up_common

    check_compiled()
    chosen = [make(name) for name in algorithms or [kind.name for kind in all_algorithms() if not kind.starts]]
    arithmetics = ("modular", "float") if arithmetic == "both" else (arithmetic,)
    work = [(algorithm, counts) for counts in arithmetics for algorithm in chosen]
    # Neighbors share kernels, as A-Seq and Sharon do. This order separates them, so that each kernel is compiled once.
    work = [*work[::2], *work[1::2]]

    spawned = multiprocessing.get_context("spawn")
    with bar("algorithm") as shown, ProcessPoolExecutor(min(os.cpu_count() or 1, len(work)), spawned) as pool:
        shown.total = len(work)
        for _ in pool.map(warm_up_common, *zip(*work, strict=True)):
            shown.update()
