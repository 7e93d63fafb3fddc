"""A hook of mkdocs: generates the parts of the pages that follow from the code. As a program, writes docs/figures.md.

A comment in a page is replaced:

- `<!-- commands -->`: the help of all commands.
- `<!-- figures -->`: the drawings of all figures that have a docs/pictures/NAME.svg or .png, with their findings.
- `<!-- algorithm: greta -->`: figures, refused queries, reference and citation of an algorithm.
"""

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from shutil import rmtree
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "build" / "site-package" / "cepbench"
TABLES = "<!-- experiments: written by `python scripts/site.py` -->"
PART = re.compile(r"^<!-- (commands|figures|algorithm)(?:: ([\w-]+))? -->$", re.MULTILINE)


def on_startup(command: str, dirty: bool) -> None:
    """Links the package for mkdocstrings, which would search the whole checkout, environments included."""
    rmtree(PACKAGE, ignore_errors=True)
    PACKAGE.mkdir(parents=True)
    for path in (*ROOT.glob("*/__init__.py"), ROOT / "__init__.py"):
        linked = path if path.parent == ROOT else path.parent
        (PACKAGE / linked.name).symlink_to(linked)


def on_page_markdown(markdown: str, page, config, files) -> str:
    """Replaces the comments of a page."""

    def generated(match: re.Match[str]) -> str:
        if match[1] == "commands":
            return "\n\n".join(_commands())
        if match[1] == "figures":
            return "\n\n".join(_gallery(page.file.src_uri))
        return "\n\n".join(_algorithm(match[2], page.file.src_uri))

    return PART.sub(generated, markdown)


def _commands() -> Iterator[str]:
    import click

    from cepbench.cli.main import COMMANDS, cepbench

    parent = click.Context(cepbench, info_name="cepbench", **cepbench.context_settings)
    for command in COMMANDS:
        context = click.Context(command, parent, info_name=command.name)
        yield f"## {command.name}\n\n```text\n{command.get_help(context)}\n```"


@cache
def _experiments() -> dict[str, dict[str, Any]]:
    """The fields of each, by name, in the order of their numbers."""
    from cepbench.experiments.load import experiments, fields

    return {name: fields(path) for name, path in experiments().items()}


def _name(name: str, experiment: dict[str, Any]) -> str:
    figure = str(experiment.get("figure", ""))
    return f"`{name}`{f', Figure {figure}' if figure[:1].isdigit() else ''}: {experiment['title']}"


def _drawing(name: str, source: str) -> str | None:
    for path in (DOCS / "pictures" / f"{name}.svg", DOCS / "pictures" / f"{name}.png"):
        if path.exists():
            return os.path.relpath(path, (DOCS / source).parent)
    return None


def tables() -> Iterator[str]:
    """A table of experiments for each paper; those of no paper come last."""
    papers: dict[str, list[str]] = {}
    for name, experiment in _experiments().items():
        paper = str(experiment.get("paper", "none")).partition(";")[0]  # the first of several
        figure = str(experiment.get("figure", ""))
        row = f"| `{name}` | {figure if figure[:1].isdigit() else ''} | {experiment['title']} |"
        papers.setdefault(paper, []).append(row)
    for paper, rows in sorted(papers.items(), key=lambda item: (item[0] == "none", item[0])):
        yield f"## {'Figures of cepbench' if paper == 'none' else paper}"
        yield "\n".join(("| experiment | figure | title |", "| --- | --- | --- |", *rows))


def _gallery(source: str) -> Iterator[str]:
    """The drawings of all figures that have one, with what each shows (`scripts/evidence.py PACK --gallery`)."""
    file = DOCS / "pictures" / "findings.json"
    findings = json.loads(file.read_text()) if file.exists() else {}
    for name, experiment in _experiments().items():
        drawing = _drawing(name, source)
        if drawing is not None:
            yield f"### {_name(name, experiment)} {{#{name}}}"
            yield f"[![{experiment['title']}]({drawing})]({drawing})"
            yield findings.get(name, "")


def _measured(experiment: dict[str, Any]) -> set[str]:
    """The algorithms of a figure, with those that `--engines` adds to it."""
    specifications = [*experiment["algorithms"], *experiment.get("engines", ())]
    return {specification.partition("[")[0] for specification in specifications}


def _algorithm(name: str, source: str) -> Iterator[str]:
    from cepbench.algorithms.bibliography import bibliography
    from cepbench.algorithms.registry import algorithms

    [kind] = [kind for kind in algorithms() if kind.name == name]
    drawn = [(figure, shown) for figure, shown in _experiments().items() if name in _measured(shown)]
    drawn.sort(key=lambda item: not item[0].startswith(name))  # those of its own paper come first
    if drawn:
        yield "## Figures"
        gallery = os.path.relpath(DOCS / "figures.md", (DOCS / source).parent)
        texts = {figure: _name(figure, shown) for figure, shown in drawn}
        linked = {figure: f"[{text}]({gallery}#{figure})" for figure, text in texts.items() if _drawing(figure, source)}
        yield "\n".join(f"- {text}" for text in (texts | linked).values())
        for figure, shown in drawn:
            drawing = _drawing(figure, source)
            if drawing is not None and figure.startswith(name):
                yield f"![{shown['title']}]({drawing})"
    refused = re.findall(rf"^- `{name}`: (.+)$", (DOCS / "algorithms" / "capabilities.md").read_text(), re.MULTILINE)
    yield "## What it refuses"
    yield "\n".join(f"- {reason}" for reason in refused)
    yield "## Reference"
    yield f"::: {kind.__module__}.{kind.__name__}\n    options: {{heading_level: 3, members: false}}"
    yield "## Citation"
    yield f"```bibtex\n{bibliography([name])}\n```"


if __name__ == "__main__":
    page = DOCS / "figures.md"
    head, mark, _ = page.read_text().partition(TABLES)
    page.write_text("\n\n".join((f"{head}{mark}", *tables(), "<!-- figures -->")) + "\n")
