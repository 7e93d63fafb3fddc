"""The pages on the questions of the field are those of the pack in the repository."""

from pathlib import Path

from cepbench.experiments.load import ATLAS, belonging
from cepbench.metrics.status import Status
from tests.scripts import script_module

ROOT = Path(__file__).parents[1]
PACK = ROOT / "docs" / "atlas.tar.xz"


def test_the_pages_are_those_of_the_pack_in_the_repository() -> None:
    atlas = script_module("atlas")
    everything = atlas.measured(PACK)
    assert {results.figure.experiment for results in everything} == set(belonging(ATLAS))
    assert not [r for results in everything for r in results.records if r.cell_status in (Status.WRONG, Status.ERROR)]
    answers = atlas.answers(everything)
    for name, text in atlas.texts(PACK, everything, answers).items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"run: python scripts/atlas.py docs/{PACK.name}"
    drawings = [drawn.name for answer in answers for drawn in answer.drawn]
    assert all((ROOT / atlas.IMAGES / f"{name}.svg").is_file() for name in drawings)
