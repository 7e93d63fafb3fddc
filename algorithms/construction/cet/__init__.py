"""Complete event trends (dissertation Chapters 4 to 8).

- `graph`: the CET graph of a key, whose edges are pointers between stacked events; `executor` feeds and closes windows.
- `partitioning`: the plan of graphlets; `detectors`: BL and M-CET; `stored`: T-CET and H-CET, which store the trends of
  graphlets (`kernels.breadth_first`) and stitch them together (`kernels.stitching`).
- `aggregation`: all trends, constructed and then aggregated.
"""
