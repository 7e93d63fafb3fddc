"""MCEP's optimiser: from detection queries to one plan for all of them (MCEP, SIGMOD 2019, Sections 2 to 5).

`patterns.patterns_of` turns compiled queries into patterns, and `optimiser.planned` these into a global plan. Below:

- `subpatterns` numbers the sub-patterns of all patterns, so that equal ones have one number (Section 4.1);
- `selectivities` and `costs` say how many instances of a sub-pattern to expect (Section 3.3, Appendix C);
- `engine_costs` say what the engines do to make them, which is not in the paper;
- `generators` orders or joins the operands of one pattern at the least cost (Sections 4.2 and 5);
- `common` and `graph` find what patterns have in common (Section 4.1, Appendix A);
- `plans` holds the global plan: a multi-pattern tree of orders, or a multitree (Sections 3.2 and 5);
- `planners`, `neighbourhood` and `search` change it, at random and for the better (Section 4.2, Appendix B);
- `baselines` and `steiner` make the plans of other systems that it is compared with (Section 6.2).

An engine reads of a plan: its nodes, children before parents (`MultiPlan.in_order`); the pattern and operands from
which a node can be understood (`first_places`), and what its children bind there (`parts`); its window (`window`);
and the patterns that it detects (`finals`). Negation is no part of nodes: absences between operands are decided as soon
as these are bound (`negated_at`) in a node all of whose patterns have them, and all others on the matches of a pattern.
A match of a final node that is shared may span more than the window of one of its patterns.
"""
