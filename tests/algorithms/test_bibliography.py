import re
import tomllib
from pathlib import Path

import yaml

from cepbench.algorithms.bibliography import PAPERS, bibliography
from cepbench.algorithms.registry import ALGORITHMS

ROOT = Path(__file__).resolve().parents[2]


def test_every_algorithm_has_a_paper_of_the_year_that_it_names() -> None:
    for kind in ALGORITHMS:
        years = set(re.findall(r"\b20\d\d\b", kind.paper))
        assert kind.name in PAPERS
        assert years <= {str(paper.year + later) for paper in PAPERS[kind.name] for later in (0, 1)} | {"2018"}


def test_the_key_of_a_paper_names_its_year() -> None:
    for papers in PAPERS.values():
        assert [re.findall(r"\d{4}", paper.key) for paper in papers] == [[str(paper.year)] for paper in papers]


def test_a_paper_is_told_once() -> None:
    text = bibliography(kind.name for kind in ALGORITHMS)
    keys = re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE)
    assert len(keys) == len(set(keys)) >= 10
    assert text.count("{") == text.count("}")
    assert bibliography(["mine"]) == ""
    assert "  pages = {1452--1464}," in bibliography(["hamlet"])


def test_the_citation_names_the_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
