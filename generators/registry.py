"""All generators, and how to construct one from a name and parameters."""

from collections.abc import Mapping
from typing import Any

from cepbench.events.errors import choices
from cepbench.generators.base import Generator
from cepbench.generators.bus import Bus
from cepbench.generators.cluster import Cluster
from cepbench.generators.ecommerce import ECommerce
from cepbench.generators.errors import GeneratorError
from cepbench.generators.financial import Financial
from cepbench.generators.frequencies import Frequencies
from cepbench.generators.linear_road import LinearRoad
from cepbench.generators.parameters import parse
from cepbench.generators.ridesharing import Ridesharing
from cepbench.generators.sensors import Sensors
from cepbench.generators.smart_home import SmartHome
from cepbench.generators.stock import Stock
from cepbench.generators.taxi import Taxi
from cepbench.generators.transport import Transport
from cepbench.generators.uniform import Uniform

GENERATORS: tuple[type[Generator[Any]], ...] = (
    Stock,
    LinearRoad,
    Cluster,
    Transport,
    Ridesharing,
    Financial,
    ECommerce,
    Taxi,
    Bus,
    SmartHome,
    Sensors,
    Frequencies,
    Uniform,
)


def generator_class(name: str) -> type[Generator[Any]]:
    """The generator of that name, or a `GeneratorError` that lists all names."""
    for generator in GENERATORS:
        if generator.name == name:
            return generator
    raise GeneratorError(f"unknown generator {name!r}; {choices(name, (listed.name for listed in GENERATORS))}")


def from_spec(name: str, parameters: Mapping[str, Any]) -> Generator[Any]:
    """The generator `name` with `parameters` (numbers or their text; others have their defaults)."""
    generator = generator_class(name)
    return generator(parse(name, generator.Parameters, parameters))
