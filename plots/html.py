"""Builds HTML. All text is escaped unless it is `Html`, which only this module creates."""

import base64
import gzip
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

_VOID = frozenset({"br", "hr", "img", "meta"})


class Html(str):
    """Escaped text."""

    __slots__ = ()


Content = Any  # Html is kept, None is omitted, sequences are joined, anything else is escaped text


@dataclass(frozen=True)
class Cell:
    """A table cell: its content, its sort key (a number or text; by default its text) and its CSS class."""

    content: Content
    sort: float | str | None = None
    kind: str = ""


def tag(name: str, /, *content: Content, **attributes: Any) -> Html:
    """An element. `class_` and `data_sort` become `class` and `data-sort`; None and False attributes are omitted."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(str(value), quote=True)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Html(f"<{name}{written}>" if name in _VOID else f"<{name}{written}>{join(content)}</{name}>")


def join(content: Iterable[Content]) -> Html:
    """Concatenates the content; text that is not `Html` is escaped."""
    parts = []
    for item in content:
        if isinstance(item, Html):
            parts.append(item)
        elif isinstance(item, list | tuple):
            parts.append(join(item))
        elif item is not None:
            parts.append(Html(escape(str(item), quote=True)))
    return Html("".join(parts))


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[Content]],
    sortable: bool = False,
    first_is_head: bool = True,
) -> Html:
    """A table that scrolls horizontally in a narrow window; `Cell` entries have sort keys and classes."""
    body = [tag("tr", [_cell(entry, first_is_head and place == 0) for place, entry in enumerate(row)]) for row in rows]
    head = tag("tr", [tag("th", tag("button", h, type="button") if sortable else h, scope="col") for h in heads])
    inner = tag(
        "table",
        tag("caption", caption),
        tag("thead", head),
        tag("tbody", body),
        class_="sortable" if sortable else None,
    )
    return scrolled(inner, caption)


def scrolled(content: Content, name: str) -> Html:
    """Content that scrolls horizontally in a narrow window; its `name` is for screen readers."""
    return tag("div", content, class_="scroll", tabindex="0", role="region", aria_label=name)


def drawing(svg: bytes, alternative: str, narrow: bool = False) -> Html:
    """An SVG as an image, compressed to a tenth."""
    return tag("img", alt=alternative, class_="narrow" if narrow else None, data_svg=packed(svg))


def packed(content: bytes) -> str:
    """Compressed content as text; the script of the page decompresses it."""
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()


def trusted(text: str) -> Html:
    """Text of this package that is not escaped: style sheet and scripts."""
    return Html(text)


def _cell(entry: Content, head: bool) -> Html:
    cell = entry if isinstance(entry, Cell) else Cell(entry)
    sort = f"{cell.sort:.9g}" if isinstance(cell.sort, float) else cell.sort
    return tag(
        "th" if head else "td",
        cell.content,
        scope="row" if head else None,
        class_=cell.kind or None,
        data_sort=None if sort == cell.content else sort,
    )
