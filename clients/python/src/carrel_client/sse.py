"""Parser of server-sent events (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class Frame:
    """One event: its kind, its text, and the id to resume from."""

    __slots__ = ("id", "kind", "text")

    def __init__(self, kind: str, text: str, last_id: str | None) -> None:
        self.kind = kind
        self.text = text
        self.id = last_id


def frames(blocks: Iterable[bytes]) -> Iterator[Frame | None]:
    """The events of a stream in order; None for a comment, which is a keep-alive.

    `id` is the last one so far, as specified: events without an id keep it. An incomplete event at the end of the
    stream is dropped.
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
