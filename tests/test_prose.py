"""The public text has none of the phrases of `scripts/phrases.txt`; codespell checks single words, as CI runs it."""

import re
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["codespell"]["skip"].replace("\n", "").split(",")
PHRASES = dict(line.split("->") for line in (ROOT / "scripts" / "phrases.txt").read_text().splitlines())
SUFFIXES = {".py", ".md", ".yaml", ".toml", ".sh", ".sase", ".lark", ".java", ".cff"}


def is_skipped(name: str) -> bool:
    """Whether codespell skips a file: by a pattern of its name, of a folder, or of its path."""
    parts = Path(name).parts
    patterns = [pattern.strip().removeprefix("./") for pattern in SKIPPED if pattern.strip()]
    paths = ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]
    return any(fnmatch(text, pattern) for pattern in patterns for text in (*parts, *paths))


def public_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.splitlines() if Path(name).suffix in SUFFIXES and not is_skipped(name)]


def phrases_in(text: str) -> list[str]:
    """Each phrase of the list in a text, with the plain phrase. It may go over the end of a line, also of a comment."""
    joined = re.sub(r"\s*\n[\s#>]*", " ", text)
    return [
        f"{phrase!r} (write {plain})"
        for phrase, plain in PHRASES.items()
        if re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", joined, re.IGNORECASE)
    ]


@pytest.mark.parametrize("text", ["It goes on.", "# whatever\n    # goes\n    # on", "GOES ON"])
def test_a_phrase_is_found_over_line_ends(text: str) -> None:
    assert phrases_in(text) == ["'goes on' (write continues)"]


def test_a_phrase_is_not_found_inside_words() -> None:
    assert phrases_in("that goes once; Chicago only") == []


def test_public_text_has_none_of_the_phrases() -> None:
    by_file = {name: phrases_in((ROOT / name).read_text()) for name in public_files()}
    assert {name: phrases for name, phrases in by_file.items() if phrases} == {}
