"""`cepbench pack`, `unpack` and `review`: results as one file, as a folder again, and how two results differ."""

import json
from pathlib import Path

import click

from cepbench.cli.options import Place, measured

DIFFERENT = 1  # the exit status


@click.command()
@click.argument("file", type=Place(dir_okay=False))
@measured
@click.option("--profile", metavar="NAME", help="Only the figures of this profile.")
def pack(file: Path, results: Path, profile: str | None) -> None:
    """Write measured results to one file, FILE.tar.xz.

    It holds the records with their raw samples, the figures, their experiment files, environments and checksums. Every
    command that reads a results folder reads a pack in its place.
    """
    from cepbench.experiments.load import experiments, sources
    from cepbench.metrics.pack import SUFFIX
    from cepbench.metrics.results import ResultsError, load_results, write_pack

    if not file.name.endswith(SUFFIX):
        raise click.UsageError(f"{file}: a pack is called FILE{SUFFIX}")
    everything = load_results(results)
    chosen = [swept for swept in everything if profile in (None, swept.figure.profile)]
    if not chosen:
        profiles = ", ".join(sorted({swept.figure.profile for swept in everything})) or "none"
        of = "" if profile is None else f" of profile {profile!r}; there are figures of: {profiles}"
        raise ResultsError(f"{results}: no figures{of}")
    names = dict.fromkeys(swept.figure.experiment for swept in chosen)
    files = experiments()
    needed = [path for name in names if name in files for path in sources(files[name])]
    write_pack(file, chosen, {path.stem: path.read_bytes() for path in needed})
    cells = sum(len(swept.records) for swept in chosen)
    click.echo(f"{file}: {len(chosen)} figures, {cells} cells, {file.stat().st_size / 1e6:.2f} MB")
    own_files = [name for name in names if name not in files]
    if own_files:
        click.echo(f"  without the experiment files of {', '.join(own_files)}, which are not part of cepbench")


@click.command()
@click.argument("file", type=Place(exists=True, dir_okay=False))
@click.option(
    "--results",
    type=Place(file_okay=False),
    default=Path("results"),
    show_default=True,
    help="Folder of the measured cells.",
)
def unpack(file: Path, results: Path) -> None:
    """Write the results of a pack to a results folder.

    `cepbench run` continues with the cells that it lacks, on this machine or another one. Packs of several parts are
    joined in one folder. Nothing is written if the folder has cells of one of the figures already.
    """
    from cepbench.experiments.cell_files import CellFiles, locked
    from cepbench.metrics.results import ResultsError, load_results

    everything = load_results(file)
    with locked(results):
        folders = [CellFiles(results, swept.figure.experiment, swept.figure.profile) for swept in everything]
        for folder in folders:
            if folder.used:
                raise ResultsError(f"{folder.folder}: has results already; move them, or choose another --results")
        for folder, swept in zip(folders, everything, strict=True):
            folder.fill(swept.figure, swept.records)
    click.echo(f"{results}: {len(everything)} figures, {sum(len(swept.records) for swept in everything)} cells")


@click.command()
@click.argument("theirs", type=Place(exists=True), metavar="PACK")
@click.option(
    "--against",
    "ours",
    type=Place(exists=True),
    default=Path("results"),
    show_default=True,
    metavar="PACK",
    help="The pack or results folder to compare with.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def review(context: click.Context, theirs: Path, ours: Path, as_json: bool) -> None:
    """Report where the results of a pack differ from other results.

    Lists, per figure and profile of both, the claims with other verdicts, and the cells with other answers, statuses or
    configurations, or that one side lacks. Times are not judged; `cepbench compare` has their ratios. The exit status
    is 0 if nothing differs, and 1 otherwise.
    """
    from cepbench.plots.review import describe, review

    differences = review(ours, theirs)
    click.echo(json.dumps(differences.document(), indent=1) if as_json else describe(differences))
    if differences.differs:
        context.exit(DIFFERENT)
