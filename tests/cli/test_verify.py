"""`cepbench verify`: what it prints, and its status."""

from types import SimpleNamespace

import pytest


@pytest.mark.full
def test_verify_reports_what_it_compared(cepbench):
    ended = cepbench("verify", "-a", "greta", "-a", "cogra", "--cases", "20", "--seed", "3")
    assert ended.status == 0, ended.out
    assert "greta: 20 cases compared" in ended.out
    assert "cogra: 20 cases compared" in ended.out


def test_unknown_algorithm_is_refused_before_anything_runs(cepbench):
    ended = cepbench("verify", "-a", "greta", "-a", "nothing", "--cases", "20")
    assert (ended.status, ended.out) == (2, "")
    assert "nothing" in ended.err


def test_failure_is_status_1(cepbench, monkeypatch):
    from cepbench.algorithms.compose import Several

    monkeypatch.setattr(Several, "finish", lambda self: {})
    ended = cepbench("verify", "-a", "greta", "--cases", "200")
    assert ended.status == 1
    assert "wrong answer" in ended.out
    assert "time,type" in ended.out


@pytest.mark.parametrize("wrong", ["greta", "cogra"])
def test_one_wrong_algorithm_is_status_1_wherever_it_stands(cepbench, monkeypatch, wrong):
    def verified(specification, *_, **__):
        return SimpleNamespace(clean=specification != wrong)

    monkeypatch.setattr("cepbench.verification.verify.verify", verified)
    assert cepbench("verify", "-a", "greta", "-a", "cogra", "--cases", "1").status == 1
    assert cepbench("verify", "-a", "sase", "-a", "aseq", "--cases", "1").status == 0
