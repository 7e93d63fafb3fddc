"""Specifications of algorithms."""

import pytest

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.construction.cet.algorithm import Cet
from cepbench.algorithms.registry import ALGORITHMS, UnknownAlgorithm, make, parameters


@pytest.mark.parametrize("kind", ALGORITHMS, ids=[kind.name for kind in ALGORITHMS])
def test_a_name_alone_is_a_specification(kind: type[Algorithm]) -> None:
    assert type(make(kind.name)) is type(make(f" {kind.name} [ ] ")) is kind


def test_parameters_reach_the_algorithm() -> None:
    assert vars(make("cet[detect=time]")) != vars(make("cet")) == vars(make(f"cet[detect={parameters(Cet)['detect']}]"))


@pytest.mark.parametrize(
    ("specification", "problem"),
    [
        ("none", f"unknown algorithm 'none'; choose one of {', '.join(sorted(kind.name for kind in ALGORITHMS))}"),
        ("sase[", "unknown algorithm"),
        ("greta[x=1]", "greta has no parameter 'x'; it has none"),
        ("sase[x=1]", "sase has no parameter 'x'; it has kleene, max_length"),
        ("cet[x=1]", "cet has no parameter 'x'; it has detect, "),
        ("cet[detect]", "write parameters as name=value, not 'detect'"),
        ("cet[=hybrid]", "write parameters as name=value, not '=hybrid'"),
        ("cet[detect=]", "write parameters as name=value, not 'detect='"),
        ("cet[detect=hybrid, detect=time]", "parameter 'detect' is given twice"),
    ],
)
def test_what_is_no_specification_is_refused(specification: str, problem: str) -> None:
    with pytest.raises(UnknownAlgorithm) as refused:
        make(specification)
    assert problem in str(refused.value)
