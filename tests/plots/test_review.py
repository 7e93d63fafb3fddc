"""Reviews: the results of somebody else (`theirs`) judged against `ours`."""

from dataclasses import replace

import pytest

from cepbench.metrics.figure import Verdict
from cepbench.metrics.results import ResultsError, load_results, write_pack
from cepbench.metrics.status import Status
from cepbench.plots.review import describe, review
from tests.plots.conftest import ONE


@pytest.fixture
def ours(tmp_path, figure, sweep, save):
    save(tmp_path / "ours", figure(panels=ONE), sweep)
    return tmp_path / "ours"


@pytest.fixture
def theirs(tmp_path, ours):
    """A pack of the same results, with changes to figure and records."""

    def changed_pack(change_figure=lambda figure: figure, change_records=lambda records: records):
        [results] = load_results(ours)
        changed = replace(results, figure=change_figure(results.figure), records=tuple(change_records(results.records)))
        return write_pack(tmp_path / "theirs.tar.xz", [changed], {})

    return changed_pack


def with_(records, place, **changes):
    return [*records[:place], records[place].model_copy(update=changes), *records[place + 1 :]]


def test_equal_results_differ_in_nothing(ours, theirs, sweep):
    comparison = review(ours, theirs())
    [figure] = comparison.figures
    assert not comparison.differs
    assert (figure.claims, figure.cells) == (len(load_results(ours)[0].figure.claims), len(sweep))
    assert figure.answers == sum(record.digest is not None for record in sweep)
    assert figure.ours == figure.theirs
    assert describe(comparison).endswith("\nnothing differs")


def test_times_are_not_judged(ours, theirs):
    assert not review(ours, theirs(change_records=lambda records: with_(records, 0, seconds=99.0))).differs


def test_another_verdict_is_named_with_both_numbers(ours, theirs):
    first, *remaining = load_results(ours)[0].figure.claims
    changed = next(verdict for verdict in Verdict if verdict is not first.verdict)
    claims = (first.model_copy(update={"verdict": changed, "measured": 20.0}), *remaining)
    comparison = review(ours, theirs(lambda figure: figure.model_copy(update={"claims": claims})))
    assert comparison.differs
    assert f"  claim {first.verdict} (312) -> {changed} (20): GRETA outperforms SASE.\n" in describe(comparison)


def test_a_claim_of_one_side_is_a_difference(ours, theirs):
    claims = load_results(ours)[0].figure.claims
    comparison = review(ours, theirs(lambda figure: figure.model_copy(update={"claims": claims[:-1]})))
    [difference] = comparison.figures[0].claim_differences
    assert (difference.text, difference.ours, difference.theirs) == (claims[-1].text, claims[-1].verdict, "absent")


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"digest": "other"}, "another answer"),
        ({"status": Status.WRONG, "digest": "other"}, "ok -> wrong"),
        ({"configuration": {"arithmetic": "exact"}, "digest": "other"}, "another configuration: "),
    ],
)
def test_a_cell_that_differs_is_named(ours, theirs, changes, what):
    [place] = [n for n, r in enumerate(load_results(ours)[0].records) if r.status is Status.OK][:1]
    comparison = review(ours, theirs(change_records=lambda records: with_(records, place, **changes)))
    [cell] = comparison.figures[0].cell_differences
    assert cell.what.startswith(what)
    assert f"  {cell.what}: {cell.algorithm}" in describe(comparison)


def test_a_cell_that_was_not_run_is_a_difference(ours, theirs):
    [cell] = review(ours, theirs(change_records=lambda records: records[:-1])).figures[0].cell_differences
    assert cell.what.endswith("-> absent")


def test_figures_of_one_side_are_named_and_not_judged(ours, theirs, figure, save, record):
    save(ours, figure(experiment="more", panels=ONE), [record(experiment="more")])
    [results] = [candidate for candidate in load_results(ours) if candidate.figure.experiment == "greta-13.1"]
    part = write_pack(ours.parent / "part.tar.xz", [results], {})
    assert not review(ours, part).differs
    assert "only in ours, not judged: more headline" in describe(review(ours, part))


def test_results_without_a_common_figure_are_refused(ours, figure, save, tmp_path):
    save(tmp_path / "quick", figure(profile="quick", panels=ONE), [])
    with pytest.raises(ResultsError, match=r"no figure at a profile that .*ours has too; there are greta-13.1 quick"):
        review(ours, tmp_path / "quick")
