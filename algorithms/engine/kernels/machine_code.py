# mypy: disable-error-code="no-untyped-call"
"""Machine code for what is called only.

Numba optimizes each function that it compiles, and makes machine code of it, though most are parts that LLVM copies
into their callers and optimizes there once more. Python calls one of the 120 functions of a large kernel: if only that
is optimized and has machine code, compiling takes 0.6 of the time (28 instead of 45 processor seconds for the first
query of COGRA).

Numba has no option for this. Where parts are compiled without optimization (`numba.config.OPT`, set for them alone),
they nevertheless have machine code, and more of it: that query took more than 68 seconds. So `on_demand` replaces the
class `JITCodeLibrary` of Numba's code generator by a subclass. It overrides `_optimize_final_module`,
`_finalize_final_module`, `get_pointer_to_function`, `serialize_using_object_code` and `codegen`, and calls
`_ensure_finalized`, `_finalize_dynamic_globals`, `_verify_declare_only_symbols`, `get_defined_functions` and
`serialize_using_bitcode`. Nothing else of the project depends on it: with a version of Numba with which it was not
tried, kernels are compiled without it.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target

TRIED = ("0.61", "0.62", "0.63", "0.64", "0.65", "0.66", "0.67", "0.68")
"""The versions of Numba with which the test of this module has passed."""


class _NoEnvironment:
    """Where a function without machine code would have its Python objects."""

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _OnDemand(JITCodeLibrary):
    """A compiled function that is optimized and gets machine code when its address is asked for: at once if it has a
    way in from Python, otherwise never. Those without are kept on disk as bitcode, from which callers are compiled.
    """

    _made = False

    def _optimize_final_module(self) -> None:
        pass  # with its machine code

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True
        if getattr(self, "_compiled_object", None) is not None:  # from disk
            self._make()

    def _make(self) -> None:
        self._made = True
        super()._finalize_final_module()

    @property
    def codegen(self) -> Any:
        return self._codegen if self._made else _NoEnvironment()

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        if not self._made and any(one.name == name for one in self.get_defined_functions()):
            super()._optimize_final_module()
            self._make()
        address: int = super().get_pointer_to_function(name) if self._made else 0
        return address

    def serialize_using_object_code(self) -> Any:
        return super().serialize_using_object_code() if self._made else self.serialize_using_bitcode()


def is_tried() -> bool:
    """Whether the module was tried with this version of Numba."""
    return numba.__version__.startswith(tuple(f"{version}." for version in TRIED))


def on_demand() -> None:
    """From now on no function that Numba compiles in this process has machine code before its address is asked for.

    Does nothing with a version of Numba that was not tried.
    """
    if is_tried():
        cpu_target.target_context.codegen()._library_class = _OnDemand
