"""Reads experiment files: YAML, then the changes of a profile, then overrides from the command line."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from cepbench.events.errors import choices
from cepbench.experiments.claims import PROFILES
from cepbench.experiments.errors import ExperimentError
from cepbench.experiments.own import completed, labeled
from cepbench.experiments.schema import Experiment, merged
from cepbench.experiments.workload import WORKLOADS

FIGURES = Path(__file__).parent / "figures"
ATLAS = "atlas"
"""The profile of the experiments that answer a question of the field, which have no other one, besides `smoke`."""
WORKLOAD = ("stream", "workload", "values")
"""The fields that `workload_of` takes from another experiment; those of this one are merged with them."""
OWN = ("id", "figure", "title")
POINTS = ("axes", "zip", "sweeps")
MERGED = ("plot", "profiles")
"""The fields that `like` merges. Of the others it takes those that this experiment does not have, in profiles, too."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader in C takes a tenth of the time; the one in Python needs seconds for all experiments."""


def experiments(folder: Path = FIGURES) -> dict[str, Path]:
    """The experiment files of a folder by id (the file's name), in the order of the figures."""
    files = {path.stem: path for path in folder.glob("*.yaml")}
    return dict(sorted(files.items(), key=lambda entry: _natural(entry[0])))


def belonging(profile: str, folder: Path = FIGURES) -> list[str]:
    """The experiments that a run of all has under a profile: those of the atlas are in no other one but `smoke`."""
    if profile == "smoke":
        return list(experiments(folder))
    in_atlas = {name: ATLAS in (fields(path).get("profiles") or {}) for name, path in experiments(folder).items()}
    return [name for name in in_atlas if in_atlas[name] == (profile == ATLAS)]


def find(name: str, folder: Path = FIGURES) -> Path:
    """The file of an experiment: an id, or the path of a YAML file. Raises `ExperimentError` with the choices."""
    files = experiments(folder)
    if name in files:
        return files[name]
    if name.endswith((".yaml", ".yml")):
        return Path(name)
    raise ExperimentError(f"unknown experiment {name!r}; {choices(name, files, ' or a .yaml file')}")


def load(path: Path, profile: str = "quick", overrides: Sequence[str] = (), include: Sequence[str] = ()) -> Experiment:
    """The experiment of a file under a profile, with `overrides` of the form `path=value` (dotted path, YAML value).

    Its engines to `include` are measured, and the other ones are absent. The file is checked without a profile and
    under every profile that it has, so that a mistake is found at once. Raises `ExperimentError`, which names the file
    and the field.
    """
    document = _document(path)
    profiles = document.pop("profiles", {}) or {}
    if not isinstance(profiles, Mapping):
        raise ExperimentError(f"{path}: profiles: expected a mapping of profile names")
    for name, changes in profiles.items():
        if name not in PROFILES:
            raise ExperimentError(f"{path}: profiles: unknown profile {name!r}; choose one of {', '.join(PROFILES)}")
        if not isinstance(changes, Mapping):
            raise ExperimentError(f"{path}: profiles.{name}: expected a mapping of fields")
    profiles = {name: _beside(path, labeled(changes)) for name, changes in profiles.items()}
    _checked(path, document, complete=True)
    for name, changes in profiles.items():
        _checked(path, merged(document, changes), f"profiles.{name}: ", complete=True)
    if profile not in PROFILES:
        raise ExperimentError(f"unknown profile {profile!r}; choose one of {', '.join(PROFILES)}")
    document = merged(document, profiles.get(profile, {}))
    for override in overrides:
        document = merged(document, labeled(parse_override(override)))
    experiment = _checked(path, document, "--set: " if overrides else "")
    return experiment.measuring(include)


def parse_override(text: str) -> dict[str, Any]:
    """`limits.seconds=5` as nested mappings; the value is YAML."""
    name, equals, value = text.partition("=")
    keys = [key.strip() for key in name.split(".")]
    if not equals or not all(keys):
        raise ExperimentError(f"--set takes path=value, for example limits.seconds=5, not {text!r}")
    try:
        parsed: Any = yaml.safe_load(value)
    except yaml.YAMLError:
        raise ExperimentError(f"--set {name}: {value!r} is not a YAML value") from None
    for key in reversed(keys):
        parsed = {key: parsed}
    nested: dict[str, Any] = parsed
    return nested


def _document(path: Path) -> dict[str, Any]:
    document = fields(path)
    document = completed(_beside(path, labeled(document)), path.stem)
    if document["id"] != path.stem:
        raise ExperimentError(f"{path}: id: expected the file's name {path.stem!r}, not {document.get('id')!r}")
    return document


