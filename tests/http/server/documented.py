"""The shell commands of a Markdown document, and what its author says about running them.

An HTML comment on the line above a block, which no reader sees, says what is special about it:

    <!-- check: not run, REASON -->       it cannot be run by a test: another machine, a name service ...
    <!-- check: exit 1 -->                its last command ends with this exit code

A comment that begins with `<!-- check: before` holds shell lines, up to `-->`, that make what the document takes for
granted; they run where they stand.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_NOTE = re.compile(r"<!-- check: (?:not run, (?P<reason>.+)|exit (?P<code>\d+)) -->")
_COMMAND = re.compile(r"(\S+=\S* )*(\./)?(carrel|curl|mkdir|python|git) |.*\| ?(\./)?carrel ")
_REMARK = re.compile(r"(?<=\S) {3,}(?!\\).*$")


@dataclass(frozen=True)
class Block:
    """Lines of shell. line: where they begin. before: they prepare the document, and nobody reads them."""

    line: int
    text: str
    before: bool = False
    skipped: str = ""
    exit_code: int = 0


def blocks(document: Path) -> Iterator[Block]:
    """The blocks with commands, in order. A block that is marked as no language counts when it begins with one."""
    lines = document.read_text().splitlines()
    at = 0
    while at < len(lines):
        line, start = lines[at], at
        at += 1
        if line == "<!-- check: before":
            end = lines.index("-->", at)
            yield Block(start + 2, "\n".join(lines[at:end]), before=True)
            at = end + 1
        elif line.startswith("```") and line != "```":
            end = lines.index("```", at)
            if line in ("```sh", "```console"):
                yield _block(lines, start, end)
            at = end + 1
        elif line == "```":
            end = lines.index("```", at)
            if any(map(_COMMAND.match, lines[at:end])):
                yield _block(lines, start, end)
            at = end + 1


def _block(lines: list[str], fence: int, end: int) -> Block:
    note = _NOTE.fullmatch(lines[fence - 1])
    # Behind a command in a block without a language, after three spaces, stands what it is for.
    text = "\n".join(
        _REMARK.sub("", line) if lines[fence] == "```" else line for line in lines[fence + 1 : end]
    )
    return Block(
        fence + 2,
        text,
        skipped=note["reason"] or "" if note else "",
        exit_code=int(note["code"] or 0) if note else 0,
    )
