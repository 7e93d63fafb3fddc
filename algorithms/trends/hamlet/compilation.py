"""A sharable set of queries as the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from cepbench.algorithms.engine.kernels.cells import Weighing, cell_bytes
from cepbench.algorithms.engine.kernels.constants import ANY, END, NONE
from cepbench.algorithms.trends.hamlet.kernels.alone import WORK_CELLS
from cepbench.algorithms.trends.hamlet.kernels.program import HamletProgram, TemplateTables
from cepbench.algorithms.trends.hamlet.kernels.state import ROW
from cepbench.algorithms.trends.hamlet.workload import KleeneSubPattern, SharableSet
from cepbench.algorithms.trends.online.granularity import COARSEST
from cepbench.algorithms.trends.online.template import Row, offsets
from cepbench.algorithms.trends.snapshots.channels import MemberChannels
from cepbench.algorithms.trends.snapshots.compilation import CompiledMembers, SetCompiler
from cepbench.events.schema import Schema

CompiledSet = CompiledMembers[HamletProgram]

GRAPHLET = "graphlet"
"""The granularity at which an event visits those of its own shared graphlet, and reads the sums of all others."""


def compile_set(chosen: SharableSet, schema: Schema, granularity: str) -> CompiledSet:
    """The merged template of a set (Section 3.1) with slots, groups and channels."""
    merged = _Merger(chosen, schema, granularity)
    positions = [range(*run) for run in pairwise(merged.first_position)]
    channels = MemberChannels.of_members([part.tables for part in merged.parts], positions)
    weights = channels.weights(range(merged.first_position[-1]))
    program = HamletProgram(merged.template(weights), merged.predicates, weights)
    return CompiledSet(chosen.members, merged.read, channels, merged.negations, program)


class _Merger(SetCompiler):
    """Collects the records of all members, then those of the sub-patterns that they share.

    `bound` has the positions of each type, `group_of` the number of its sub-pattern, if that is shared. `contexts`: as
    in `SetRecord`.
    """

    def __init__(self, chosen: SharableSet, schema: Schema, granularity: str) -> None:
        super().__init__(chosen.members, schema, granularity, TemplateTables)
        self.bound: list[list[int]] = [[] for _ in schema.types]
        self.group_of: dict[int, int] = {}
        self.contexts = 0
        for m, member in enumerate(self.members):
            self.add_member(m, {"unit": NONE})
            followed = {t.source for t in member.automaton.transitions if granularity == GRAPHLET}
            for number, place in enumerate(member.automaton.positions):
                p = self.first_position[m] + number
                row = self.rows["position"][p]
                row |= {"visited": row["kept"], "kept": row["kept"] or number in followed}
                if self.schema.type_code(place.type) >= 0:
                    self.bound[self.schema.type_code(place.type)].append(p)
        for patterns in chosen.shared:
            self._add_group(patterns)

    def _add_group(self, patterns: Sequence[KleeneSubPattern]) -> None:
        """A Kleene sub-pattern at the positions that share it."""
        positions, g, first = self.rows["position"], len(self.rows["group"]), len(self.rows["predicate_class"])
        numbers = [self.first_position[pattern.member] + pattern.position for pattern in patterns]
        of_unit = [pattern.predicates for pattern in patterns]
        distinct = list(dict.fromkeys(of_unit))
        reference = max(distinct, key=of_unit.count)
        units: list[Row] = []
        value = ROW.values
        for p, predicates in zip(numbers, of_unit, strict=True):
            positions[p]["unit"] = len(self.rows["unit"]) + len(units)
            edges = enumerate(self._into(p), positions[p]["enter"])
            loop = next(e for e, edge in edges if edge["source"] == p)
            unit = {"group": g, "position": p, "loop": loop, "value": value}
            units.append(unit | {"predicate_class": first + distinct.index(predicates)})
            value += self.windows[positions[p]["window"]].overlap
        classes: list[Row] = []
        for predicates in distinct:
            unit = units[of_unit.index(predicates)]
            loop = unit["loop"] if predicates[1] else NONE
            classes.append(
                {
                    "condition": positions[unit["position"]]["condition"],
                    "loop": loop,
                    "same_loop": predicates[1] == reference[1],
                }
            )
        row = (
            self.add("unit", units)
            | self.add("predicate_class", classes)
            | {"reference": first + distinct.index(reference)}
        )
        self.rows["group"].append(row)
        self.group_of[self.schema.type_code(patterns[0].type)] = g
        self.contexts = max(self.contexts, value - ROW.values)

    def template(self, weights: Weighing) -> TemplateTables:
        """The records of members, once all are known."""
        span = max(member.window.overlap for member in self.members)
        whole = self.place_cells(span + WORK_CELLS, cell_bytes(weights))
        whole |= {"semantics": ANY, "event_bytes": 0, "contexts": self.contexts}
        whole["longest"] = max(range(len(self.windows)), key=lambda w: self.windows[w].within)
        self.rows["whole"].append(whole | {"within": self.granularity != COARSEST})
        self.rows["kind"] += [self._type(code, positions) for code, positions in enumerate(self.bound)]
        cells = [
            [self.rows["slot"][edge["read"]]["cell"] for edge in self._into(p) if not edge["visited"]]
            for p in range(len(self.rows["position"]))
        ]
        template = TemplateTables(
            **self.arrays(),
            first_source=np.array(offsets(len(read) + 1 for read in cells)[:-1], np.uint64),
            source=np.array([cell for read in cells for cell in (*read, END)], np.uint64),
        )
        return self.sized(template)

    def _type(self, code: int, positions: Sequence[int]) -> Row:
        kept = sum(bool(self.rows["position"][p]["kept"]) for p in positions)
        row = {
            "group": self.group_of.get(code, NONE),
            "kept": kept,
            "relevant": bool(positions) or code in self.negated,
        }
        beside = any(edge["source"] in set(positions) - {p} for p in positions for edge in self._into(p))
        visited = any(edge["visited"] for p in positions for edge in self._into(p))
        row["independent"] = code not in self.negated and not beside
        row["summed"] = row["independent"] and kept == 0 and not visited
        return row | self.run("binding", positions)

    def _into(self, p: int) -> list[Row]:
        position = self.rows["position"][p]
        return self.rows["transition"][position["enter"] : position["enter_end"]]
