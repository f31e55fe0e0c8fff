"""Read traces and policies from files or from the bundled samples."""

import gzip
import json
import sys
import tomllib
import zlib
from importlib.resources import files
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from carrel.core.errors import Invalid, NotFound
from carrel.queue.policy_file import SchedulerPolicy
from carrel.simulator.swf import read_swf
from carrel.simulator.traces import TraceEntry, read

_SHIPPED = files("carrel.simulator") / "traces_data"
_GZIP = b"\x1f\x8b"


def trace(name: str, *, container_cores: int | None = None, first: int | None = None) -> list[TraceEntry]:
    """The sessions of a trace; at least one. name: a file, "-", or a bundled trace. first: read at most this many.

    The format is detected from the content: JSON lines or the Standard Workload Format.
    Raises: Invalid, NotFound.
    """
    try:
        content = _content(name, ".jsonl")
    except OSError as error:
        raise NotFound("trace.no_file", _why(name, error), hint=_hint(".jsonl"), field="trace") from None
    lines = _unpacked(name, content).decode(errors="replace").splitlines()
    begins = next((line.strip() for line in lines if line.strip()), "")
    entries = read(lines) if begins.startswith("{") else read_swf(lines, container_cores=container_cores)
    arrivals = list(islice(entries, first))
    if not arrivals:
        raise Invalid("trace.empty", f"{name} contains no sessions.", field="trace")
    return arrivals


def policy(name: str) -> SchedulerPolicy:
    """A policy. name: a file (JSON or TOML by its suffix), "-" for JSON, or a bundled policy.

    Raises: Invalid, NotFound.
    """
    try:
        content = _content(name, ".toml")
    except OSError as error:
        raise NotFound(
            "policy_file.no_file", _why(name, error), hint=_hint(".toml"), field="policy"
        ) from None
    as_toml = name.endswith(".toml") or name in shipped(".toml")
    try:
        document = tomllib.loads(content.decode()) if as_toml else json.loads(content)
        return SchedulerPolicy.model_validate(document)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise Invalid(
            "policy_file.unreadable", f"{name}: {where or 'the file'}: {first['msg']}.", field="policy"
        ) from None
    except ValueError as wrong:
        raise Invalid("policy_file.unreadable", f"{name} cannot be read: {wrong}.", field="policy") from None


def shipped(ending: str) -> list[str]:
    """The names of the bundled files."""
    return sorted(each.name.removesuffix(ending) for each in _SHIPPED.iterdir() if each.name.endswith(ending))


def _content(name: str, ending: str) -> bytes:
    """Raises: OSError."""
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except FileNotFoundError:
        if name not in shipped(ending):
            raise
        return (_SHIPPED / f"{name}{ending}").read_bytes()


def _why(name: str, error: OSError) -> str:
    return f"{name}: {error.strerror or error}."


def _hint(ending: str) -> str:
    return f"Bundled files: {', '.join(shipped(ending))}."


def _unpacked(name: str, content: bytes) -> bytes:
    try:
        return gzip.decompress(content) if content.startswith(_GZIP) else content
    except (OSError, EOFError, zlib.error) as error:
        raise Invalid("trace.unreadable", f"{name} cannot be unpacked: {error}.", field="trace") from None
