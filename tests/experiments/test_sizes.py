"""Each claim of a figure names a size that its `headline` profile measures, and one point (per draw) has that size."""

import pytest

from cepbench.algorithms.registry import ENGINES
from cepbench.experiments.claims import Limit, holds
from cepbench.experiments.load import experiments, load
from cepbench.experiments.points import sweeps_of
from cepbench.experiments.verdicts.quantities import NotMeasured, sized

MOST = 5
"""Claims of a figure, without those on an engine that others wrote."""
ALL = 201
FILES = experiments()


def _load(name, profile):
    return load(FILES[name], profile, include=("flink",))


@pytest.mark.parametrize("name", FILES)
def test_the_headline_profile_measures_the_size_of_each_claim(name):
    experiment = _load(name, "headline")
    sweeps = sweeps_of(experiment)
    assert len([claim for claim in experiment.claims if not {*claim.algorithms} & {*ENGINES}]) <= MOST
    for claim in experiment.claims:
        if isinstance(claim, Limit):
            assert any(holds(point, claim.where) for points in sweeps for point in points), claim.text
        for quantity in claim.quantities:
            chosen = sized(quantity, sweeps)
            assert chosen.reason == "", claim.text
            assert not quantity.slope or len(chosen.points) >= 5, f"{claim.text}: at least five points"


@pytest.mark.parametrize("name", FILES)
def test_a_tour_leaves_no_claim_open_because_several_points_have_its_size(name):
    experiment = _load(name, "quick")
    for claim in experiment.claims:
        if not isinstance(claim, Limit):
            assert "several points" not in _refusal(claim, experiment), claim.text


def _refusal(claim, experiment):
    try:
        sized(claim, sweeps_of(experiment))
    except NotMeasured as why:
        return str(why)
    return ""


def test_there_are_few_claims():
    assert sum(len(_load(name, "quick").claims) for name in FILES) <= ALL
