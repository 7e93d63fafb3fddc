"""Small cases that reveal small mistakes: queries and streams, and counts computed by hand.

They combine features that rarely occur together in random cases: semantics, predicates, overlapping windows, negation,
ties and batches, and counts that overflow in the middle of a pattern.
"""


def times(name: str, size: int, first: int = 0, each: int = 1, x: int = 0) -> str:
    """Events of one type at `size` time stamps, `each` at every one."""
    return " ".join(f"{name}{time}/{x}" for time in range(first, first + size) for _ in range(each))


SEMANTICS = ("any", "next", "cont")
SLIDING = "WITHIN 4 s SLIDE 2 s"
PANES = "WITHIN 6 s SLIDE 4 s"
"""Windows of three panes."""

RISING = "A0/1 A1/2 A2/3 A2/1 A3/2 A4/4 A4/3 A5/5 A6/6 A7/1 A8/2 A8/9 A10/3 A13/4 A15/5 A21/1 A23/2"
MIXED = "A0/1 A1/2 B2/2 A3/1 A3/3 B4/2 A5/2 B6/4 A6/5 B7/5 A8/1 B8/3 A9/6 B10/6 A11/2 B12/3 B14/9"
NUMBERS = "A0/1,0.5 A1/-2,1.5 B2/2,-4 A3/1,0 A3/3,2 B4/2,8 A5/2,1 B6/4,0.5 A6/5,3 B7/5,1 A8/1,2 B8/3,9 B14/9,1"
NEGATED = (
    "A1/1 A2/2 C2/1 B3/5 A4/1 C5/1 A5/2 B6/2 B6/9 A7/3 D7/2 A8/4 C8/2 D9/2 B9/4 A9/1 D10/3 B10/5 C12/1 A12/1 B14/2"
)
HALVES = "A1/0,1 A2/0,3 A3/0,2 B4/0,-3 A5/0,4 B6/0,-5 B6/0,-7"
LEADING = "C2 A3 B4 A4 B5 C6 A6 B7 A8 B8 B9"
TRAILING = "A1/1 C1 A2/2 A3/3 C3 A5/4 A6/5 C7 A7/6 A9/7"
SEQUENCE = "COUNT(*) PATTERN SEQ(A, NOT SEQ(C, D), B)"

