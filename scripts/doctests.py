"""For mkdocstrings: examples that stand between the sentences of a docstring become blocks of code."""

import re

from griffe import Extension, Object

EXAMPLE = re.compile(r"^(>>> (?:.+\n)+)", re.MULTILINE)


class Doctests(Extension):
    """Encloses examples in fences, unless a section of numpydoc holds them."""

    def on_object(self, *, obj: Object, **kwargs: object) -> None:
        if obj.docstring is not None and not re.search(r"^Examples\n-+$", obj.docstring.value, re.MULTILINE):
            obj.docstring.value = EXAMPLE.sub(r"```pycon\n\1```\n", obj.docstring.value)
