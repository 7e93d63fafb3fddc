"""Financial transactions: check deposits among which every relevant one follows a chosen number of earlier ones."""

from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PlainSerializer, PlainValidator, model_validator

from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.generators.arrival import ticks_per_second
from cepbench.generators.base import Columns, Generator
from cepbench.generators.parameters import Rate, StreamParameters, TimeUnit

MAX_DENOMINATOR = 10**9


def _share(value: object) -> Fraction:
    try:
        number = Fraction(str(value).strip()) if isinstance(value, int | float | str | Fraction) else Fraction(0)
    except (ValueError, ZeroDivisionError):
        number = Fraction(0)
    if not 0 < number <= 1 or number.denominator > MAX_DENOMINATOR:
        raise ValueError("not a share")
    return number


Share = Annotated[
    Fraction,
    PlainValidator(_share, json_schema_input_type=str),
    PlainSerializer(str),
    "a number > 0 and <= 1 with up to nine decimals, or a fraction such as 1/3500",
]


class FinancialParameters(StreamParameters):
    """Defaults of dissertation 8.1 where it gives them: 3.5k events/s for 3 days, compatibility 3."""

    default_duration = Fraction(3 * 24 * 3600)

    rate: Rate = Field(Fraction(3500), description="events per second of the whole stream")
    time_unit: TimeUnit = Field("us", description="unit of the time stamps; each relevant event needs a separate one")
    compatibility: int = Field(3, ge=1, le=10**6, description="earlier events that each relevant event can follow (C)")
    selectivity: Share = Field(Fraction(1, 1000), description="share of the events that are relevant (S)")
    banks: int = Field(10_000, ge=2, le=10**9, description="banks; each recurs after as many groups")

    @model_validator(mode="after")
    def _check_relevant(self) -> "FinancialParameters":
        apart = int(1 / self.selectivity)  # the least distance of two relevant events
        if self.block > apart or apart * ticks_per_second(self.time_unit) < self.rate:
            raise ValueError(
                f"rate = {self.rate} and selectivity = {self.selectivity} put several relevant events on one time "
                f"stamp of unit {self.time_unit!r}; lower them or simultaneous, or choose a finer time_unit"
            )
        return self


class Financial(Generator[FinancialParameters]):
    """Check deposits, a share of them not covered; each of those follows a chosen number of earlier ones.

    Attributes: `source` and `destination` (numbers of banks), `covered` (1 or 0).

    The share S = `selectivity` of the events is relevant: `covered` is 0. They are evenly spaced, every 1/S-th event,
    so n consecutive events contain n S of them, plus or minus one. The others are covered and go between random banks.

    Relevant events come in groups of C = `compatibility`, one group after the other. A group deposits from one bank
    into the bank from which the next group deposits. So with

        PATTERN Check C+ WHERE C.covered = 0 AND C.destination = NEXT(C).source

    a relevant event is adjacent to exactly the C events of the group before, as in dissertation 8.1, and to none of its
    own group, in windows of fewer than `banks` groups. A window has as many complete trends as the product of the sizes
    of its groups: C^(n/C) for n relevant events if it cuts no group. The first window of w seconds cuts none if w times
    rate times S is a multiple of C.

    Events on one time stamp never follow each other, so each relevant event has its own time stamp, and parameters for
    which the time unit is too coarse are refused. The dissertation counts in seconds; 3.5k events/s with one relevant
    among each thousand need at least milliseconds (`time_unit`).
    """

    name = "financial"
    paper = "dissertation 8.1"
    Parameters = FinancialParameters

    def schema(self) -> Schema:
        """One type."""
        attributes = (
            Attribute("source", Kind.INT),
            Attribute("destination", Kind.INT),
            Attribute("covered", Kind.INT),
        )
        return Schema(("Check",), attributes, self.parameters.time_unit)

    def _columns(self, index: int) -> tuple[NDArray[np.int64] | NDArray[np.int32], Columns]:
        p, n = self.parameters, self.slice_events
        before = self._relevant_before(index)
        covered = before[1:] == before[:-1]
        group = before[:-1] // p.compatibility
        random_source = self._random("source", index).integers(p.banks, size=n, dtype=np.int64)
        random_destination = self._random("destination", index).integers(p.banks, size=n, dtype=np.int64)
        columns: Columns = {
            "source": np.where(covered, random_source, group % p.banks),
            "destination": np.where(covered, random_destination, (group + 1) % p.banks),
            "covered": covered.astype(np.int64),
        }
        return np.zeros(n, dtype=np.int32), columns

    def _relevant_before(self, index: int) -> NDArray[np.int64]:
        """Relevant events of the stream before each event of full slice `index`, and after its last, int64[n + 1].

        floor(i S) before event i, exactly: only the distance to the slice's first event is multiplied in 64 bits, and
        2^22 S < 2^52.
        """
        share, n = self.parameters.selectivity, self.slice_events
        base, carry = divmod(index * n * share.numerator, share.denominator)
        steps = np.arange(n + 1, dtype=np.int64)
        return base + (steps * share.numerator + carry) // share.denominator
