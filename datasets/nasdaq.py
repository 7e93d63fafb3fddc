"""One-minute bars of NASDAQ stocks."""

from cepbench.datasets.base import Dataset, Derived, RawColumn
from cepbench.events.schema import Kind

# `minute` is yyyyMMddHHmm. Dates are counted without a time zone: unix_timestamp would apply the session's.
_DAY = "unix_date(to_date(substring(minute, 1, 8), 'yyyyMMdd'))"
_MINUTE_OF_DAY = "(CAST(substring(minute, 9, 2) AS BIGINT) * 60 + CAST(substring(minute, 11, 2) AS BIGINT))"

# The stock's bar before, however long ago. Equal minutes, as in overlapping files, are put into one order, too.
_BEFORE = "(PARTITION BY ticker ORDER BY minute, open, high, low, close, volume)"
_DIFFERENCE = f"round(close - lag(close, 1, close) OVER {_BEFORE}, 4)"

NASDAQ = Dataset(
    name="nasdaq",
    summary="One-minute bars of NASDAQ stocks; the ticker is the event type.",
    paper="Hamlet 6.1, Gloria 8.1, MCEP 6.1",
    source="Historical stock data, http://www.eoddata.com, in the text form that the OpenCEP project distributes",
    licence="The vendor's terms; excerpts circulate with published CEP code. Ask the vendor before redistributing.",
    files="NASDAQ_*.txt",
    columns=(
        RawColumn("ticker", "STRING"),
        RawColumn("minute", "STRING"),
        RawColumn("open", "DOUBLE"),
        RawColumn("high", "DOUBLE"),
        RawColumn("low", "DOUBLE"),
        RawColumn("close", "DOUBLE"),
        RawColumn("volume", "BIGINT"),
    ),
    time=f"{_DAY} * 1440 + {_MINUTE_OF_DAY}",
    time_unit="min",
    type="ticker",
    attributes=(
        Derived("company", Kind.STRING, "ticker"),
        Derived("open", Kind.FLOAT, "open"),
        Derived("high", Kind.FLOAT, "high"),
        Derived("low", Kind.FLOAT, "low"),
        Derived("close", Kind.FLOAT, "close"),
        Derived("volume", Kind.INT, "volume"),
        Derived("difference", Kind.FLOAT, _DIFFERENCE),
        # The names in Hamlet's published workloads.
        Derived("open_level", Kind.FLOAT, "open"),
        Derived("vol", Kind.INT, "volume"),
    ),
    order=("company", "open", "high", "low", "close", "volume"),
    options={"header": "false", "sep": ","},
    note=(
        "Times are minutes since 1970-01-01 on the exchange's clock. Bars of several stocks share a minute, and a "
        "stock has at most one bar a minute. The files in circulation differ in years and stocks, so counts from "
        "different papers do not compare. Some bars contradict themselves (an open above the high); they are kept. "
        "`difference` is the close less that of the stock's bar before, however long ago, and 0 in its first bar."
    ),
)
