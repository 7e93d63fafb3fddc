"""Parameters of generators: those of every stream, and one-line errors for invalid values."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator, ValidationError, model_validator
from pydantic.fields import FieldInfo

from cepbench.generators.arrival import ticks_per_second
from cepbench.generators.errors import GeneratorError

# Together these keep the arithmetic of time stamps within 64 bits (see `generators.arrival`).
MAX_RATE = 10**8
MAX_DENOMINATOR = 10**4
MAX_EVENTS = 10**12
MAX_BLOCK = 10**6
MAX_TIME = 2**62


def _positive_fraction(value: object) -> Fraction:
    try:
        # A float is read as it is written: 0.1 is one tenth.
        number = Fraction(str(value).strip()) if isinstance(value, int | float | str | Fraction) else None
    except (ValueError, ZeroDivisionError):
        number = None
    if number is None or number <= 0:
        raise ValueError("not a positive number")
    if number.denominator > MAX_DENOMINATOR:
        raise ValueError("too precise")
    return number


def _rate(value: object) -> Fraction:
    rate = _positive_fraction(value)
    if rate > MAX_RATE:
        raise ValueError("too high")
    return rate


_FRACTION_RULE = "a positive number with up to four decimals, or a fraction such as 500/3"
Rate = Annotated[
    Fraction,
    PlainValidator(_rate, json_schema_input_type=str),
    PlainSerializer(str),
    f"{_FRACTION_RULE}, at most {MAX_RATE}",
]
Duration = Annotated[
    Fraction, PlainValidator(_positive_fraction, json_schema_input_type=str), PlainSerializer(str), _FRACTION_RULE
]
TimeUnit = Literal["ns", "us", "ms", "s", "min", "h", "day"]


class StreamParameters(BaseModel):
    """The parameters of every generated stream. Immutable; unknown names are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    default_duration: ClassVar[Fraction] = Fraction(3600)

    seed: int = Field(0, ge=0, description="seed of all randomness")
    rate: Rate = Field(Fraction(1), description="events per second of the whole stream")
    events: int | None = Field(None, ge=1, le=MAX_EVENTS, description="number of events; instead of duration")
    duration: Duration | None = Field(None, description="seconds of stream time; instead of events")
    time_unit: TimeUnit = Field("s", description="unit of the time stamps")
    simultaneous: int | None = Field(
        None,
        ge=1,
        le=MAX_BLOCK,
        description="consecutive events that share one time stamp; by default as rate and unit imply",
    )

    @model_validator(mode="after")
    def _check_stream(self) -> "StreamParameters":
        if self.events is not None and self.duration is not None:
            raise ValueError("events and duration exclude each other; give one of them")
        if not 1 <= self.count <= MAX_EVENTS:
            raise ValueError(f"rate and duration make {self.count} events; 1 to {MAX_EVENTS} are allowed")
        if self.last_second * ticks_per_second(self.time_unit) >= MAX_TIME:
            raise ValueError(
                f"the last of {self.count} events is too late for 64 bits in unit {self.time_unit!r}; "
                f"choose a coarser time_unit or fewer events"
            )
        per_stamp = self.rate / ticks_per_second(self.time_unit)
        if self.simultaneous is not None and self.simultaneous < per_stamp:
            raise ValueError(
                f"simultaneous = {self.simultaneous}, but {self.rate} events/s are {float(per_stamp):g} on one time "
                f"stamp of unit {self.time_unit!r}; raise simultaneous, lower the rate or choose a finer time_unit"
            )
        return self

    @property
    def seconds(self) -> Fraction:
        """Stream time to fill at the rate, even if `events` cuts it short."""
        return self.default_duration if self.duration is None else self.duration

    @property
    def count(self) -> int:
        """Number of events of the stream."""
        return int(self.rate * self.seconds) if self.events is None else self.events

    @property
    def last_second(self) -> Fraction:
        """An upper bound of the stream time."""
        return self.count / self.rate

    @property
    def block(self) -> int:
        """Consecutive events that always share one time stamp."""
        return 1 if self.simultaneous is None else self.simultaneous


@dataclass(frozen=True)
class Parameter:
    """One parameter as a listing shows it."""

    name: str
    default: str
    allowed: str
    meaning: str


P = TypeVar("P", bound=BaseModel)


def parse(generator: str, model: type[P], values: Mapping[str, Any]) -> P:
    """`values` (numbers, or text from a command line) as parameters; the first fault as a one-line `GeneratorError`."""
    names = sorted(model.model_fields)
    for name in values:
        if name not in model.model_fields:
            raise GeneratorError(f"generator {generator} has no parameter {name!r}; choose from {', '.join(names)}")
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        raise GeneratorError(f"generator {generator}: {_first_fault(model, error)}") from None


def parameters_of(model: type[BaseModel]) -> tuple[Parameter, ...]:
    """All parameters of a generator: its own first, then those of every stream."""
    inherited = set(StreamParameters.model_fields)
    names = sorted(model.model_fields, key=lambda name: name in inherited)
    fields = model.model_fields
    return tuple(
        Parameter(
            name,
            _shown(fields[name].default),
            allowed(fields[name]),
            fields[name].description or "",
        )
        for name in names
    )


def _shown(default: object) -> str:
    if isinstance(default, tuple):
        return ", ".join(map(str, default))
    return "" if default is None else str(default)


def allowed(field: FieldInfo) -> str:
    """The values of a parameter, in words."""
    for rule in field.metadata:
        if isinstance(rule, str):
            return rule
    options = [field.annotation, *get_args(field.annotation)]
    for option in options:
        if get_origin(option) is Literal:
            return "one of " + ", ".join(str(choice) for choice in get_args(option))
        rules = [rule for rule in getattr(option, "__metadata__", ()) if isinstance(rule, str)]
        if rules:
            return rules[0]
    if bool in options:
        return "true or false"
    if str in options:
        return "text"
    kind = "a whole number" if int in options else "a number"
    bounds = []
    for rule in field.metadata:
        match rule:
            case Ge(ge=bound):
                bounds.append(f">= {bound}")
            case Gt(gt=bound):
                bounds.append(f"> {bound}")
            case Le(le=bound):
                bounds.append(f"<= {bound}")
            case Lt(lt=bound):
                bounds.append(f"< {bound}")
    return f"{kind} {' and '.join(bounds)}".rstrip()


def _first_fault(model: type[BaseModel], error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    message = fault["msg"].removeprefix("Value error, ")
    if not fault["loc"]:
        return message
    name = str(fault["loc"][0])
    return f"parameter {name} = {fault['input']!r} is not allowed; give {allowed(model.model_fields[name])}"
