"""Every command of the documents runs, in order, in a shell on a terminal, against a real installation."""

import os
import re
import shlex
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import CARREL, CommandLine, command_line, in_terminal
from databases import scalar
from documented import Block, blocks
from installation import Api, running_installation
from local_engine import LocalEngine
from people import PASSWORD, People, eventually

from carrel.accelerators.fake import FakeAccelerators
from carrel.db.database import Database

ROOT = Path(__file__).parents[3]
DOCUMENTS = sorted(
    document
    for document in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    # What --help gives as examples is looked at by tests/unit/carrel_client/test_client_grammar.py.
    if document.name != "cli.md" and any(True for _ in blocks(document))
)
NOT_RUN_AT_MOST = 1 / 3
"""Of all blocks with commands. What is not run says why, see `documented`."""
# Programs of others that the documents use beside carrel.
PROGRAMS = {"pass": "echo velvet-otter-41-plum", "pg_dump": "echo 'CREATE TABLE shop ();'"}
# What documents write where everybody has another; a `before` sets the variable.
PLACEHOLDERS = {"CK0123456789ABCDEF01": "$ACCESS_KEY", "carrel_...": "$TOKEN"}
_QUESTION = re.compile(rb"\[y/N\] $|Type (?P<words>.+) to continue: $|(?P<password>Password: )$")
_END = b"@@@ end "


@pytest.fixture
async def documented(database: Database, people: People, tmp_path: Path) -> AsyncIterator[Api]:
    """An installation whose sessions run real programs, with a node gpu-1 that has accelerators."""
    home = tmp_path / "home-of-sessions"
    home.mkdir()
    (tmp_path / "data").mkdir()
    engine = LocalEngine(home)
    engine.world.local_images |= {"debian:12", "localhost/carrel/starter:latest"}
    engine.world.nodes = [replace(node, name="gpu-1") for node in engine.world.nodes]
    engine.world.equip("gpu-1", FakeAccelerators(4))
    async with running_installation(database, people, tmp_path / "data", engine, controllers=True) as api:

        async def joined() -> bool:
            return await scalar(database, "SELECT count(*) FROM nodes WHERE name = 'gpu-1'") == 1

        await eventually(joined)
        yield api


@pytest.fixture
async def person(documented: Api, tmp_path: Path) -> CommandLine:
    """A superadmin at a desk with the programs that the documents use."""
    person = await command_line(documented, "superadmin", tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in PROGRAMS.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    person.environment["PATH"] = f"{programs}:{Path(CARREL).parent}:{os.environ['PATH']}"
    person.environment |= {"LESS": "FX", "URL": documented.url, "SCRATCH": str(tmp_path), "LANG": "C.UTF-8"}
    return person


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
async def test_the_commands_of_a_document_run_as_they_stand(
    document: Path, documented: Api, person: CommandLine, tmp_path: Path
) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()
    (desk / "carrel").symlink_to(CARREL)
    script = tmp_path / "document.sh"
    script.write_text(_script(document, documented.url))
    async with in_terminal(
        "bash",
        str(script),
        environment={**person.environment, "PWD": str(desk)},
        cols=200,
        rows=200,
        cwd=desk,
    ) as screen:
        shown = await screen.conversation(_QUESTION, _answer, until=_END)
    code = shown.rpartition(_END)[2].split()[0]
    assert code == b"0", f"{document.relative_to(ROOT)}\n{shown.decode(errors='replace')[-3000:]}"


def test_few_blocks_are_not_run_and_all_of_them_say_why() -> None:
    all_blocks = [
        (document, block) for document in DOCUMENTS for block in blocks(document) if not block.before
    ]
    skipped = [(document, block) for document, block in all_blocks if block.skipped]
    for document, block in skipped:
        print(f"{document.relative_to(ROOT)}:{block.line}: {block.skipped}")  # noqa: T201 - shown with -s
    assert len(skipped) <= NOT_RUN_AT_MOST * len(all_blocks), f"{len(skipped)} of {len(all_blocks)}"


def _answer(request: re.Match[bytes]) -> bytes:
    if request["words"]:
        return request["words"] + b"\n"
    return PASSWORD.encode() + b"\n" if request["password"] else b"y\n"


def _script(document: Path, url: str) -> str:
    """One script for all blocks, which says which command failed, and ends with the exit code."""
    parts = ["(", "set -eE -o pipefail", "trap 'echo \"@@@ failed: $BASH_COMMAND\"' ERR"]
    parts += [_part(block, url) for block in blocks(document) if not block.skipped]
    return "\n".join([*parts, ")", f'echo "{_END.decode()}$? "']) + "\n"


def _part(block: Block, url: str) -> str:
    text = re.sub(r"https://carrel\.example\.org|http://localhost:8700", url, block.text)
    text = text.replace("/srv/", '"$SCRATCH"/srv/')  # the documents' name for a directory of the server
    for placeholder, variable in PLACEHOLDERS.items():
        text = text.replace(placeholder, variable)
    begin = f"echo {shlex.quote(f'@@@ line {block.line}')}"
    if not block.exit_code:
        return f"{begin}\n{text}"
    return f"{begin}\nset +e; (set -e\n{text}\n); [ $? = {block.exit_code} ] || exit 99; set -e"
