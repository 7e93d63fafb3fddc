"""All data sets."""

from cepbench.datasets.base import Dataset
from cepbench.datasets.errors import DatasetError
from cepbench.datasets.hamlet_synthetic import HAMLET_SYNTHETIC
from cepbench.datasets.nasdaq import NASDAQ
from cepbench.datasets.physical_activity import PHYSICAL_ACTIVITY, PHYSICAL_ACTIVITY_CET

DATASETS: tuple[Dataset, ...] = (NASDAQ, PHYSICAL_ACTIVITY, PHYSICAL_ACTIVITY_CET, HAMLET_SYNTHETIC)


def dataset(name: str) -> Dataset:
    """The data set of that name, or a `DatasetError` that lists all names."""
    for found in DATASETS:
        if found.name == name:
            return found
    names = ", ".join(found.name for found in DATASETS)
    raise DatasetError(f"unknown data set {name!r}; choose one of {names}")