def sources(path: Path) -> list[Path]:
    """The file of an experiment, and those from which it takes fields. Raises `ExperimentError`, also for a circle."""
    files = [path]
    for place in files:
        document = _yaml(place)
        named = [str(document[field]) for field in ("like", "workload_of") if document.get(field) is not None]
        for file in (_beside_or_shipped(name, place) for name in named):
            if file == path:
                raise ExperimentError(f"{path}: it takes its own fields by {place.stem}")
            if file not in files:
                files.append(file)
    return files


def _beside_or_shipped(name: str, path: Path) -> Path:
    """The experiment of this name in the folder of a file, or one of cepbench."""
    return experiments(path.parent).get(name) or find(name)


def fields(path: Path) -> dict[str, Any]:
    """The fields of an experiment file, with those that it takes from others by `like` and `workload_of`.

    Raises `ExperimentError`.
    """
    sources(path)
    document = _yaml(path)
    like, workload_of = document.pop("like", None), document.pop("workload_of", None)
    taken: dict[str, Any] = {}
    if like is not None:
        design = fields(_beside_or_shipped(str(like), path))
        left_out = {*OWN, *document} - {*MERGED}
        left_out |= {*POINTS} if left_out & {*POINTS} else set()
        left_out |= set() if workload_of is None else {*WORKLOAD, "defaults"}
        taken |= _without(design, left_out)
        taken["profiles"] = {name: _without(changes, left_out) for name, changes in taken.get("profiles", {}).items()}
    if workload_of is not None:
        workload = fields(_beside_or_shipped(str(workload_of), path))
        taken |= {name: workload[name] for name in WORKLOAD if name in workload}
    return merged(taken, document)


def _without(fields: Mapping[str, Any], left_out: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in left_out}


def _yaml(path: Path) -> dict[str, Any]:
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), _LOADER)
    except OSError as error:
        raise ExperimentError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise ExperimentError(f"{path}: not a text file in UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = "" if mark is None else f"line {mark.line + 1}: "
        raise ExperimentError(f"{path}: {place}{getattr(error, 'problem', None) or 'not YAML'}") from None
    if not isinstance(document, dict):
        raise ExperimentError(f"{path}: expected a mapping with the fields of an experiment")
    return document


def _beside(path: Path, document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with the file of its workload relative to the folder of the experiment file."""
    workload = document.get("workload")
    if not isinstance(workload, Mapping) or not isinstance(workload.get("file"), str):
        return dict(document)
    return {**document, "workload": {**workload, "file": str(path.parent / workload["file"])}}


def _checked(path: Path, document: Mapping[str, Any], where: str = "", complete: bool = False) -> Experiment:
    try:
        experiment = Experiment.model_validate(document)
        if complete:
            experiment.check_algorithms()
    except ValidationError as error:
        raise ExperimentError(f"{path}: {where}{_first(error)}") from None
    except ValueError as error:
        raise ExperimentError(f"{path}: {where}{error}") from None
    return experiment


def _first(error: ValidationError) -> str:
    """The first mistake in one line: the field, and what was expected."""
    mistakes = error.errors(include_url=False)
    first = mistakes[0]
    parts = [str(part) for part in first["loc"]]
    kind = parts.pop(1) if parts[:1] == ["workload"] and parts[1:2] and parts[1] in WORKLOADS else ""
    place, message, value = ".".join(parts), first["msg"].removeprefix("Value error, "), first.get("input")
    bound = first.get("ctx", {})
    if first["type"] == "extra_forbidden":
        message = "unknown field" + (f"; {WORKLOADS[kind]}" if kind else RENAMED.get(place, ""))
    elif first["type"] == "missing":
        message = "missing"
    elif first["type"] in ("list_type", "tuple_type"):
        listed = ", ".join(part.strip() for part in str(value).split(","))
        message = f"expected a list, [{listed}], not {value!r}"
    elif first["type"] in _BOUNDS:
        limit = bound[_BOUNDS[first["type"]][0]]
        message = f"expected {_BOUNDS[first['type']][1]} {_size(limit) if place.endswith('memory') else f'{limit:g}'}"
        message += f", not {_size(value) if place.endswith('memory') else value}"
    more = f" (and {len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
    return f"{place}: {message}{more}" if place else f"{message}{more}"


RENAMED = {"repetitions": "; it is called workers"}
"""Hints for fields of earlier versions."""
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}
"""Mistakes of pydantic: the name of their bound, and it in words."""


def _size(size: Any) -> str:
    """A number of bytes as an experiment file writes it."""
    return next((f"{size // unit} {name}" for unit, name in _SIZES if size % unit == 0), f"{size} bytes")


_SIZES = ((10**9, "GB"), (2**20, "MiB"), (10**6, "MB"))


def _natural(name: str) -> tuple[list[int], str]:
    """Figures in numeric order: cet-8.1, cet-8.1-activity, greta-13.1, greta-13.3, cogra-19.1."""
    return [int(part) for part in re.findall(r"\d+", name)], name
