"""An operator that is one of two, chosen at the first events by what they will cost."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping

import numpy as np

from cepbench.algorithms.base import KeyedBatch, Operator, StateSize
from cepbench.algorithms.rows import KeyedRows
from cepbench.events.batch import DTYPES, EventBatch
from cepbench.events.schema import Schema


class ChosenByCost(Operator):
    """Runs the `usual` operator, or the `other` one where a function of the first events prefers it.

    Batches without events decide nothing. `schema`: that of the events; `name`: the detail that has the number of
    operators that chose the other one.
    """

    def __init__(
        self,
        schema: Schema,
        usual: Operator,
        other: Operator,
        prefers_other: Callable[[KeyedBatch], bool],
        name: str,
    ) -> None:
        self.both = (usual, other)
        self.chosen: Operator | None = None
        self._schema, self._prefers_other, self._name = schema, prefers_other, name
        self._took_other = False

    def process(self, batch: KeyedBatch) -> KeyedRows:
        if self.chosen is None:
            if len(batch.keys) == 0:
                return {}
            self._took_other = self._prefers_other(batch)
            self.chosen = self.both[self._took_other]
            del self.both
        return self.chosen.process(batch)

    def finish(self) -> KeyedRows:
        return {} if self.chosen is None else self.chosen.finish()

    def state(self) -> StateSize:
        return StateSize() if self.chosen is None else self.chosen.state()

    def details(self) -> Mapping[str, float]:
        return {self._name: float(self._took_other), **(self.chosen.details() if self.chosen else {})}

    def load(self) -> None:
        """Runs both on one event, since a warm-up on few events chooses only one of them."""
        for one in copy.deepcopy(self.both):
            one.load()
            one.process(KeyedBatch.of_one_key(_any_event(self._schema)))
            one.finish()

    def idle(self) -> Operator:
        """One that chooses as this one does: the two may have different overheads."""
        if self.chosen is not None:
            return self.chosen.idle()
        usual, other = (one.idle() for one in self.both)
        return ChosenByCost(self._schema, usual, other, self._prefers_other, self._name)


def _any_event(schema: Schema) -> EventBatch:
    columns = {attribute.name: np.zeros(1, DTYPES[attribute.kind]) for attribute in schema.attributes}
    return EventBatch(schema, np.zeros(1, np.int64), np.zeros(1, np.int32), columns, np.zeros(1, np.int64))
