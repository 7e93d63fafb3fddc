"""MCEP's optimizer: from detection queries to one plan for all of them (MCEP, SIGMOD 2019, Sections 2 to 5).

`patterns.patterns_of` turns compiled queries into patterns, and `optimizer.planned` turns these into a global plan:
- `optimizer` improves a global plan by simulated annealing or Tabu search (Section 4.2, Appendix B);
- `patterns` numbers the sub-patterns of all patterns, so that equal ones have the same number (Section 4.1);
- `selectivities` and `costs` estimate the number of instances of a sub-pattern (Section 3.3, Appendix C) or, which is
  not in the paper, the work of the engines;
- `graph` holds the sub-patterns that patterns have in common (Section 4.1, Appendix A);
- `plans` holds the global plan: a multi-pattern tree of orders, or a multitree (Sections 3.2 and 5);
- `local_plans` orders or joins the operands of one pattern at the least cost (Sections 4.2 and 5);
- `baselines` makes the plans of other systems for comparison (Section 6.2).

An engine reads from a plan: its nodes, children before parents (`MultiPlan.in_order`); a pattern and its operands that
describe a node (`first_places`), and what its children bind there (`LocalPlan.parts`); its window (`window`); and the
patterns that it detects (`finals`). Negation is not part of nodes. An absence between operands is checked once these
are bound (`negated_at`), in a node all of whose patterns have it; all other absences are checked for the matches of a
pattern. A match of a shared final node can span more than the window of one of its patterns.
"""
