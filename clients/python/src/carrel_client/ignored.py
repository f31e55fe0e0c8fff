"""Rules of a .dockerignore."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

FILE = ".dockerignore"


def rules(text: str) -> list[str]:
    """The rules of the file, in its order."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def is_ignored(name: str, rules: Sequence[str]) -> bool:
    """True for a path that they leave out: the last rule that fits it or a directory above decides; ! takes back.

    Source: https://docs.docker.com/build/concepts/context/#dockerignore-files: rules are of the whole path, * and ? do
    not stand for /, ** stands for any number of directories.
    """
    ignored = False
    parts = name.split("/")
    for rule in rules:
        if _fits(_segments(rule.removeprefix("!")), parts):
            ignored = not rule.startswith("!")
    return ignored


def _fits(rule: Sequence[str], parts: Sequence[str]) -> bool:
    """True for the path of these parts, and for what is below it."""
    at = {0} if rule else set()
    for part in parts:
        # ** may stand for no directory, but at the end only for something.
        for place in range(len(rule) - 1):
            if place in at and rule[place] == "**":
                at.add(place + 1)
        at = {
            place if one == "**" and place + 1 < len(rule) else place + 1
            for place, one in enumerate(rule)
            if place in at and (one == "**" or fnmatchcase(part, one))
        }
        if len(rule) in at:
            return True
    return False


def _segments(rule: str) -> list[str]:
    """Globs of names, or **."""
    segments: list[str] = []
    for segment in rule.strip().split("/"):
        if segment == ".." and segments:
            segments.pop()
        elif segment not in ("", ".", ".."):
            negated = segment.replace("[^", "[!")
            segments.append(re.sub(r"\\(.)", lambda escaped: f"[{escaped[1]}]", negated))
    return segments
