"""The shell script that fetches a source, for the POSIX shell of any image. Pure.

Texts of the request occur only as quoted values of variables at the top; what follows is the same for everybody.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from shlex import quote as shell_quote
from urllib.parse import quote, urlsplit

from carrel.engines.port import WORK_HOME
from carrel.imports.sources import HUB_KINDS, ImportSource, SourceKind

TOKEN_VARIABLE, KEY_VARIABLE = "CARREL_IMPORT_TOKEN", "CARREL_IMPORT_KEY"
"""Environment variables of the session with the credentials of a private source. Scripts never contain them."""


@dataclass(frozen=True, kw_only=True)
class Steps:
    """root: the directory to fetch into. install: the requirements, into the image's Python. opens: JupyterLab opens
    what was fetched.
    """

    root: str = WORK_HOME
    install: bool = False
    opens: bool = True


def script(source: ImportSource, steps: Steps) -> str:
    """The script."""
    values = {
        "url": source.url,
        "name": source.name,
        "ref": source.ref,
        "path": source.path,
        "root": steps.root,
        **_values(source),
        **({"page": page(source)} if steps.opens else {}),
    }
    parts = [
        "begin",
        "hub" if source.kind in HUB_KINDS else source.kind.value,
        "place",
        *(["install"] if steps.install else []),
        *(["open"] if steps.opens else []),
    ]
    head = "".join(f"{name}={shell_quote(value)}\n" for name, value in values.items())
    return "\n".join(["#!/bin/sh", head, *map(_part, parts)])


def page(source: ImportSource) -> str:
    """What JupyterLab opens, below its /lab/tree/: only letters, digits, % and the characters - . _ ~ /."""
    return quote("/".join(part for part in (source.name, source.path) if part))


def _values(source: ImportSource) -> dict[str, str]:
    if source.kind == SourceKind.GIT:
        return {"netloc": urlsplit(source.url).netloc.rpartition("@")[2], "archive": source.archive}
    if source.kind in HUB_KINDS:
        return {"kind": source.kind.value, "repository": source.repository}
    return {}


@cache
def _part(name: str) -> str:
    directory = files("carrel.imports.scripts")
    text = (directory / f"{name}.sh").read_text("utf-8")
    if name == "hub":
        text = text.replace("@hub.py@\n", (directory / "hub.py").read_text("utf-8"))
    return text
