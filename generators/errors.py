"""Errors of generators."""

from cepbench.events.errors import CepbenchError


class GeneratorError(CepbenchError):
    """A generator that does not exist, or parameters that it cannot run with: one line that says what is allowed."""
