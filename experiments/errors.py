"""Errors of experiments and sweeps."""

from cepbench.events.errors import CepbenchError


class ExperimentError(CepbenchError):
    """An experiment that cannot be used; the message names the file and the field."""


class SweepError(CepbenchError):
    """A sweep that cannot use its results folder."""
