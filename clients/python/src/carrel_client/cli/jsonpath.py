"""The JSONPath subset of `-o jsonpath=TEMPLATE`, as in kubectl.

A template is text with expressions in braces; without braces it is one expression.

    .a.b  ['a b']  [0]  [-1]  [1:3]  [*]  .*  ..name      steps of a path; a leading $ or @ is optional
    "\\n"  "\\t"                                           a text
    {range .items[*]}...{end}                             the body once per value, which is @

Several values of one path are separated by a space. Strings are printed as they are, everything else as JSON. Missing
values print nothing. Filters, scripts and functions are not supported.
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_STEP = re.compile(
    r"(?P<dots>\.\.?)(?P<name>[A-Za-z0-9_-]+|\*)"
    r"|\[(?P<index>-?\d+)\]"
    r"|\[(?P<start>-?\d*):(?P<stop>-?\d*)\]"
    r"|\[(?P<all>\*)\]"
    r"|\[(?P<quote>['\"])(?P<key>.*?)(?P=quote)\]"
)
_BRACED = re.compile(r"""\{((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^{}"'])*)\}""")


class PathTemplate:
    """A template that can be rendered. Raises: ValueError, with what is wrong in it."""

    def __init__(self, text: str) -> None:
        pieces = _pieces(text)
        self._parts = _nested(pieces, closed=False)
        if next(pieces, None) is not None:
            raise ValueError("{end} without {range}")

    def render(self, answer: object) -> str:
        """Render the template for a response."""
        return "".join(part.render(answer) for part in self._parts)


class _Text:
    def __init__(self, text: str) -> None:
        self._text = text

    def render(self, at: object) -> str:
        return self._text


class _Path:
    def __init__(self, text: str) -> None:
        self._steps = list(_steps(text))

    def values(self, at: object) -> list[object]:
        matches = [at]
        for step in self._steps:
            matches = [below for value in matches for below in _below(value, step)]
        return matches

    def render(self, at: object) -> str:
        return " ".join(map(_shown, self.values(at)))


class _Range:
    def __init__(self, path: _Path, inside: Sequence[_Part]) -> None:
        self._path = path
        self._inside = inside

    def render(self, at: object) -> str:
        return "".join(part.render(value) for value in self._path.values(at) for part in self._inside)


if TYPE_CHECKING:
    _Part = _Text | _Path | _Range


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """("text", it) and ("expression", it), in order. Raises: ValueError."""
    if "{" not in text:
        yield "expression", text.strip()
        return
    at = 0
    for match in _BRACED.finditer(text):
        yield "text", _plain(text[at : match.start()])
        yield "expression", match[1].strip()
        at = match.end()
    yield "text", _plain(text[at:])


def _plain(text: str) -> str:
    if "{" in text or "}" in text:
        raise ValueError(f"a brace without its partner in {text!r}")
    return text


def _nested(pieces: Iterator[tuple[str, str]], *, closed: bool) -> list[_Part]:
    """The parts up to {end} if required, otherwise to the end of the template."""
    parts: list[_Part] = []
    for kind, piece in pieces:
        word, _, rest = piece.partition(" ")
        if kind == "text":
            parts.append(_Text(piece))
        elif piece[:1] in ("'", '"'):
            parts.append(_Text(_unquoted(piece)))
        elif word == "range":
            parts.append(_Range(_Path(rest.strip()), _nested(pieces, closed=True)))
        elif piece == "end":
            if not closed:
                raise ValueError("{end} without {range}")
            return parts
        else:
            parts.append(_Path(piece))
    if closed:
        raise ValueError("{range} without {end}")
    return parts


def _unquoted(piece: str) -> str:
    try:
        text = json.loads(piece if piece[0] == '"' else f'"{piece[1:-1]}"')
    except ValueError:
        raise ValueError(f"{piece} is not a text in quotation marks") from None
    return str(text)


def _steps(path: str) -> Iterator[re.Match[str]]:
    at = 1 if path[:1] in ("$", "@") else 0
    if path == ".":  # the value itself, as in kubectl
        return
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            raise ValueError(
                f"{path[at:]!r} is not a valid path step; write .name, ['name'], [0], [1:3] or [*]"
            )
        yield step
        at = step.end()
    if not path:
        raise ValueError("an empty expression")


def _below(value: object, step: re.Match[str]) -> Iterable[object]:
    """The values that a step selects."""
    name = step["name"] or step["key"]
    if step["all"] or (name == "*" and not step["key"]):
        return _children(value)
    if name is not None:
        holders = _all_below(value) if step["dots"] == ".." else [value]
        return [holder[name] for holder in holders if isinstance(holder, dict) and name in holder]
    if not isinstance(value, list):
        return []
    if step["index"]:
        return value[int(step["index"]) :][:1] if -len(value) <= int(step["index"]) < len(value) else []
    start, stop = (int(step[end]) if step[end] else None for end in ("start", "stop"))
    return value[start:stop]


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _all_below(value: object) -> Iterator[object]:
    yield value
    for child in _children(value):
        yield from _all_below(child)


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
