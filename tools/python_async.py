"""Write the asynchronous variant of the SDK, clients/python/src/carrel_client/sdk/aio.py, from the synchronous one.

python tools/python_async.py            write it
python tools/python_async.py --check    exit code 1 if it is out of date
"""

import ast
import subprocess
import sys
from pathlib import Path

SDK = Path(__file__).resolve().parent.parent / "clients/python/src/carrel_client/sdk"
TARGET = SDK / "aio.py"
SOURCES = ("sessions.py", "folders.py", "templates.py", "imports.py", "client.py")
OBJECTS = ("App", "Session", "Sessions", "Folder", "Folders", "Template", "Templates", "Imports", "Carrel")
WITHOUT_REQUEST = {("Session", "app")}
LEFT_OUT = {("Carrel", "api"), ("Carrel", "close"), ("Carrel", "from_environment")}

HEAD = '''"""The asynchronous twin of the SDK, written by tools/python_async.py from its synchronous modules.

Everything that sends a request is a coroutine or an asynchronous iterator; attributes are the same.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from carrel_client import models
from carrel_client.outcome import Transfer
from carrel_client.sdk import threads
from carrel_client.sdk.client import Carrel
from carrel_client.sdk.folders import Clash, Folder, Folders
from carrel_client.sdk.imports import Imports
from carrel_client.sdk.sessions import (
    App,
    AppAccess,
    ExecResult,
    LogLine,
    LogStream,
    Session,
    Sessions,
    Until,
)
from carrel_client.sdk.templates import Template, Templates
'''
ENTRY = '''
    def __init__(
        self,
        url: str,
        access_key: str | None = None,
        secret_key: str | None = None,
        *,
        token: str | None = None,
        timeout_s: float = 60.0,
    ) -> None:
        self._sync = Carrel(url, access_key, secret_key, token=token, timeout_s=timeout_s)

    @classmethod
    def from_environment(cls, profile: str | None = None, *, timeout_s: float = 60.0) -> AsyncCarrel:
        """As `Carrel.from_environment`."""
        made = cls.__new__(cls)
        made._sync = Carrel.from_environment(profile, timeout_s=timeout_s)
        return made

    async def aclose(self) -> None:
        """Close idle connections. The client stays usable."""
        self._sync.close()

    async def __aenter__(self) -> AsyncCarrel:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()
'''


def main(arguments: list[str]) -> int:
    fresh = render()
    if arguments == ["--check"]:
        if not TARGET.exists() or TARGET.read_text() != fresh:
            print("sdk/aio.py is out of date: run tools/python_async.py", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(fresh)
    return 0


def render() -> str:
    """The text of the module."""
    blocks = [HEAD]
    for source in SOURCES:
        for node in ast.parse((SDK / source).read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name in OBJECTS:
                blocks.append(twin(node))
    ruff = [Path(sys.executable).with_name("ruff"), "format", "--line-length=110", "-"]
    return subprocess.run(ruff, input="\n\n".join(blocks), capture_output=True, text=True, check=True).stdout


def twin(node: ast.ClassDef) -> str:
    name = node.name
    text = [f'class Async{name}:\n    """{ast.get_docstring(node)}"""\n']
    if name == "Carrel":
        text = [f'class Async{name}:\n    """A Carrel server, for asyncio. As `Carrel` else."""\n', ENTRY]
    else:
        text.append(f"    def __init__(self, sync: {name}) -> None:\n        self._sync = sync\n")
    for member in node.body:
        if isinstance(member, ast.FunctionDef):
            if member.name == "__repr__":
                text.append("    def __repr__(self) -> str:\n        return repr(self._sync)\n")
            elif not member.name.startswith("_") and (name, member.name) not in LEFT_OUT:
                text.append(method(name, member))
    return "\n".join(text)


def method(owner: str, node: ast.FunctionDef) -> str:
    """The asynchronous variant of one method or property."""
    gives = ast.unparse(node.returns) if node.returns else "None"
    wrapped = f"Async{gives}" if gives in OBJECTS else gives
    about = f'        """{ast.get_docstring(node, clean=False)}"""\n'
    if any(isinstance(each, ast.Name) and each.id == "property" for each in node.decorator_list):
        value = f"self._sync.{node.name}"
        made = f"{wrapped}({value})" if gives in OBJECTS else value
        return f"    @property\n    def {node.name}(self) -> {wrapped}:\n{about}        return {made}\n"
    head = f"def {node.name}({ast.unparse(node.args)}) ->"
    call = f"self._sync.{node.name}({passed(node.args)})"
    if (owner, node.name) in WITHOUT_REQUEST:
        return f"    {head} {wrapped}:\n{about}        return {wrapped}({call})\n"
    if gives.startswith("Iterator["):
        item = gives.removeprefix("Iterator[").removesuffix("]")
        wrap = f"Async{item}" if item in OBJECTS else "lambda item: item"
        result = f"Async{item}" if item in OBJECTS else item
        return (
            f"    {head} AsyncIterator[{result}]:\n{about}"
            f"        return threads.iterate(lambda: {call}, {wrap})\n"
        )
    if node.name == "wait":
        body = "        await threads.wait(self._sync, until, timeout_s)\n        return self\n"
    elif gives == owner:
        body = f"        await threads.call(lambda: {call})\n        return self\n"
    elif gives in OBJECTS:
        body = f"        return {wrapped}(await threads.call(lambda: {call}))\n"
    else:
        body = f"        return await threads.call(lambda: {call})\n"
    return f"    async {head} {wrapped}:\n{about}{body}"


def passed(arguments: ast.arguments) -> str:
    """The arguments as passed on to the call."""
    words = [each.arg for each in arguments.args[1:]]
    words += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    return ", ".join(words + [f"{each.arg}={each.arg}" for each in arguments.kwonlyargs])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
