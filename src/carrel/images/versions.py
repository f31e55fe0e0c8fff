"""The order of versions: 2.9 before 2.10, 2.0rc1 before 2.0, and names such as "latest" before all numbers."""

import re

_PART = re.compile(r"\d+|[a-z]+")
_BEFORE_RELEASE = frozenset("a alpha b beta c dev nightly pre preview rc".split())
_DIGITS = 18
_LONGEST = 1200


def version_key(version: str) -> str:
    """A text that sorts by its characters as the versions do."""
    parts = _PART.findall(version.lower().removeprefix("v"))
    return " ".join([*map(_key, parts), "c"])[:_LONGEST]


def _key(part: str) -> str:
    """Prefixes: a before a release, c its end, m another word, n a number."""
    if part.isdecimal():
        return f"n{int(part[:_DIGITS]):0{_DIGITS}d}"
    return f"a{part}" if part in _BEFORE_RELEASE else f"m{part}"
