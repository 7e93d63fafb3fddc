"""The capabilities of algorithms, as plain values that listings, documents and the report show."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Capability:
    """A feature: a workload that uses it, and why algorithms refuse it, by their specification."""

    group: str  # "Negation"
    name: str  # "NOT at the end"
    workload: str  # queries in text
    reasons: Mapping[str, str]  # without algorithms that can evaluate it


@dataclass(frozen=True)
class Capabilities:
    """A matrix of capabilities and `algorithms` (specifications), in the order in which they are shown.

    `absent` has what is missing for algorithms that cannot run on this machine; their column holds for other machines.
    """

    algorithms: tuple[str, ...]
    rows: tuple[Capability, ...]
    absent: Mapping[str, str]

    def refusals(self, algorithm: str) -> dict[str, tuple[str, ...]]:
        """The reasons of an algorithm, each with the names of the refused features.

        A group of several features that is refused as a whole for one reason is named `all of <group>`.
        """
        features: dict[str, dict[str, None]] = {}
        groups: dict[str, list[str | None]] = {}
        for row in self.rows:
            groups.setdefault(row.group, []).append(row.reasons.get(algorithm))
        for row in self.rows:
            reason, all_of_group = row.reasons.get(algorithm), groups[row.group]
            if reason is not None:
                whole = len(all_of_group) > 2 and len(set(all_of_group)) == 1
                features.setdefault(reason, {})[f"all of {row.group}" if whole else row.name] = None
        return {reason: tuple(names) for reason, names in features.items()}
