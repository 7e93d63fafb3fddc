"""The threats to the validity of the measurements on the page."""

from cepbench.plots.html import Html, join, tag

ANCHOR, HEADING = "validity", "Threats to validity"
THREATS = (
    (
        "A virtual clock.",
        "Service times are measured, and arrivals are replayed on a schedule without sleeping. Queues are "
        "exact for these times, but nothing competes for the machine as it would in a live system.",
    ),
    (
        "One machine.",
        "The cells of a run were measured on the machine that its environment names. Ratios carry over to "
        "other machines better than seconds do.",
    ),
    (
        "Compiled loops instead of Java.",
        "All algorithms are compiled the same way here, while the authors used Java, where objects cost more than "
        "arithmetic. Constant factors differ from those of the papers; the growth of costs does not.",
    ),
    (
        "Generated streams.",
        "A generator with the attributes and rates of the data set replaces a data set that is not published. What "
        "the text leaves open, such as the overlap of queries, is varied or listed as a departure.",
    ),
    (
        "Smaller sizes.",
        "Windows and workloads are only as large as this machine can finish. Each claim names the size at which it "
        "is judged, and is open if that is too small.",
    ),
)


def validity_section() -> Html:
    """The threats as a list."""
    entries = [tag("li", tag("strong", head), " ", text) for head, text in THREATS]
    return join([tag("h2", HEADING, id=ANCHOR), tag("ul", entries)])
