"""Rules of a .dockerignore."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

FILE = ".dockerignore"


def rules(text: str) -> list[str]:
    """The rules of the file, in its order."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def is_ignored(name: str, rules: Sequence[str]) -> bool:
    """True for a path that they leave out: the last rule that fits decides; ! takes back."""
    ignored = False
    for rule in rules:
        pattern = rule.removeprefix("!").strip("/").removeprefix("**/")
        parts = name.split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        anywhere = rule.removeprefix("!").startswith("**/")
        candidates = [*above, *(parts if anywhere else [])]
        if any(fnmatch.fnmatchcase(one, pattern) for one in candidates):
            ignored = not rule.startswith("!")
    return ignored
