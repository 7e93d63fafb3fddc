import numpy as np
import pytest

from cepbench.generators.bus import BusParameters
from cepbench.generators.errors import GeneratorError
from cepbench.generators.popularity import popularity
from cepbench.generators.registry import from_spec
from tests.generators.streams import stream


def test_hot_types_have_their_share() -> None:
    shares = popularity(BusParameters(journeys=6, hot=2, hot_share=0.6), 1.0)
    assert shares == pytest.approx([0.4, 0.2, 0.4 * 12 / 25, 0.2 * 12 / 25, 0.4 / 3 * 12 / 25, 0.1 * 12 / 25])


def test_without_hot_types_shares_fall_over_all() -> None:
    shares = popularity(BusParameters(journeys=3, hot=0), 1.0)
    assert shares == pytest.approx([6 / 11, 3 / 11, 2 / 11])


def test_drawn_ranks_keep_hot_types_hot() -> None:
    named, drawn = (
        popularity(BusParameters(journeys=40, hot=10, hot_share=0.9, ranks=ranks), 1.0) for ranks in ("named", "drawn")
    )
    assert sorted(drawn[:10]) == pytest.approx(sorted(named[:10]))
    assert sorted(drawn[10:]) == pytest.approx(sorted(named[10:]))
    assert list(drawn) != pytest.approx(list(named))
    reseeded = popularity(BusParameters(journeys=40, hot=10, hot_share=0.9, ranks="drawn", seed=1), 1.0)
    assert list(reseeded) != pytest.approx(list(drawn))


@pytest.mark.parametrize(
    ("generator", "parameters", "column"),
    [
        ("taxi", {"zones": 8, "hot": 4, "chained": 0}, "pickup"),
        ("stock", {"companies": 8, "sectors": 1, "hot": 4}, "company"),
    ],
)
def test_types_of_other_streams_can_be_hot(generator: str, parameters: dict[str, int], column: str) -> None:
    batch = stream(generator, events=50_000, hot_share=0.8, **parameters)
    shares = np.bincount(batch.columns[column].astype(np.int64)) / len(batch)
    assert shares == pytest.approx([0.2] * 4 + [0.05] * 4, abs=0.01)


def test_not_all_can_be_hot() -> None:
    with pytest.raises(GeneratorError, match="hot = 9 leaves no others of 9 types; use fewer"):
        from_spec("taxi", {"zones": 9, "hot": 9})
