"""HTML that cannot be broken out of: every text goes through one escape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from explorer.session.text import legible

_VOID = frozenset({"meta", "rect", "line", "path", "circle", "col", "br"})


class Markup(str):
    """Text that is HTML already; plain strings are escaped wherever they are put in."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table that is a heading of its row, or a number."""

    text: str
    is_head: bool = False
    is_number: bool = False


Rows = list[list["str | Cell"]]


def shown(text: str) -> str:
    """A text of a session with its half letters, control characters and marks that turn the
    direction of writing replaced, so that what is read is what is there."""
    return legible(text.replace("\r\n", "\n"))


def text(value: str) -> Markup:
    """A text as HTML."""
    return value if isinstance(value, Markup) else Markup(escape(shown(value), quote=True))


def join(parts: Iterable[str], between: str = "") -> Markup:
    """Parts one after the other, each escaped unless it is HTML."""
    return Markup(text(between).join(text(part) for part in parts))


def tag(name: str, /, *parts: str, **attributes: str | int | float | bool | None) -> Markup:
    """An element. ``class_`` is ``class``, other underscores are hyphens; None and False leave an
    attribute out, True writes its name alone."""
    words = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        label = key.rstrip("_").replace("_", "-")
        words.append(label if value is True else f'{label}="{text(str(value))}"')
    head = " ".join([name, *words])
    if name in _VOID:
        return Markup(f"<{head}>" if name in ("meta", "col", "br") else f"<{head}/>")
    return Markup(f"<{head}>{join(parts)}</{name}>")


def table(
    caption: str, heads: Sequence[str], rows: Iterable[Sequence[str | Cell]], *, class_: str = ""
) -> Markup:
    """A table with a caption and headed columns. Numbers and heads of rows are ``Cell``."""
    cells = [list(row) for row in rows]
    body = [tag("tr", *(_cell(cell) for cell in row)) for row in cells]
    first = cells[0] if cells else ()
    numbers = {at for at, cell in enumerate(first) if isinstance(cell, Cell) and cell.is_number}
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", tag("tr", *(_head(head, at in numbers) for at, head in enumerate(heads)))),
            tag("tbody", *body),
            class_=class_ or None,
        ),
        class_="wide",
        tabindex=0,
        role="region",
        aria_label=caption,
    )


def _head(title: str, is_number: bool) -> Markup:
    return tag("th", title, scope="col", class_="number" if is_number else None)


def _cell(cell: str | Cell) -> Markup:
    if not isinstance(cell, Cell):
        return tag("td", cell)
    if cell.is_head:
        return tag("th", cell.text, scope="row")
    return tag("td", cell.text, class_="number" if cell.is_number else None)


def number(value: int | str) -> Cell:
    """A cell with a number, or with a share in words."""
    return Cell(value if isinstance(value, str) else f"{value:,}", is_number=True)


def head(value: str) -> Cell:
    """A cell that heads its row."""
    return Cell(value, is_head=True)
