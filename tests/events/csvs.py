"""Random CSV files, with quotes, blanks and line ends that are hard to read; a few files are malformed."""

from hypothesis import strategies as st

NUMBERS = ("0", "7", "-3", " 5 ", "1000000000000000000", "007", "9223372036854775808", "", "")
FLOATS = (*NUMBERS, "1.5", "-2e3", "nan", "inf", "1e300", ".5")
TEXTS = ("u", "NA", "", '"a\nb"', '"a\r\nb"', '"say ""x"""', '",\n,"', '"\n"', 'in"side', '"x"y', "\xa05", "é")
TIMES = (("1", "2", "3", "12", " 4"), ("1", "2.0", "9007199254740993"), ("1970-01-01T00:00:05", "1970-01-02 00:00:00"))
WRONG_TIMES = ("", "-1", "2.5", "soon", "nan")


@st.composite
def csvs(draw: st.DrawFn) -> bytes:
    """A file with the columns time, type and up to three more."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    pools = [draw(st.sampled_from([NUMBERS, FLOATS, TEXTS])) for _ in range(draw(st.integers(0, 3)))]
    times = draw(st.sampled_from(TIMES))
    rows = []
    for _ in range(draw(st.integers(0, 25))):
        stamped = (draw(st.sampled_from(times)), draw(st.sampled_from(["A", "B", '"C\nC"'])))
        rows.append([*stamped, *(draw(st.sampled_from(pool)) for pool in pools)])
    if rows and draw(st.integers(0, 3)) == 0:
        row = draw(st.sampled_from(rows))
        wrong = draw(st.sampled_from([*WRONG_TIMES, "type", "more"]))
        if wrong == "more":
            row.append("x")
        else:
            row[wrong == "type"] = "" if wrong == "type" else wrong
    header = ["time", "type", *(draw(st.sampled_from([f"c{i}", f'"c\n{i}"'])) for i in range(len(pools)))]
    lines = [",".join(fields) + end * draw(st.sampled_from([1, 1, 1, 2])) for fields in [header, *rows]]
    text = draw(st.sampled_from(["", "", "\n"])) + "".join(lines)
    if draw(st.booleans()):
        text = text.rstrip("\r\n")
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode()
