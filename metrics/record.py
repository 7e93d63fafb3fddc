"""The record of one measured cell: the only input of plots, claims and the report."""

from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from cepbench.metrics.status import Status

FORMAT = 2
READERS = {1: "cepbench 1.0 reads it"}
"""Earlier formats; in format 1, the times of a cell and its memory were two records."""


class Strict(BaseModel):
    """Immutable, and unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Samples(Strict):
    """Raw measurements of one cell, lists of equal meaning per entry; times in seconds.

    - `latency`: one per result row: completion - scheduled arrival of the last event of its window.
    - `service`: one per processed arrival batch (all keys of one worker).
    - `workers`: service time of each worker, of several ones; `starts`: seconds from the request for each to its first
      event.
    - `state_bytes`: `Executor.state().bytes` summed over the live executors of a worker, over time, in the memory run.

    For repeated runs, they are those of the run with the median service time.
    """

    latency: list[float] = Field(default_factory=list)
    service: list[float] = Field(default_factory=list)
    workers: list[float] = Field(default_factory=list)
    starts: list[float] = Field(default_factory=list)
    state_bytes: list[int] = Field(default_factory=list)


class Load(Strict):
    """Other load of the machine during the runs; for several workers, the maximum. None if the system does not report
    it.
    """

    average: float | None = None  # load average of a minute, at the start of the runs
    waited: float | None = None  # share of time in which the worker waited for a processor
    stolen: float | None = None  # share of the machine's time that its hypervisor gave to others
    pace: float | None = None  # seconds of a fixed piece of work during the runs (`metrics.load`)
    slowed: float | None = None  # that over the shortest of any cell on the same hosts that was known by then


class Summary(Strict):
    """The numbers of a cell that figures plot; None means not measured. Seconds, events per second, bytes.

    For repeated runs, each number is the median over its runs.
    """

    runs: int | None = None  # timed runs that count
    latency_p50: float | None = None
    latency_p95: float | None = None
    latency_p99: float | None = None
    latency_max: float | None = None
    latency_mean: float | None = None
    latency_p99_at_80: float | None = None  # if events arrived at 80% of the rate that is known to be sustainable
    service_total: float | None = None  # of all workers
    service_low: float | None = None  # interval of the median of `service_total`, from six runs on
    service_high: float | None = None
    service_per_window: float | None = None  # service_total / windows
    # service time on one event per window; in packs of cepbench 1.0, of executors that do nothing
    floor_total: float | None = Field(None, validation_alias=AliasChoices("floor_total", "idle_total"))
    floor_batch: float | None = Field(None, validation_alias=AliasChoices("floor_batch", "idle_batch"))  # per batch
    makespan: float | None = None  # service time of the slot that was busy longest
    elapsed: float | None = None  # planning, starts and service of the slot for which they take longest, and merging
    skew: float | None = None  # that over the mean of all slots
    slots: int | None = None  # workers that ran side by side
    throughput: float | None = None  # events / makespan
    throughput_per_core: float | None = None  # events / service_total
    throughput_per_slot: float | None = None  # events / makespan / slots
    state_peak: int | None = None
    state_kinds: dict[str, int] = Field(default_factory=dict)
    process_peak: int | None = None
    plan_seconds: float | None = None
    compile_seconds: float | None = None
    worker_limit_bytes: int | None = None  # address space of a worker, as the system says
    worker_base_bytes: int | None = None  # the part of it that a worker uses before the first event
    sustainable_low: float | None = None
    sustainable_high: float | None = None
    details: dict[str, float] = Field(default_factory=dict)  # numbers that optimizer and executors report


class Realised(Strict):
    """The measured properties of the workload."""

    events: int
    windows: int
    rows: int
    substreams: int
    batches: int | None = None  # maximum number of arrival batches of a worker
    rate: float | None = None
    events_per_window: float | None = None
    matches_per_window: float | None = None
    selectivity: float | None = None


class Record(Strict):
    """One cell: one algorithm at one point of an experiment, in one round.

    `status` and `reason` are those of the timed run. Memory has a run of its own, with `memory_status` and
    `memory_reason`; None if memory is not measured. It does not run where the timed run did not end ok, and then has
    the same status and reason. The fields of memory (`metrics.values.is_memory`) come from the memory run, all others
    from the timed one.
    """

    format: int = FORMAT
    cell: str  # identity: a hash of experiment, profile, point, algorithm, configuration and round
    group: str  # cells with equal group ran on the same input and must give the same answer
    experiment: str  # e.g. "greta-13.1"
    profile: str  # smoke, quick, headline, paper
    algorithm: str  # specification, e.g. "greta" or "cogra"
    point: dict[str, Any]  # axis name -> value
    round: int  # from 1
    configuration: dict[str, Any]  # all inputs of the run
    status: Status
    reason: str = ""
    memory_status: Status | None = None
    memory_reason: str = ""
    limit_seconds: float
    limit_bytes: int
    plan_limit_seconds: float | None = None  # the limit of an optimizer that exceeded it: a timeout before any event
    digest: str | None = None  # of the answer: independent of the order of rows
    overflow: bool = False
    samples: Samples = Samples()
    runs: dict[str, list[float]] = Field(default_factory=dict)  # by metric: of each run of a cell that was repeated
    summary: Summary = Summary()
    realised: Realised | None = None
    unanswered: bool = False  # the algorithm only planned, so that its answer is empty
    cut_off: bool = False  # the algorithm left matches out on purpose, so that its answer is not compared
    lost: tuple[str, ...] = ()  # why earlier attempts at this cell failed
    hosts: tuple[str, ...] = ()  # where workers ran
    load: Load | None = None
    notices: tuple[str, ...] = ()  # notices on the numbers (`metrics.notices`)
    provenance: dict[str, Any] = Field(default_factory=dict)
    started: str = ""  # ISO 8601, UTC
    seconds: float = 0.0  # wall time of the whole cell; 0 if it did not run

    @model_validator(mode="before")
    @classmethod
    def _of_this_format(cls, fields: Any) -> Any:
        form = fields.get("format", FORMAT) if isinstance(fields, dict) else FORMAT
        if form != FORMAT:
            remedy = READERS.get(form, "use the version of cepbench that wrote it")
            raise ValueError(f"record format {form}, expected {FORMAT}; {remedy}")
        return fields

    @property
    def cell_status(self) -> Status:
        """The status of the whole cell: that of the memory run if only that did not end ok."""
        return self.memory_status or self.status if self.status is Status.OK else self.status

    @property
    def cell_reason(self) -> str:
        """The reason of `cell_status`."""
        return self.reason if self.cell_status is self.status else f"memory: {self.memory_reason}"