WITNESSES: dict[str, tuple[str, str]] = {
    **{f"loop-{s}": (f"COUNT(*) PATTERN A+ SEMANTICS {s} {SLIDING}", RISING) for s in SEMANTICS},
    **{
        f"rising-{s}": (f"COUNT(*) PATTERN A+ SEMANTICS {s} WHERE A.x < NEXT(A).x {SLIDING}", RISING) for s in SEMANTICS
    },
    **{f"panes-{s}": (f"COUNT(*) PATTERN SEQ(A+, B) SEMANTICS {s} WHERE A.x <= B.x {PANES}", MIXED) for s in SEMANTICS},
    **{
        f"aggregates-{s}{number}": (
            "COUNT(*), COUNT(A), SUM(A.x), AVG(A.x), MIN(A.x), MAX(B.x), SUM(A.y), AVG(B.y), MIN(A.y), MAX(B.y) "
            f"PATTERN SEQ(A+, B?) SEMANTICS {s} {where} {SLIDING}",
            NUMBERS,
        )
        for s in SEMANTICS
        for number, where in enumerate(("", "WHERE A.x <= B.x"))
    },
    "many-panes": ("COUNT(*) PATTERN A+ WHERE A.x < NEXT(A).x WITHIN 16 s SLIDE 1 s", RISING),
    "many-waiting": (
        "COUNT(*) PATTERN SEQ(A, B) SEMANTICS next WHERE A.x < B.x WITHIN 100 s SLIDE 50 s",
        f"{times('A', 80)} B80/0 B90/1",
    ),
    "counts-in-panes": (f"COUNT(*) PATTERN (SEQ(A+, B))+ {PANES}", MIXED),
    "gaps": ("COUNT(*) PATTERN A+ WHERE A.x < NEXT(A).x WITHIN 3 s SLIDE 5 s", RISING),
    **{
        f"silence-{number}": (f"COUNT(*) PATTERN A+ {rest} {SLIDING}", "A1/1 A2/2 A100/3 A101/4 A102/4 A104/1")
        for number, rest in enumerate(("", "SEMANTICS next", "WHERE A.x != NEXT(A).x", "WHERE A.x > 0"))
    },
    "windows-of-events": ("COUNT(*) PATTERN SEQ(A+, B) WHERE A.x <= B.x WITHIN 5 EVENTS SLIDE 2 EVENTS", MIXED),
    "pairs": (f"COUNT(*) PATTERN A+ AND SEQ(A, B?) {SLIDING}", MIXED),
    # predicates; A is sorted by the first ordered comparison with a positive factor
    "two-on-a-pair": ("COUNT(*) PATTERN SEQ(A, B) WHERE A.x < B.x AND A.y > B.y", "A1/1,3 A2/1,1 A3/4,3 B4/3,2"),
    "one-of-each-family": (
        "COUNT(*) PATTERN SEQ(A+, B) WHERE A.x < NEXT(A).x AND A.y > B.y",
        "A1/1,9 A2/2,1 A3/3,5 B4/0,4 A5/4,0 B6/0,0",
    ),
    "unequal": ("COUNT(*) PATTERN SEQ(A+, B) WHERE A.x < NEXT(A).x AND A.x != B.x", "A1/1 A2/2 A3/3 B4/2 A5/2 B6/3"),
    "negative-factor": ("COUNT(*) PATTERN SEQ(A+, B) WHERE A.y < NEXT(A).y AND -2 * A.y < B.y", HALVES),
    "negative-factor-first": ("COUNT(*) PATTERN SEQ(A+, B) WHERE -2 * A.y < NEXT(A).y AND A.y >= -1 * B.y", HALVES),
    "negative-factor-right": ("COUNT(*) PATTERN SEQ(A+, B) WHERE A.y >= -1 * B.y AND A.y != NEXT(A).y", HALVES),
    "factors": ("COUNT(*) PATTERN SEQ(A, B) WHERE 2 * A.x <= 3 * B.x", "A1/3 A2/4 B3/2 B4/3 B5/1"),
    "local": ("COUNT(*) PATTERN SEQ(A+, B) WHERE 2 * A.y > 3 AND B.x != 0", "A1/0,1 A2/0,2 B3/0 B4/1 A5/0,3 B6/2"),
    "every-pair": ("COUNT(*) PATTERN SEQ(A+, C, B+) WHERE A.x < B.x", "A1/1 A2/3 C3 B4/2 B5/4 B6/1 B7/5"),
    # negation
    "not-between": ("COUNT(*) PATTERN SEQ(A, NOT C, B) WHERE A.x < B.x", NEGATED),
    "not-after-a-loop": ("COUNT(*) PATTERN SEQ(A+, NOT C, B) WHERE A.x < NEXT(A).x", NEGATED),
    "not-in-panes": (f"COUNT(*) PATTERN SEQ(A+, NOT C, B) WHERE A.x < B.x {PANES}", NEGATED),
    "not-without-predicates": (f"COUNT(*), MAX(A.x) PATTERN SEQ(A+, NOT C, B) {PANES}", NEGATED),
    "not-one-or-the-other": ("COUNT(*) PATTERN SEQ(A+, NOT C, NOT D, B)", "A1 D2 A3 C4 B5 A6 C7 A8 D9 B10 A10 B11"),
    "not-on-two-ways": (
        "COUNT(*) PATTERN SEQ(A, SEQ(NOT M, B) | SEQ(NOT N, C))",
        "A1 M2 C3 A4 N5 B6 A7 M8 N8 B9 C9",
    ),
    **{
        f"not-between-{s}": (f"COUNT(*) PATTERN SEQ(A, NOT C, B) SEMANTICS {s} WHERE A.x <= B.x", NEGATED)
        for s in SEMANTICS
    },
    "sequence": (SEQUENCE, NEGATED),
    "sequence-up-to-a-tie": (SEQUENCE, "A1 C2 D3 B3 B4"),
    "sequence-with-a-predicate": (f"{SEQUENCE} WHERE C.x < D.x", NEGATED),
    "sequence-with-a-predicate-up-to-a-tie": (f"{SEQUENCE} WHERE C.x < D.x", "A1 C2/1 D3/2 B3 B4"),
    "simultaneous-sequence": (f"{SEQUENCE} WHERE C.x < D.x", "A1 C2/1 D2/2 B3"),
    "latest-sequence": (f"{SEQUENCE} WHERE C.x < D.x", "C1/1 A2 C3/1 D4/2 A5 B6"),
    "long-sequence": (f"{SEQUENCE} WHERE C.x < D.x WITHIN 10 s", "A0 C1/1 A7 D8/2 B9 A11 C12/1 A13 B17 D18/2 B19"),
    "not-within-not": (
        "COUNT(*) PATTERN SEQ(A, NOT SEQ(C, NOT E, D), B)",
        "A1 C2 E2 D3 B3 B4 A5 C6 E7 D8 B9 A10 C11 E12 C13 D14 B15",
    ),
    **{f"leading-{s}": (f"COUNT(*) PATTERN SEQ(NOT C, A+, B) SEMANTICS {s} {SLIDING}", LEADING) for s in SEMANTICS},
    "leading-sequence": (f"COUNT(*) PATTERN SEQ(NOT SEQ(C, D), A, B) WHERE C.x < D.x AND A.x < B.x {PANES}", NEGATED),
    "leading-two": (f"COUNT(*) PATTERN SEQ(NOT C, NOT D, A) {SLIDING}", "D1 C2 A3 C4 D5 A6 A7 A8 D10 C10 C11 A11 A12"),
    **{f"trailing-{s}": (f"COUNT(*) PATTERN SEQ(A+, NOT C) SEMANTICS {s} {SLIDING}", TRAILING) for s in SEMANTICS},
    "trailing-two": (
        f"COUNT(*) PATTERN SEQ(A+, NOT C, NOT D) {SLIDING}",
        "A1 D2 A2 C3 A3 A5 C6 A6 D7 A7 A9 C10 A10 A11 D11",
    ),
    "trailing-rising": (f"COUNT(*) PATTERN SEQ(A+, NOT C) WHERE A.x < NEXT(A).x {SLIDING}", TRAILING),
    # numbers: 32 * 2^60 is 0 modulo 2^64, and the magnitudes of what cancels out make 2^64
    "huge-product": ("SUM(B.x) PATTERN SEQ(A, B)", f"{times('A', 32)} B40/{2**60}"),
    "huge-that-cancel": ("SUM(B.x), AVG(B.x), MAX(B.x) PATTERN SEQ(A, B)", f"{times('A', 8)} B8/{2**60} B9/-{2**60}"),
    "huge-that-fit": ("SUM(B.x), AVG(B.x), MAX(B.x) PATTERN SEQ(A+, B)", f"{times('A', 3)} B8/{2**60} B8/-{2**57}"),
    "equivalence-in-windows": (
        "COUNT(*), MIN(A.x), MAX(A.x), SUM(A.x), AVG(A.x) PATTERN A+ WHERE [g] WITHIN 4 s",
        "A1/3@u A1/9@v A2/1@v A3/2@u A5/7@v A6/8@v A9/1@u A10/1@v",
    ),
    **{
        f"groups-{number}": (
            f"COUNT(*) PATTERN {pattern} GROUP-BY g {SLIDING}",
            "A1/1@u A2/1@v A3/2@u A3/2@v A4/3@v A6/3@u A7/4@v A7/5@u A8/5@v A9/6@u",
        )
        for number, pattern in enumerate(
            ("A+ SEMANTICS cont", "A+ SEMANTICS cont WHERE A.x < NEXT(A).x", "SEQ(NOT C, A+) SEMANTICS cont")
        )
    },
    "matches": (f"MATCHES PATTERN SEQ(A+, B) WHERE A.x < B.x {SLIDING}", MIXED),
    "complete": (f"COMPLETE MATCHES PATTERN SEQ(A+, B) WHERE A.x < B.x {SLIDING}", MIXED),
    "complete-dead-end": ("COMPLETE MATCHES PATTERN SEQ(A, SEQ(B, C)?)", "A1 B2 A3 B4 C5 A6 B7"),
    "matches-in-windows-of-events": ("MATCHES PATTERN A+ WITHIN 3 events SLIDE 1 events", times("A", 6)),
    "complete-in-windows-of-events": ("COMPLETE MATCHES PATTERN A+ WITHIN 3 events SLIDE 1 events", times("A", 6)),
    "complete-loop": ("COMPLETE MATCHES PATTERN A+ WHERE A.x < NEXT(A).x WITHIN 3 s SLIDE 1 s", RISING),
}

