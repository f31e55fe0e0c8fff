"""Processes of fake containers: a shell with a dozen commands.

A process is a generator of steps (write, sleep, read) that returns its exit code, so it needs neither a task nor a
clock: the driver controls time. Commands: echo cat env touch sleep exit true false id pwd hostname printenv stty head,
`;`, `&&`, `||`, `>&2`, `> PATH`, `$NAME`, `sh -c`, `sh` alone as a line-by-line shell, and `nc`, which finds every host
listening on every port with its name as the answer.
"""

import re
import shlex
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field

from carrel.engines import fake_files
from carrel.engines.port import (
    BOOTSTRAP,
    BOOTSTRAP_FAILED,
    IDLE,
    STARTED_BEFORE,
    WORK_HOME,
    WORK_UID,
    Mount,
    TerminalSize,
    after_bootstrap,
    after_run_once,
)
from carrel.engines.refused import RefusedProcess, forbidden, missing


@dataclass(frozen=True, slots=True)
class Write:
    fd: int
    chunk: bytes


@dataclass(frozen=True, slots=True)
class Sleep:
    seconds: float


@dataclass(frozen=True, slots=True)
class Read:
    """Requests the next chunk of its stdin; b"" at the end."""


@dataclass(frozen=True, slots=True)
class Park:
    """Continues until its container ends."""


Step = Write | Sleep | Read | Park
Process = Generator[Step, bytes, int]

_SHELLS = {"sh", "bash", "/bin/sh", "/bin/bash"}
_PROGRAMS = {
    "cat",
    "echo",
    "env",
    "false",
    "head",
    "hostname",
    "id",
    "nc",
    "printenv",
    "pwd",
    "sleep",
    "stty",
    "touch",
    "true",
}
_NO_PROGRAMS = {"/etc/passwd"}
_CHUNK_BYTES = 32 * 1024


@dataclass(slots=True)
class ProcessEnvironment:
    """The environment of a process. `terminal` may change while it runs."""

    env: Mapping[str, str]
    hostname: str
    terminal: TerminalSize | None = None
    mounts: Sequence[Mount] = ()
    hosts: Callable[[], frozenset[str]] = frozenset
    files: dict[str, bytes] = field(default_factory=dict)
    workdir: str = WORK_HOME


def refusal(name: str, terminal: TerminalSize | None) -> RefusedProcess | None:
    """The failed process of an exec with this name; None if the program exists."""
    if name in _SHELLS | _PROGRAMS:
        return None
    refused = forbidden if name in _NO_PROGRAMS else missing
    return refused(name, with_terminal=terminal is not None)


def run(command: Sequence[str], around: ProcessEnvironment) -> Process:
    """The process of `command`; a missing command ends with 127 and a message on stderr."""
    name, *arguments = command
    if tuple(command) == IDLE:
        while True:
            yield Park()
    if begins := after_run_once(tuple(command)):
        return (yield from _run_once(begins[0], begins[1:], around))
    if then := after_bootstrap(tuple(command)):
        return (yield from _bootstrapped(then, around))
    if name in _SHELLS:
        if arguments[:1] == ["-c"] and len(arguments) > 1:
            return (yield from _script(arguments[1], around))
        return (yield from _lines(around))
    return (yield from _word(name, arguments, 1, around))


def _run_once(mark: str, command: Sequence[str], around: ProcessEnvironment) -> Process:
    if mark in around.files:
        yield Write(2, b"The command has begun before; it is not run twice.\n")
        return STARTED_BEFORE
    around.files[mark] = b""
    return (yield from run(command, around))


def _bootstrapped(command: Sequence[str], around: ProcessEnvironment) -> Process:
    if script := around.files.get(BOOTSTRAP):
        if code := (yield from _script(script.decode().removeprefix("#!/bin/sh\n"), around)):
            yield Write(2, f"The bootstrap script failed with exit code {code}.\n".encode())
            return BOOTSTRAP_FAILED
        around.files[BOOTSTRAP] = b""
    return (yield from run(command, around))


def _script(text: str, around: ProcessEnvironment) -> Process:
    code = 0
    for joint, words in _statements(text):
        if (joint == "&&" and code != 0) or (joint == "||" and code == 0):
            continue
        expanded = [_expand(word, around.env) for word in words]
        if expanded[0] == "exit":
            return int(expanded[1]) if len(expanded) > 1 else code
        code = yield from _redirected(expanded, around)
    return code


