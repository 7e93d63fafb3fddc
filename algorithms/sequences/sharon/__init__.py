"""Sharon: shared online event sequence aggregation (dissertation Chapters 21-24).

- `algorithm` has the class `Sharon`, and `optimizer` the stages from sharing candidates to a plan;
- `graph` is the SHARON graph with its expansion and reduction (Algorithms 10, 11, 14 and 15);
- `search` finds a plan in it (Algorithms 12 and 13, GWMIN, exhaustive search); `integer_program` needs no graph;
- `benefit` has the sharing benefit (Equations 22.1 to 22.11); `limits` bounds time and memory of the search.

The executor, which A-Seq also uses, is in `sequences`.
"""
