from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cepbench.generators import base
from cepbench.generators.errors import GeneratorError
from cepbench.generators.registry import from_spec
from cepbench.generators.reshuffling import reshuffled_types
from cepbench.generators.stock import StockParameters
from tests.generators.streams import concatenated, same, stream

KINDS = ("lasting", "passing")


def parameters(**fields: Any) -> StockParameters:
    return StockParameters.model_validate({"companies": 12, "typed_by": "company", **fields})


def blocks(p: StockParameters, times: int, index: int = 0) -> NDArray[np.int64]:
    """The type that each of the types 0..types-1 has in each block, int64[times, types]."""
    assert p.reshuffle is not None
    codes = np.tile(np.repeat(np.arange(p.types), p.reshuffle // p.types), times)
    named = reshuffled_types(p, codes, index).reshape(times, p.types, -1)
    assert (named == named[:, :, :1]).all()  # the same for the whole block
    return named[:, :, 0]


def test_without_it_types_stay() -> None:
    codes = np.arange(12)
    assert reshuffled_types(parameters(), codes, 3) is codes


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [2, 5, 12])
def test_every_block_has_the_types_of_the_one_before_in_one_circle(kind: str, count: int) -> None:
    before = np.arange(12)
    for named in blocks(parameters(reshuffle=24, reshuffled=count, reshuffling=kind), 40):
        assert sorted(named) == list(range(12))
        follows = dict(zip(before.tolist(), named.tolist(), strict=True))
        moved = [code for code in follows if follows[code] != code]
        assert len(moved) == count
        place, circle = moved[0], []
        while place not in circle:
            circle.append(place)
            place = follows[place]
        assert len(circle) == count
        before = named if kind == "lasting" else before


@pytest.mark.parametrize("kind", KINDS)
def test_any_types_take_part_in_any_order(kind: str) -> None:
    p = parameters(companies=5, sectors=5, reshuffle=5, reshuffled=3, reshuffling=kind)
    named = blocks(p, 30_000)
    before = np.vstack([np.arange(5), named[:-1]]) if kind == "lasting" else np.broadcast_to(np.arange(5), named.shape)
    steps = np.zeros((5, 5))
    np.add.at(steps, (before.ravel(), named.ravel()), 1)
    shares = steps / steps.sum(axis=1, keepdims=True)
    assert np.diag(shares) == pytest.approx(0.4, abs=0.01)
    assert shares[~np.eye(5, dtype=bool)] == pytest.approx(0.15, abs=0.01)


def test_lasting_exchanges_lead_anywhere_and_passing_ones_do_not() -> None:
    lasting = blocks(parameters(reshuffle=12), 20_000)
    assert np.mean(lasting == np.arange(12)) == pytest.approx(1 / 12, abs=0.01)
    passing = blocks(parameters(reshuffle=12, reshuffling="passing"), 20_000)
    assert np.mean(passing == np.arange(12)) == pytest.approx(7 / 12, abs=0.01)


def test_a_later_slice_begins_with_any_types_where_exchanges_last() -> None:
    first = [blocks(parameters(reshuffle=12, seed=seed), 1, index=7)[0] for seed in range(300)]
    assert np.mean(np.array(first) == np.arange(12)) == pytest.approx(1 / 12, abs=0.03)
    passing = parameters(reshuffle=12, reshuffling="passing")
    assert (blocks(passing, 1, index=7)[0] == np.arange(12)).sum() == 7


@pytest.mark.parametrize("name", ["stock", "sensors"])
@pytest.mark.parametrize("block", [1, 7, 1000, 10**6])
def test_streams_of_many_slices(name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "SLICE_EVENTS", 1000)
    fields = {"stock": {"companies": 20, "typed_by": "company", "differences": True}, "sensors": {"points": 20}}[name]
    spec = {"events": 4500, "rate": 10, **fields}
    generator = from_spec(name, {**spec, "reshuffle": block})
    whole, plain = concatenated(generator), concatenated(from_spec(name, spec))
    assert same(whole, concatenated(generator, [4, 0, 3, 1, 2]))
    shorter = concatenated(from_spec(name, {**spec, "events": 2300, "reshuffle": block}))
    assert np.array_equal(shorter.type, whole.type[:2300])
    # Nothing but the types changes.
    assert all(np.array_equal(whole.columns[column], plain.columns[column]) for column in plain.columns)
    assert np.array_equal(whole.time, plain.time)
    assert not np.array_equal(whole.type, plain.type)


def test_rates_change_with_every_block() -> None:
    batch = stream("stock", events=40_000, companies=10, typed_by="company", company_skew=1.5, reshuffle=2000)
    counts = [np.bincount(part, minlength=10) for part in np.split(batch.type, 20)]
    assert len({int(count.argmax()) for count in counts}) > 3
    # The rates of a block are those of the skew, whoever has them.
    expected = np.sort(np.bincount(batch.columns["company"], minlength=10)) / 20
    for count in counts:
        assert np.sort(count) == pytest.approx(expected, abs=100)


def test_replicas_and_sides_are_types_too() -> None:
    replicated = stream("stock", events=6000, companies=3, sectors=1, replicate=1, typed_by="company", reshuffle=100)
    assert set(replicated.type.tolist()) == set(range(6))
    sides = stream("stock", events=500, typed_by="side", reshuffle=100, reshuffled=2)
    assert np.array_equal(sides.type == sides.columns["side"], np.arange(500) // 100 % 2 == 1)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"reshuffle": 10}, "reshuffled = 5 exceeds the number of types, 1; use fewer, or more types"),
        ({"reshuffle": 10, "typed_by": "side", "reshuffled": 3}, "reshuffled = 3 exceeds the number of types, 2; use"),
        ({"reshuffle": 0}, "parameter reshuffle = 0 is not allowed; give a whole number >= 1"),
        ({"reshuffled": 1}, "parameter reshuffled = 1 is not allowed; give a whole number >= 2"),
        ({"reshuffling": "never"}, "parameter reshuffling = 'never' is not allowed; give one of lasting, passing"),
    ],
)
def test_what_cannot_be_is_reported(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(GeneratorError, match=f"^generator stock: {message}"):
        from_spec("stock", fields)
