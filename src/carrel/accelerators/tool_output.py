"""JSON of vendors' tools, of which nothing is certain: numbers are texts, texts are padded, parts are missing."""

import json
import re
from collections.abc import Mapping

from carrel.accelerators.hardware import Machine, ToolError, quantity

Record = Mapping[str, object]
_ABSENT = frozenset({"n/a", "[n/a]", "none", "null", "-"})
_FULL = 100.0
_START = re.compile(r"""^[ \t]*(?=\[\s*["{\[\]]|\{\s*["}])""", re.MULTILINE)
"""Of JSON after lines of text, which may begin with [ INFO ] and the like."""


def run(machine: Machine, name: str, *arguments: str) -> object:
    """What a tool prints, possibly after lines of text. Raises: ToolError, also if it is not JSON."""
    text = machine.run(name, *arguments)
    start = _START.search(text)
    try:
        return json.JSONDecoder().raw_decode(text, start.end() if start else 0)[0]
    except (ValueError, RecursionError):
        raise ToolError(f"{name} did not print JSON.") from None


def record(value: object) -> Record:
    """The object; empty if it is something else."""
    return value if isinstance(value, dict) else {}


def records(value: object) -> list[Record]:
    """The objects of a list; empty if it is something else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def word(value: object) -> str:
    """The text or number without padding; empty for N/A and the like."""
    text = str(value).strip() if isinstance(value, str | int | float) else ""
    return "" if text.lower() in _ABSENT else text


def number(value: object) -> float | None:
    """The number, also of a text with a unit."""
    return quantity(word(value))


def percent(value: object) -> float | None:
    """The number if it can be a percentage."""
    share = number(value)
    return share if share is not None and share <= _FULL else None
