"""Partitioning of CET graphs (dissertation Chapters 6 and 7).

- `partition` makes a plan of graphlets for a window by a named method;
- `search` has branch-and-bound (Algorithm 5), greedy and exhaustive partitioning;
- `costs` has the memory and CPU costs of graphlets (Table 5.1).
"""
