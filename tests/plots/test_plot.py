"""Drawings of `bench` and `advise`."""

from cepbench.metrics.ranking import Entry, Ranking
from cepbench.metrics.status import Status
from cepbench.plots.plot import _drawing


def test_a_point_with_its_interval_for_each_time_and_a_word_for_what_has_none() -> None:
    entries = (
        Entry("cogra", Status.OK, seconds=1.0, low=0.9, high=1.2),
        Entry("greta", Status.OK, seconds=2.0),
        Entry("sase", Status.TIMEOUT),
        Entry("cet", Status.UNSUPPORTED),
    )
    [axes] = _drawing(Ranking(10, 1, 60.0, entries)).axes
    assert [line.get_xdata().tolist() for line in axes.lines] == [[1.0], [0.9, 1.2], [2.0]]
    assert [text.get_text() for text in axes.texts] == ["1 s", "2 s", "timeout"]
    assert not axes.xaxis.get_minorticklocs().size
    assert [text.get_text() for text in axes.get_yticklabels()] == ["COGRA", "GRETA", "SASE"]
