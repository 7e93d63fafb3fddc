"""Prices of stocks as EODData sells them: bars of a minute or a day, or single trades."""

from cepbench.datasets.base import Dataset, Derived, Ranked, RawColumn, RawLayout
from cepbench.datasets.expressions import seconds, selective
from cepbench.events.schema import Kind

# `moment` is yyyyMMdd, yyyyMMddHHmm or yyyyMMddHHmmss, on the exchange's clock.
_DIGITS = "rpad(moment, 14, '0')"
_TEXT = f"regexp_replace({_DIGITS}, '^(....)(..)(..)(..)(..)(..)$', '$1-$2-$3 $4:$5:$6')"
_WRITTEN = "^[0-9]{8}(([01][0-9]|2[0-3])[0-5][0-9]([0-5][0-9])?)?$"

# The stock's previous bar, of any age. Equal moments, as in overlapping files, are ordered, too.
_BEFORE = "(PARTITION BY ticker ORDER BY moment, open, high, low, close, volume)"
_DIFFERENCE = f"round(close - lag(close, 1, close) OVER {_BEFORE}, 4)"
_SIDE = f"CASE WHEN {_DIFFERENCE} < 0 THEN 'sell' ELSE 'buy' END"
_ROW = ("ticker", "moment", "open", "high", "low", "close", "volume")
_SECTORS = 10


def _exchange(name: str, exchange: str) -> Dataset:
    return Dataset(
        name=name,
        summary=f"Bars and trades of {exchange} stocks, as EODData writes them.",
        paper="dissertation 8.1, 13.1, 19.1; Hamlet 6.1; Gloria 8.1; MCEP 6.1",
        source=(
            "Historical stock data, http://www.eoddata.com (layout: its sample readme), in the text form that the "
            "OpenCEP project distributes"
        ),
        license="The vendor's terms; excerpts circulate with published CEP code. Ask the vendor before redistributing.",
        layouts=(
            RawLayout(
                files=f"{exchange}_*.txt",
                columns=(
                    RawColumn("ticker", "STRING"),
                    RawColumn("moment", "STRING"),
                    RawColumn("open", "DOUBLE"),
                    RawColumn("high", "DOUBLE"),
                    RawColumn("low", "DOUBLE"),
                    RawColumn("close", "DOUBLE"),
                    RawColumn("volume", "BIGINT"),
                ),
                options={"header": "false", "sep": ","},
            ),
        ),
        needed=_ROW,
        time=seconds(_TEXT),
        time_unit="s",
        types={
            "company": "concat('C', ticker_rank)",
            "stock": "'Stock'",
            "side": f"initcap({_SIDE})",
            "ticker": "ticker",
        },
        attributes=(
            Derived("company", Kind.INT, "ticker_rank"),
            Derived("ticker", Kind.STRING, "ticker"),
            Derived("sector", Kind.INT, f"ticker_rank % {_SECTORS}"),
            Derived("side", Kind.STRING, _SIDE),
            Derived("price", Kind.FLOAT, "close"),
            Derived("open", Kind.FLOAT, "open"),
            Derived("high", Kind.FLOAT, "high"),
            Derived("low", Kind.FLOAT, "low"),
            Derived("close", Kind.FLOAT, "close"),
            Derived("volume", Kind.INT, "volume"),
            Derived("difference", Kind.FLOAT, _DIFFERENCE),
            # The names in Hamlet's published workloads.
            Derived("open_level", Kind.FLOAT, "open"),
            Derived("vol", Kind.INT, "volume"),
            *selective(*_ROW),
        ),
        order=("company", "open", "high", "low", "close", "volume"),
        key=("company",),
        ranked=(Ranked(("ticker",)),),
        faults={"a moment that is not yyyyMMdd, with HHmm or HHmmss": f"NOT moment RLIKE '{_WRITTEN}'"},
        stand_in="stock",
        absent={"transaction": "a row is a bar or a trade without a number"},
        figures={
            "company": ("hamlet-12", "hamlet-13", "gloria-15", "mcep-10-stock", "mcep-14-stock"),
            "stock": ("greta-13.1",),
            "side": ("greta-13.2", "cogra-19.1", "cogra-19.3"),
        },
        note=(
            "Times are seconds since 1970-01-01 on the exchange's clock. Bars of several stocks share a minute. "
            "Companies are numbered by how many rows they have: C0 has most. The files in circulation differ in years "
            "and stocks, so counts from different papers do not compare. Some bars contradict themselves (an open over "
            "the high); they are kept. `difference` is the close less that of the stock's row before, of any age, "
            "and 0 in its first row. The files name neither sectors nor sides: `sector` is the company's number modulo "
            f"{_SECTORS}, and `side` is sell where the price fell and buy elsewhere (the tick rule). `score` and "
            "`bound` are hashes of the row."
        ),
    )  # fmt: skip


NASDAQ = _exchange("nasdaq", "NASDAQ")
NYSE = _exchange("nyse", "NYSE")
