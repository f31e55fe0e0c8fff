"""Rules of a .dockerignore, as Docker reads them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

FILE = ".dockerignore"
MOST_RULES = 1000
LONGEST = 64 << 10
_SENT = (FILE, "Dockerfile")
_LONGEST_MATCHER = 1000
_SPECIAL = frozenset("*?[\\")
_RANGE = re.compile(r"(\\.|[^]\\-])(?:-(\\.|[^]\\-]))?", re.DOTALL)
_TOKEN = re.compile(
    rf"\*+|\?|\[(?P<not>\^?+)(?P<ranges>(?:{_RANGE.pattern})+)\]|\\(?P<escaped>.)|[^\[\\]", re.DOTALL
)


class BadIgnoreFile(ValueError):
    """The text says what is wrong with the file."""


class IgnoreRules:
    """Decides which paths are left out: the last rule that matches a path, or a directory above it.

    Time per path: at most in proportion to its length times that of the rules.
    """

    def __init__(self, text: str) -> None:
        """Raises: BadIgnoreFile."""
        rules = list(_rules(text))
        if len(rules) > MOST_RULES or len(text) > LONGEST:
            raise BadIgnoreFile(f"{FILE} has more than {MOST_RULES} rules or {LONGEST >> 10} KiB.")
        self._exceptions = [rule for rule in rules if rule.is_exception]
        self._matchers = list(_matchers(rules))

    def ignores(self, path: str) -> bool:
        """True for a file that is left out. These rules and the Dockerfile are always sent, as by Docker."""
        return path not in _SENT and self._match(path)

    def prunes(self, directory: str) -> bool:
        """True for a directory that is left out with all that is below it."""
        return self._match(directory) and not any(rule.matches_below(directory) for rule in self._exceptions)

    def _match(self, path: str) -> bool:
        return next((ignores for ignores, matcher in self._matchers if matcher.match(path)), False)


@dataclass(frozen=True)
class _Rule:
    segments: Sequence[str]
    is_exception: bool

    def matches_below(self, directory: str) -> bool:
        """False if it matches the directory itself, or nothing in it."""
        above = f"{directory}/"
        deeper = "**" in self.segments or len(self.segments) > above.count("/")
        return deeper and (above.startswith(self._fixed) or self._fixed.startswith(above))

    @cached_property
    def _fixed(self) -> str:
        return "".join(f"{name}/" for name in takewhile(_SPECIAL.isdisjoint, self.segments))

    def expression(self) -> str:
        """Matches the beginning of a path, up to the end of a name. Raises: BadIgnoreFile."""
        blocks = [""]
        for segment in self.segments:
            if segment == "**":
                blocks.append("")
            else:
                blocks[-1] += ("/" if blocks[-1] else "") + _name_expression(segment)
        ended = [rf"{block}(?=/|\Z)" if block else "" for block in blocks]
        # After ** the first place suffices: what matches after a later one does so after it, too.
        later = [rf"(?>(?:[^/]++/)*?{block})" for block in ended[1:] if block]
        below = [""] if self.segments[-1] == "**" else []
        return "/".join([*filter(None, ended[:1]), *later, *below])


def _rules(text: str) -> Iterator[_Rule]:
    """Raises: BadIgnoreFile."""
    for line in text.removeprefix("\ufeff").split("\n"):
        pattern = line.strip()
        if line.startswith("#") or not pattern:
            continue
        path = posixpath.normpath(pattern.removeprefix("!").strip() or "/").lstrip("/")
        if pattern.startswith("!") and not path:
            raise BadIgnoreFile(f"{FILE} has an exception without a pattern.")
        if path.startswith("**") and path[2:3] not in ("", "/"):
            path = f"**/*{path[2:]}"
        if path not in ("", "."):
            yield _Rule(path.split("/"), pattern.startswith("!"))


def _matchers(rules: Sequence[_Rule]) -> Iterator[tuple[bool, re.Pattern[str]]]:
    """Of the last rules first. Rules of one kind are matched together, up to a length, as the interpreter is locked."""
    together: list[str] = []
    for at, rule in reversed(list(enumerate(rules))):
        together.append(rule.expression())
        last = at == 0 or rules[at - 1].is_exception != rule.is_exception
        if last or sum(map(len, together)) > _LONGEST_MATCHER:
            yield not rule.is_exception, re.compile("|".join(together), re.DOTALL)
            together = []


def _name_expression(pattern: str) -> str:
    """Raises: BadIgnoreFile."""
    pieces, at = [""], 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            raise BadIgnoreFile(f"{FILE} has a rule that is no pattern: {pattern[:100]}")
        at = token.end()
        if token[0].startswith("*"):
            pieces.append("")
        else:
            pieces[-1] += _letter_expression(token)
    first, *others = pieces
    # Only the last * is matched in more than one way, so that time does not grow with a power of the length.
    middle = "".join(f"(?>[^/]*?{piece})" for piece in others[:-1])
    return first + middle + "".join(f"[^/]*{piece}" for piece in others[-1:])


def _letter_expression(token: re.Match[str]) -> str:
    """Raises: BadIgnoreFile."""
    if token[0] == "?":
        return "[^/]"
    if not token["ranges"]:
        return re.escape(token["escaped"] or token[0])
    ranges = ""
    for lowest, highest in _RANGE.findall(token["ranges"]):
        first, last = lowest.removeprefix("\\"), (highest or lowest).removeprefix("\\")
        if last < first:
            raise BadIgnoreFile(f"{FILE} has a range that ends before it begins: {token[0][:100]}")
        ranges += f"{re.escape(first)}-{re.escape(last)}"
    return f"(?!/)[{token['not']}{ranges}]"
