"""All data sets."""

from cepbench.datasets.base import Dataset, DatasetError
from cepbench.datasets.bus_positions import DUBLIN_BUS
from cepbench.datasets.flights_3m import FLIGHTS_3M
from cepbench.datasets.hamlet_synthetic import HAMLET_SYNTHETIC
from cepbench.datasets.linear_road import LINEAR_ROAD
from cepbench.datasets.physical_activity import PHYSICAL_ACTIVITY, PHYSICAL_ACTIVITY_CET
from cepbench.datasets.road_traffic import AARHUS_TRAFFIC
from cepbench.datasets.smart_plugs import DEBS_2014
from cepbench.datasets.stocks import NASDAQ, NYSE
from cepbench.datasets.taxi_trips import NYC_TAXI
from cepbench.events.errors import choices

DATASETS: tuple[Dataset, ...] = (
    NASDAQ,
    NYSE,
    PHYSICAL_ACTIVITY,
    PHYSICAL_ACTIVITY_CET,
    NYC_TAXI,
    DEBS_2014,
    DUBLIN_BUS,
    AARHUS_TRAFFIC,
    LINEAR_ROAD,
    HAMLET_SYNTHETIC,
    FLIGHTS_3M,
)


def dataset(name: str) -> Dataset:
    """The data set of that name, or a `DatasetError` that lists all names."""
    for candidate in DATASETS:
        if candidate.name == name:
            return candidate
    raise DatasetError(f"unknown data set {name!r}; {choices(name, (candidate.name for candidate in DATASETS))}")
