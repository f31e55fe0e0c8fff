"""References to parameters in the texts of a definition, as `${name}`. Pure.

As in Terraform, `$${` stands for the text `${`; in general, two dollars before `{` stand for one. All other dollars are
text, so `$HOME`, `$(date)` and `$$` of a shell need no change.
"""

import re
from collections.abc import Callable, Iterator, Mapping

MAX_TEXT = 200_000
"""The most characters of a text with its values; every field of a session allows fewer."""
_MAX_DEPTH = 10
_DOLLARS = re.compile(r"(\$+)\{")
_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_]*)\}")


def names(text: str) -> Iterator[str]:
    """The parameters that the text refers to, in order. Raises: ValueError for `${` that is no reference."""
    return (name for _, name in _parts(text) if name)


def substitute(text: str, values: Mapping[str, str]) -> str:
    """The text with the values of its parameters.

    Raises: ValueError for `${` that is no reference, and if the result is too long; KeyError for an unknown parameter.
    """
    parts, length = [], 0
    for literal, name in _parts(text):
        parts += [literal, values[name] if name else ""]
        length += len(literal) + len(parts[-1])
        if length > MAX_TEXT:
            raise ValueError(f"with its values, a text has more than {MAX_TEXT:,} characters")
    return "".join(parts)


def escape(text: str) -> str:
    """The definition's text for a literal text: `substitute` gives the same text."""
    return _DOLLARS.sub(r"\1\1{", text)


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Literal texts, each with the name of the parameter that follows it, or ""."""
    at = 0
    for match in _DOLLARS.finditer(text):
        dollars = len(match[1])
        literal = text[at : match.start()] + "$" * (dollars // 2)
        if dollars % 2 == 0:
            yield literal + "{", ""
            at = match.end()
            continue
        name = _NAME.match(text, match.end())
        if name is None:
            shown = text[match.end() - 2 : match.end() + 20]
            raise ValueError(
                f"{shown!r} is not a reference such as ${{name}}; write $${{ for the text itself"
            )
        yield literal, name[1]
        at = name.end()
    yield text[at:], ""


def changed(value: object, change: Callable[[str], str], depth: int = 0) -> object:
    """The JSON value with its texts changed, except keys. Raises: ValueError if it is nested too deeply."""
    match value:
        case str():
            return change(value)
        case list() | tuple():
            _require_flat(depth)
            return [changed(each, change, depth + 1) for each in value]
        case dict():
            _require_flat(depth)
            return {key: changed(each, change, depth + 1) for key, each in value.items()}
    return value


def texts(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """The texts of a JSON value, except keys, with their paths. Raises: ValueError if it is nested too deeply."""
    match value:
        case str():
            yield path, value
        case list() | tuple():
            _require_flat(len(path))
            for number, each in enumerate(value):
                yield from texts(each, (*path, str(number)))
        case dict():
            _require_flat(len(path))
            for key, each in value.items():
                yield from texts(each, (*path, str(key)))


def _require_flat(depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise ValueError("it is nested too deeply")
