"""The Gloria optimizer (Sections 4-6).

`pools` (a pool per transition), `nodes` (its candidate plans), `graph` (edges and weights), `elimination` (the lightest
path; `algorithm_1` is the paper's search), `optimizer` (all of it).
"""
