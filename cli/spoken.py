"""Messages of the package for the command line: with options instead of Python arguments."""

import re

_OPTIONS = {
    "time": "--time-column",
    "type": "--type-column",
    "constant": "--type",
    "unit": "--time-unit",
    "format": "--time-format",
}


def as_options(message: str) -> str:
    """`Reading(time=...)` as `--time-column`, `Reading(unit='s')` as `--time-unit 's'`; `where='a'` likewise."""
    found = re.sub(
        rf"Reading\(({'|'.join(_OPTIONS)})=(\.\.\.|'[^']*')\)",
        lambda given: _OPTIONS[given[1]] + ("" if given[2] == "..." else f" {given[2]}"),
        message,
    )
    return re.sub(r"\bby where='", "by --where '", found)
