"""The time stamp counter of the processor: a clock that kernels can read, for delays between two matches."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from cepbench.algorithms.engine.kernels.compilation import is_plain

READABLE = platform.machine().lower() in ("x86_64", "amd64")
"""Elsewhere user programs may not read it."""


def _ticks(context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        if not READABLE:
            return ir.Constant(word, 0)
        counter = builder.module.declare_intrinsic("llvm.readcyclecounter", (), ir.FunctionType(word, []))
        return builder.call(counter, [])

    return types.int64(), generate


ticks = time.perf_counter_ns if is_plain() else cast(Callable[[], int], intrinsic(_ticks))
"""Ticks since some moment, in about 20 cycles; 0 where the counter is not `READABLE`. For kernels only."""