def _lines(around: ProcessEnvironment) -> Process:
    """A shell that reads commands from stdin: with a terminal it echoes them and shows a prompt."""
    code, pending = 0, b""
    while True:
        if around.terminal:
            yield Write(1, b"$ ")
        while b"\n" not in pending and b"\r" not in pending:
            chunk = yield Read()
            if chunk in (b"", b"\x04"):
                return code
            if around.terminal:
                yield Write(1, chunk.replace(b"\r", b"\r\n"))
            pending += chunk
        line, pending = re.split(rb"\r\n|\r|\n", pending, maxsplit=1)
        text = line.decode(errors="replace").strip()
        if text.split(" ")[0] == "exit":
            return int(text.split(" ")[1]) if " " in text else code
        code = yield from _script(text, around)


def _redirected(words: Sequence[str], around: ProcessEnvironment) -> Process:
    fd = 1
    if len(words) > 2 and list(words[-2:]) == [">&", "2"]:
        words, fd = words[:-2], 2
    if len(words) > 2 and words[-2] == ">":
        return (yield from _into(words[-1], _redirected(words[:-2], around), around))
    if words[0] in _SHELLS:
        return (yield from run(words, around))
    return (yield from _word(words[0], words[1:], fd, around))


def _into(path: str, process: Process, around: ProcessEnvironment) -> Process:
    """The process, with its output as the content of a file."""
    content, step = b"", None
    try:
        step = next(process)
        while True:
            if isinstance(step, Write) and step.fd == 1:
                content += step.chunk
                step = next(process)
            else:
                step = process.send((yield step))
    except StopIteration as ended:
        around.files[path] = content
        return int(ended.value)


def _word(name: str, arguments: Sequence[str], fd: int, around: ProcessEnvironment) -> Process:
    newline = b"\r\n" if around.terminal else b"\n"
    match name:
        case "true" | ":":
            return 0
        case "false":
            return 1
        case "sleep":
            yield Sleep(float(arguments[0]))
            return 0
        case "cat" | "touch" if arguments:
            return (yield from _file(name, arguments[0], fd, around))
        case "cat":
            return (yield from _cat(fd, around))
        case "nc":
            return (yield from _nc(arguments, fd, around))
        case "head":
            return (yield from _zeros(int(arguments[1]), fd))
    answer = _answer(name, arguments, around)
    if answer is None:
        yield Write(2, f"sh: {name}: not found".encode() + newline)
        return 127
    yield Write(fd, answer.encode() + newline)
    return 0


def _answer(name: str, arguments: Sequence[str], around: ProcessEnvironment) -> str | None:
    match name:
        case "echo":
            return " ".join(arguments)
        case "env":
            return "\n".join(f"{variable}={value}" for variable, value in around.env.items())
        case "id":
            return str(WORK_UID)
        case "pwd":
            return around.workdir
        case "hostname":
            return around.hostname
        case "printenv" if arguments:
            return around.env.get(arguments[0], "")
        case "stty" if around.terminal:
            return f"{around.terminal.rows} {around.terminal.cols}"
    return None


def _cat(fd: int, around: ProcessEnvironment) -> Process:
    while chunk := (yield Read()):
        if around.terminal and chunk == b"\x04":
            break
        yield Write(fd, chunk)
    return 0


def _file(name: str, path: str, fd: int, around: ProcessEnvironment) -> Process:
    try:
        if name == "cat" and path in around.files:
            yield Write(fd, around.files[path])
        elif name == "cat":
            yield Write(fd, fake_files.read(around.mounts, path))
        else:
            fake_files.touch(around.mounts, path)
    except OSError as error:
        yield Write(2, f"{name}: {error}\n".encode())
        return 1
    return 0


def _nc(arguments: Sequence[str], fd: int, around: ProcessEnvironment) -> Process:
    if "-l" in arguments or "-ll" in arguments:
        while True:
            yield Sleep(3600)
    host = arguments[-2]
    if host not in around.hosts():
        yield Write(2, f"nc: bad address '{host}'\n".encode())
        return 1
    yield Write(fd, f"{host}\n".encode())
    return 0


def _zeros(count: int, fd: int) -> Process:
    while count > 0:
        yield Write(fd, bytes(min(count, _CHUNK_BYTES)))
        count -= _CHUNK_BYTES
    return 0


def _statements(text: str) -> Sequence[tuple[str, list[str]]]:
    """Commands with their preceding operator: ";", "&&" or "||"."""
    lexer = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars=";&|<>")
    lexer.whitespace_split = True
    statements: list[tuple[str, list[str]]] = []
    joint, words = ";", list[str]()
    for token in [*lexer, ";"]:
        if token in (";", "&&", "||"):
            if words:
                statements.append((joint, words))
            joint, words = token, []
        else:
            words.append(token)
    return statements


def _expand(word: str, env: Mapping[str, str]) -> str:
    return re.sub(r"\$\{?(\w+)\}?", lambda match: env.get(match[1], ""), word)
