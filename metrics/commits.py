"""Results folders or packs of several commits, in the order of the commits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cepbench.metrics.pack import SUFFIX
from cepbench.metrics.results import Results, load_results

SHORT = 7  # characters of a commit


@dataclass(frozen=True)
class CommitResults:
    """The results of one commit; `name` is the commit, with a + if sources differed, or the folder's name."""

    name: str
    results: tuple[Results, ...]


def load_commits(folders: Iterable[Path]) -> list[CommitResults]:
    """The results folders and packs in their order; a folder of results folders means those in it, oldest commit first.

    Folders without results are left out. Raises `ResultsError` as `load_results` does.
    """
    loaded = []
    for folder in folders:
        results = load_results(folder)
        if results:
            loaded.append((folder, results))
        if results or not folder.is_dir():
            continue
        paths = sorted(path for path in folder.iterdir() if path.is_dir() or path.name.endswith(SUFFIX))
        below = [(path, load_results(path)) for path in paths]
        loaded += sorted((entry for entry in below if entry[1]), key=lambda entry: _age(entry[1]))
    names = [_name(folder, results) for folder, results in loaded]
    unique = [name if names.count(name) == 1 else folder.name for name, (folder, _) in zip(names, loaded, strict=True)]
    return [CommitResults(name, results) for name, (_, results) in zip(unique, loaded, strict=True)]


def _age(results: Sequence[Results]) -> str:
    """The time of the commit, or if it is unknown, the start of its first cell."""
    records = [record for figure in results for record in figure.records]
    commits = [str(moment) for record in records if (moment := record.provenance.get("committed"))]
    return min(commits or [record.started for record in records], default="")


def _name(folder: Path, results: Sequence[Results]) -> str:
    origins = [record.provenance for figure in results for record in figure.records]
    commits = {(origin.get("commit"), bool(origin.get("dirty"))) for origin in origins}
    if len({commit for commit, _ in commits}) != 1 or None in {commit for commit, _ in commits}:
        return folder.name
    [commit] = {str(commit) for commit, _ in commits}
    return commit[:SHORT] + ("+" if any(dirty for _, dirty in commits) else "")
