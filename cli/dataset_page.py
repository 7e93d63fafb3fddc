"""`cepbench datasets NAME` for a real data set: its description, and the commands from its files to a figure."""

from cepbench.datasets.base import Dataset
from cepbench.events.schema import Kind

KINDS = {Kind.INT: "int64", Kind.FLOAT: "float64", Kind.STRING: "string"}


def described(found: Dataset) -> dict[str, object]:
    """A data set as JSON values."""
    return {
        "name": found.name,
        "summary": found.summary,
        "paper": found.paper,
        "source": found.source,
        "license": found.license,
        "layouts": [layout.described() for layout in found.layouts],
        "time_unit": found.time_unit,
        "types": dict(found.types),
        "attributes": {attribute.name: KINDS[attribute.kind] for attribute in found.attributes},
        "stand_in": found.stand_in,
        "absent": dict(found.absent),
        "key": list(found.key),
        "figures": {way: list(figures) for way, figures in found.figures.items()},
        "commands": commands(found),
        "note": found.note,
    }


def page(found: Dataset) -> str:
    """The same as text."""
    ways = [f"{way}{' (by default)' if way == found.typing else ''}: {sql}" for way, sql in found.types.items()]
    attributes = ", ".join(f"{attribute.name} ({KINDS[attribute.kind]})" for attribute in found.attributes)
    stand_in = [] if found.stand_in is None else [f"generator {found.stand_in} imitates it"]
    lines = [
        f"{found.name}: {found.summary}",
        *_section("Papers", [found.paper]),
        *_section("Source", [found.source]),
        *_section("License", [found.license]),
        *_section("Raw files", [layout.described() for layout in found.layouts]),
        *_section("Events", [f"times in {found.time_unit}", f"attributes: {attributes}", *stand_in]),
        *_section("Without", [f"{name}: {reason}" for name, reason in found.absent.items()]),
        *_section("Types", ways),
        *_section("Figures", [f"typed by {way}: {', '.join(names)}" for way, names in found.figures.items()]),
        *_section("Commands", commands(found)),
        *_section("Note", [found.note]),
    ]
    return "\n".join(lines)


def commands(found: Dataset) -> list[str]:
    """One import for each way to type events that figures need, and a run of each figure on it."""
    from cepbench.experiments.load import find, load
    from cepbench.experiments.store_data import fixing

    lines = []
    for way in dict.fromkeys((found.typing, *found.figures)):
        plain = way == found.typing
        store = f"streams/{found.name}" + ("" if plain else f"-{way}")
        lines.append(f"cepbench import {found.name} --from PATH -o {store}" + ("" if plain else f" --typed-by {way}"))
        for name in found.figures.get(way, ()):
            kept = "".join(f" --set '{option}'" for option in fixing(load(find(name))))
            lines.append(f"cepbench run {name} --set data={store}{kept}")
    return lines


def _section(title: str, lines: list[str]) -> list[str]:
    return [f"{title}:", *(f"  {line}" for line in lines)] if lines else []
