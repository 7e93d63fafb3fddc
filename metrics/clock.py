"""The virtual clock: completion times from measured service times and a schedule of arrivals.

A rate sweep needs no sleeping, and a slow system cannot hold back the arrivals (no coordinated omission), because the
schedule is given and only the service is measured (docs/measurement.md, Arrival).
"""

import numpy as np
from numpy.typing import NDArray

Seconds = NDArray[np.float64]


def completions(arrival: Seconds, service: Seconds) -> Seconds:
    """The time at which each batch is done, in seconds: completion = max(arrival, previous completion) + service.

    `arrival` and `service` are float64[n] of one worker in the order of processing; arrivals do not decrease.
    The recurrence unrolls to a running maximum: completion_i = S_i + max_{j <= i}(arrival_j - S_{j-1}), S the running
    sum of service.
    """
    if arrival.shape != service.shape:
        raise ValueError(f"{len(arrival)} arrivals but {len(service)} service times")
    done = np.cumsum(service)
    slack: Seconds = np.maximum.accumulate(arrival - (done - service))
    return done + slack


def waiting(arrival: Seconds, service: Seconds) -> Seconds:
    """The time that each batch waits for its predecessors, in seconds."""
    return np.maximum(completions(arrival, service) - service - arrival, 0.0)


def open_arrivals(position: NDArray[np.int64], rate: float) -> Seconds:
    """The schedule of the open model: event i of the whole stream arrives (i + 1) / rate seconds after the start."""
    if not rate > 0:
        raise ValueError(f"a rate is positive, not {rate:g}")
    return (position + 1) / rate
