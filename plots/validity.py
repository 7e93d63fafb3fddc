"""What a reader must keep in mind when reading the numbers of the page."""

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
        "Compiled loops against the authors' Java.",
        "All algorithms are compiled the same way here. Constant factors differ from those of the papers, "
        "where objects cost more than arithmetic; how costs grow does not.",
    ),
    (
        "Generated streams.",
        "Where a data set is not published, a generator has its attributes and rates. What the text leaves "
        "open, such as the overlap of queries, is varied or named as a departure.",
    ),
    (
        "Smaller sizes.",
        "Windows and workloads are as large as this machine can finish. Each claim names the size at which it "
        "is judged, and is open where that is too small.",
    ),
)


def validity_section() -> Html:
    """The threats as a list."""
    entries = [tag("li", tag("strong", head), " ", text) for head, text in THREATS]
    return join([tag("h2", HEADING, id=ANCHOR), tag("ul", entries)])
