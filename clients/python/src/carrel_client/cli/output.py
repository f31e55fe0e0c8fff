"""Terminal output: tables, colours, JSON and errors."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence

from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "dim": "2", "bold": "1"}
_STATES = {"RUNNING": "green", "ERROR": "red", "TERMINATED": "dim", "CANCELLED": "dim"}
_NARROWEST = 6


class Column:
    """A column of a table. paint: the colour of a cell by its text."""

    __slots__ = ("paint", "title")

    def __init__(self, title: str, paint: Mapping[str, str] | None = None, *, otherwise: str = "") -> None:
        self.title = title
        self.paint = _Paint(paint or {}, otherwise)


class _Paint:
    __slots__ = ("_colours", "_otherwise")

    def __init__(self, colours: Mapping[str, str], otherwise: str) -> None:
        self._colours = colours
        self._otherwise = otherwise

    def of(self, text: str) -> str:
        return self._colours.get(text.strip(), self._otherwise) if text.strip() else ""


def state_column() -> Column:
    """The state column: green is running, red failed, yellow in transition, dim ended."""
    return Column("STATE", _STATES, otherwise="yellow")


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; truncated to the width of a terminal, otherwise complete."""
    cells = [[printable(cell) for cell in row] for row in rows]
    titles = [column.title for column in columns]
    widths = [
        max(map(display_width, [title, *column])) for title, *column in zip(titles, *cells, strict=True)
    ]
    limit = terminal_width() if sys.stdout.isatty() else None
    if limit:
        _narrow(widths, limit)
    coloured = colours(sys.stdout)
    lines = [_line(titles, widths, ["dim"] * len(titles) if coloured else None)]
    for row in cells:
        paints = (
            [column.paint.of(cell) for column, cell in zip(columns, row, strict=True)] if coloured else None
        )
        lines.append(_line(row, widths, paints))
    sys.stdout.write("\n".join(lines) + "\n")


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print names and values, one pair per line; pairs without a value are omitted."""
    shown = [(name, printable(value)) for name, value in facts if value]
    width = max((len(name) for name, _ in shown), default=0)
    coloured = colours(sys.stdout)
    for name, value in shown:
        label = _painted(f"{name:<{width}}", "dim" if coloured else "")
        colour = _STATES.get(value, "yellow") if coloured and name == "state" else ""
        sys.stdout.write(f"{label}  {_painted(value, colour)}\n")


def sentences(*parts: str | None) -> str:
    """Join the non-empty parts."""
    given = [part.strip() for part in parts if part and part.strip()]
    if len(given) < 2:
        return "".join(given)
    return " ".join(f"{part[0].upper()}{part[1:].removesuffix('.')}." for part in given)


def counted(number: int, one: str, several: str = "") -> str:
    """A number and its noun: "1 session", "2 sessions". several: the plural where it is not formed with an s."""
    if number == 1:
        return f"1 {one}"
    in_ies = one.endswith("y") and one[-2] not in "aeou"
    return f"{number:,} {several or (f'{one[:-1]}ies' if in_ies else f'{one}s')}"


def print_json(answer: object) -> None:
    """The API's JSON, indented."""
    sys.stdout.write(json.dumps(answer, indent=2, ensure_ascii=False) + "\n")


def print_line(text: str) -> None:
    """A line of the answer."""
    sys.stdout.write(f"{printable(text)}\n")


def print_text(text: str) -> None:
    """The lines of a text of others, such as a file or a log."""
    for line in text.rstrip("\n").split("\n"):
        print_line(line)


def write_bytes(content: bytes, descriptor: int = 1) -> None:
    """Write all of it unchanged and flush. Raises: BrokenPipeError."""
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]


def say(text: str) -> None:
    """Print a message on stderr."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def report(error: CarrelError) -> None:
    """Print an error and its hint on stderr."""
    coloured = colours(sys.stderr)
    where = f" [{error.field}]" if error.field else ""
    say(f"{_painted('error:', 'red' if coloured else '')} {printable(error.detail)}{where} ({error.code})")
    if error.hint:
        say(f"{_painted('hint:', 'cyan' if coloured else '')} {printable(error.hint)}")


def colours(stream: TextIO) -> bool:
    """True on a terminal, unless NO_COLOR is set or TERM is dumb."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def terminal_width() -> int:
    """Columns of the terminal; COLUMNS wins."""
    given = os.environ.get("COLUMNS", "")
    if given.isdigit() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def printable(text: str) -> str:
    """The text on one line without control characters, because it may be untrusted."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else " " for letter in text)


def display_width(text: str) -> int:
    """The display width of the text: two columns for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _narrow(widths: list[int], limit: int) -> None:
    """Shrink the widest columns until all fit or are at their minimum."""
    while sum(widths) + 2 * (len(widths) - 1) > limit:
        widest = max(range(len(widths)), key=lambda index: widths[index])
        if widths[widest] <= _NARROWEST:
            return
        widths[widest] -= 1


def _line(cells: Sequence[str], widths: Sequence[int], paints: Sequence[str] | None) -> str:
    shown = [_fitted(cell, width) for cell, width in zip(cells, widths, strict=True)]
    if not paints:
        return "  ".join(shown).rstrip()
    return "  ".join(_painted(cell, paint) for cell, paint in zip(shown, paints, strict=True)).rstrip()


def _fitted(text: str, width: int) -> str:
    have = display_width(text)
    if have > width:
        while display_width(text) > width - 1:
            text = text[:-1]
        text += "…"
        have = display_width(text)
    return text + " " * (width - have)


def _painted(text: str, colour: str) -> str:
    return f"\033[{_COLOURS[colour]}m{text}\033[0m" if colour else text
