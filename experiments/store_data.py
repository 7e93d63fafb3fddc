"""A store in place of an experiment's generator: `--set data=STORE`, or `data: STORE` in its file.

The store replaces the whole stream, so no parameter of the generator applies. An axis that only the parameters of the
stream use must have one value, since all of its points would have the same stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from cepbench.events.errors import CepbenchError
from cepbench.events.paths import local_path
from cepbench.experiments.errors import ExperimentError
from cepbench.experiments.schema import Experiment
from cepbench.experiments.templates import axes_in
from cepbench.experiments.workload import workload_axes
from cepbench.metrics.figure import Departure
from cepbench.pipeline.store import STREAM_FILE, Stream, is_store, read_stream
from cepbench.queries.compile import compile_workload
from cepbench.queries.model import occurrences
from cepbench.queries.workloads import parse_workload


def stream_of(path: str) -> dict[str, Any]:
    """The stream of a cell that runs on a store: its path, fingerprint and source. Raises `InputError`."""
    stream = _opened(path)
    source = {name: stream.source[name] for name in ("dataset", "typed_by", "generator") if name in stream.source}
    return {
        "path": path,
        "time_unit": stream.schema.time_unit,
        "parameters": {},
        "store": {"fingerprint": stream.fingerprint, "events": stream.events, **source},
    }


def check_axes(experiment: Experiment) -> None:
    """Refuses axes that vary only a generator that a store replaces. Raises `ExperimentError`."""
    if experiment.data is None:
        return
    if not is_store(experiment.data):
        raise ExperimentError(
            f"{experiment.id}: data: {experiment.data} is not an event store; cepbench import and generate write stores"
        )
    options = fixing(experiment)
    if options:
        axes = ", ".join(dict.fromkeys(name for name, _ in _fixed(experiment)))
        kept = " ".join(f"--set '{option}'" for option in options)
        raise ExperimentError(
            f"{experiment.id}: data: a store has no parameters that {axes} could vary; keep one value of each: {kept}"
        )


def fixing(experiment: Experiment) -> list[str]:
    """Options for `--set` after which no axis varies the generator alone: `axes.events=[1000]`."""
    return [option for _, option in _fixed(experiment)]


def check_fits(configuration: Mapping[str, Any]) -> None:
    """Refuses a store that lacks types, attributes or a fine enough time unit for the queries. Raises `CepbenchError`.

    Types that occur only under NOT may be absent.
    """
    path = configuration["stream"]["path"]
    stream, queries = _opened(path), parse_workload(configuration["workload"])
    wanted = {event.type for query in queries for event in occurrences(query.pattern, negated=False)}
    absent = sorted(wanted - stream.types.keys())
    if absent:
        more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
        frequent = ", ".join(sorted(stream.types, key=lambda name: -stream.types[name].events)[:5])
        raise CepbenchError(
            f"{path}: no events of type {', '.join(absent[:3])}{more}, which the queries need; "
            f"the {len(stream.types)} types of the store are {frequent}{', ...' if len(stream.types) > 5 else ''}"
        )
    try:
        compiled = compile_workload(queries, stream.schema, configuration["arithmetic"])
    except CepbenchError as error:
        raise CepbenchError(f"{path}: {error}") from None
    stream.check_needed(compiled.needs)


def named(stream: Mapping[str, Any]) -> str:
    """A stream of `stream_of` in words: `data set nasdaq (1769 events, store streams/nasdaq)`."""
    store = stream["store"]
    if "dataset" in store:
        what = f"data set {store['dataset']}"
    else:
        what = f"generator {store['generator']}" if "generator" in store else "own events"
    return f"{what} ({store['events']} events, store {stream['path']})"


def departure(experiment: Experiment, stream: Mapping[str, Any]) -> Departure:
    """The departure that a figure on a store reports."""
    usual = experiment.stream
    source = usual.dataset or usual.path if usual.generator is None else f"generator {usual.generator}"
    return Departure(
        what=f"the stream is {named(stream)}, not {source}",
        reason="chosen for this run (data); no parameter of the usual stream applies, even if an axis has its name",
    )


def _fixed(experiment: Experiment) -> Iterator[tuple[str, str]]:
    """Axes that vary the stream alone; each with the option that keeps one value, for every place that lists it."""
    alone = axes_in(experiment.stream.model_dump()) - workload_axes(experiment)
    alone -= axes_in(
        experiment.algorithms,
        experiment.arrival if isinstance(experiment.arrival, str) else experiment.arrival.model_dump(),
        experiment.slots,
    )
    for name in sorted(alone):
        places = [(f"{prefix}{part}", axes[name]) for prefix, part, axes in _places(experiment) if name in axes]
        values = [value for _, listed in places for value in listed]
        values += [experiment.defaults[name]] if name in experiment.defaults else []
        if len({json.dumps(value) for value in values}) < 2:
            continue
        kept = experiment.defaults.get(name, values[0])
        for place, listed in places:
            count = len(listed) if place.endswith("zip") else 1
            yield name, f"{place}.{name}={json.dumps([kept] * count)}"


def _places(experiment: Experiment) -> Iterator[tuple[str, str, Mapping[str, list[Any]]]]:
    for key, sweep in experiment.sweeps.items() or [("", experiment)]:
        prefix = f"sweeps.{key}." if key else ""
        yield prefix, "axes", sweep.axes
        yield prefix, "zip", sweep.zip


def _opened(path: str) -> Stream:
    folder = Path(local_path(path))
    return _read(str(folder), (folder / STREAM_FILE).stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _read(path: str, changed: int) -> Stream:
    return read_stream(path)
