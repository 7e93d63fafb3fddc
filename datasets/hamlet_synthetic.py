"""The synthetic stream that Hamlet's authors published."""

from cepbench.datasets.base import Dataset, Derived, RawColumn, RawLayout
from cepbench.datasets.expressions import selective
from cepbench.events.schema import Kind

HAMLET_SYNTHETIC = Dataset(
    name="hamlet_synthetic",
    summary="Hamlet's published synthetic stream: 100,000 events of 14 types in periodic bursts.",
    paper="Hamlet 6.1",
    source=(
        "published with the code of Hamlet, github.com/LeiMa0324/Hamlet; O. Poppe, C. Lei, L. Ma, E. A. Rundensteiner: "
        "To Share, or not to Share Online Event Trend Aggregation Over Bursty Event Streams, SIGMOD 2021"
    ),
    license="Not known; ask the authors before redistributing.",
    layouts=(
        RawLayout(
            files="hamlet_synthetic_*.txt*",
            columns=(RawColumn("second", "BIGINT"), RawColumn("kind", "BIGINT"), RawColumn("group", "BIGINT")),
            options={"header": "false", "sep": ","},
        ),
    ),
    needed=("second", "kind", "group"),
    time="second",
    time_unit="s",
    types={"number": "concat('T', kind)", "letter": "char(64 + kind)"},
    attributes=(
        Derived("key", Kind.INT, "`group`"),
        Derived("value", Kind.INT, "kind"),
        *selective("second", "kind", "group"),
    ),
    order=("key",),
    key=("key",),
    faults={"a type that is not 1 to 26": "kind NOT BETWEEN 1 AND 26"},
    stand_in="uniform",
    figures={"letter": ("scale-rate", "scale-workers")},
    note=(
        "One event per second, all of one group. The types come round in a fixed order in bursts of 5 events, and of "
        "20 for type 2. Type k of the published workloads is Tk here, because a type name begins with a letter; "
        "typed by letter they are A to N, as the generator `uniform` names them. `score` and `bound` are "
        "hashes of the row."
    ),
)