SUBSTREAMS = "A1 A1 B1 N2 B2 A2 B3 A3 B3 B4 N4 A5 B6 A7 B7 B8 A8 B9 N9 A9 B11 B11"
DETECTED_APART = (
    "PATTERN A, NOT N, B WHERE [h] WITHIN 3 s PER MATCH",
    "PATTERN A AND B+ GROUP-BY g WITHIN 3 events PER MATCH",
    "PATTERN SEQ(A, B, NOT N) WHERE [h] AND A.x <= B.x GROUP-BY g WITHIN 3 s PER MATCH",
)
"""Detection queries by key; the attributes are those of `examples`."""

MOST = 2**64 - 1
"""The trends of A+ on 64 events, each a non-empty subset; all of them precede a later B."""
LOW = f"{times('A', 64)} A64/-1"
"""The last A follows none of the others where x may not fall, and is one more trend: 2^64, which is 0 in the ring."""
FLAT, UP = "WHERE A.x <= NEXT(A).x", "WHERE A.x <= B.x"
HALF = 2**59
"""Of 2^60 subsets of 60 events, those that contain a given one."""

HUGE: dict[str, tuple[str, str, dict[int, tuple[float, ...]]]] = {
    # 66 events have 2^66 - 1 trends; those that end at the 65th or 66th are 2^64 and 2^65, 0 in the ring.
    **{
        f"goes-on-{name}": (f"COUNT(*), MIN(A.x) PATTERN {rest}", f"{times('A', 66)} B70 D71", {0: (2**66 - 1, 0)})
        for name, rest in {
            "type": "SEQ(A+, B)",
            "types": "SEQ(A+, B, D)",
            "range": f"SEQ(A+, B) {UP}",
            "loop": f"SEQ(A+, B) {FLAT}",
            "not": "SEQ(A+, NOT C, B)",
            "trailing": "SEQ(A+, NOT C)",
            "trailing-loop": f"SEQ(A+, NOT C) {FLAT}",
        }.items()
    },
    **{
        f"zero-{name}": (f"COUNT(*), MIN(A.x) PATTERN {rest}", f"{LOW} B70 D71", {0: (2**64, -1)})
        for name, rest in {
            "type": f"SEQ(A+, B) {FLAT}",
            "types": f"SEQ(A+, B, D) {FLAT}",
            "range": f"SEQ(A+, B) {FLAT} AND A.x <= B.x",
        }.items()
    },
    **{
        f"count-{name}": (f"COUNT(*) PATTERN SEQ(A+, B) {where}", f"{events} B70", {0: (count,)})
        for name, where, events, count in (
            ("goes-on-type", "", times("A", 66), 2**66 - 1),
            ("goes-on-range", UP, times("A", 66), 2**66 - 1),
            ("goes-on-loop", FLAT, times("A", 66), 2**66 - 1),
            ("zero-type", FLAT, LOW, 2**64),
            ("zero-range", f"{FLAT} AND A.x <= B.x", LOW, 2**64),
            ("most-type", "", times("A", 64), MOST),
            ("most-range", UP, times("A", 64), MOST),
        )
    },
    **{
        f"twice-{name}": (f"COUNT(*) PATTERN {pattern}", f"{times('A', 64)} {rest}", {0: (2 * MOST,)})
        for name, pattern, rest in (
            ("before-another", "SEQ(A+, B)", "B70 B71 A72"),
            ("last", "SEQ(A+, B)", "B70 B71"),
            ("simultaneous", "SEQ(A+, B)", "B70 B70 A72"),
            ("two-ends", "SEQ(A+, B?)", "B70"),
            ("pairs", "A+ AND B", "B70 B71"),
        )
    },
    # An event of the n-th B follows both of the one before: 2^(n - 1) trends end at each, 2^64 at each of the last two.
    **{
        f"doubling-{s}{number}": (
            f"COUNT(*) PATTERN SEQ(A, B+, C) SEMANTICS {s} {where}",
            f"A0 {times('B', 65, 1, each=2)} C70",
            {0: (2**65,)},
        )
        for s in ("next", "cont")
        for number, where in enumerate(("", "WHERE B.x <= NEXT(B).x"))
    },
    **{
        f"a-window-of-its-own-{number}": (
            f"COUNT(*){more} PATTERN A+ {where} WITHIN 100 s SLIDE 50 s",  # 70, 20 + 2 and 2 events
            f"{times('A', 70)} A100 A101",
            {0: (2**70 - 1, *least), 50: (2**22 - 1, *least), 100: (3, *least)},
        )
        for number, (more, where, least) in enumerate((("", "", ()), (", MIN(A.x)", "", (0,)), ("", FLAT, ())))
    },
    **{f"a-loop-of-{size}": ("COUNT(*) PATTERN A+", times("A", size), {0: (2**size - 1,)}) for size in (63, 64, 65)},
    "all-aggregates": (  # a loop of 70: each event is in half of the 2^70 subsets
        "COUNT(*), COUNT(A), MIN(A.x), SUM(A.x), AVG(A.x) PATTERN A+",
        " ".join(f"A{time}/{time + 1}" for time in range(70)),
        {0: (2**70 - 1, 70 * 2**69, 1, 2485 * 2**69, 35.5)},
    ),
    "zero-optional": (f"MIN(B.x) PATTERN SEQ(A+, B?) {FLAT}", f"{LOW} B70/3", {0: (3,)}),
    "not-seen": ("COUNT(*) PATTERN SEQ(A+, B) OR C", f"{times('A', 70)} C71", {0: (1,)}),
    "bound": (
        "COUNT(*), COUNT(A), COUNT(B) PATTERN SEQ(A+, B)",
        f"{times('A', 60)} B70",
        {0: (2**60 - 1, 60 * HALF, 2**60 - 1)},
    ),
    "bound-after": ("COUNT(B) PATTERN SEQ(A+, B)", f"{times('A', 65)} B70", {0: (2**65 - 1,)}),
    "sum": (
        "MIN(A.x), MAX(B.x), SUM(A.x), SUM(B.x), AVG(A.x), AVG(B.x) PATTERN SEQ(A+, B)",
        f"{times('A', 60, x=1)} B70/7",
        {0: (1, 7, 60 * HALF, 7 * (2**60 - 1), 1.0, 7.0)},
    ),
    "sum-after": (f"SUM(B.x) PATTERN SEQ(A+, B) {FLAT}", f"{LOW} B70/1", {0: (2**64,)}),
    "sum-of-zeros": ("SUM(B.x) PATTERN SEQ(A+, B)", f"{times('A', 70)} B70/0", {0: (0,)}),
}
"""Counts that no enumeration reaches: the exact values of a window's row, in the order of the items."""
