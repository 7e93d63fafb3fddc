"""Event sequences: A-Seq and Sharon count them online, SPASS constructs them.

- `plan`: sharing candidates and sharing plans; `segments` cuts sequences at shared patterns.
- `channels` and `program` compile segments into the tables of the kernels; `state` allocates counters and snapshots.
- `counter` and `executor` count the sequences of a plan; without sharing, this is A-Seq.
- `kernels.stream` goes from event to event, `kernels.places` updates the counters of one place, and
  `kernels.combination` takes snapshots and multiplies them (the shared method).
"""
