"""Server-sent events out of a stream of bytes (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class Frame:
    """One event as it came: its kind, its text, and the id to resume behind."""

    __slots__ = ("id", "kind", "text")

    def __init__(self, kind: str, text: str, last_id: str | None) -> None:
        self.kind = kind
        self.text = text
        self.id = last_id


def frames(blocks: Iterable[bytes]) -> Iterator[Frame | None]:
    """The events of a stream in order; None for a comment, which says only that the line is alive.

    Shape: `id` is the last one seen so far, as the specification has it, so that events without an id keep it.
    An event that the end of the stream cuts off is dropped.
    """
    kind, last_id, lines = "message", None, list[str]()
    for line in _lines(blocks):
        if not line:
            if lines:
                yield Frame(kind, "\n".join(lines), last_id)
            kind, lines = "message", []
        elif line.startswith(":"):
            yield None
        else:
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                lines.append(value)
            elif field == "event":
                kind = value
            elif field == "id" and "\0" not in value:
                last_id = value


def _lines(blocks: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for block in blocks:
        *complete, rest = (rest + block).split(b"\n")
        for line in complete:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")
