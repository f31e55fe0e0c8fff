"""Git repositories as contexts of builds, fetched by the server's git.

Server and repository are foreign. Nothing is checked out, and no hook, filter or submodule of it is used: git writes
the objects of one commit to a temporary directory, and its tree as a tar file. It connects only to the address that was
checked, over http, https or ssh, without redirects, and within limits of time, memory and size.
"""

import asyncio
import os
import re
import shutil
import signal
import socket
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from shlex import quote
from urllib.parse import urlsplit

from carrel.builds.contexts import LARGEST_BYTES, MOST_FILES, too_large
from carrel.core.errors import CarrelError, Conflict, Forbidden, Invalid
from carrel.http import addresses
from carrel.imports.sources import ImportSource
from carrel.storage import scratch

_PREFIX = "carrel-git-"
LONGEST_S = 120.0
_MOST_TAR = LARGEST_BYTES + 4096 * MOST_FILES
_LIMITS = "ulimit -f 524288; ulimit -v 1048576; ulimit -t 120"
"""In blocks of 512 bytes, so that the objects have at most 256 MiB; in KiB; in seconds."""
_ENDING = ("setpriv", "--pdeathsig", "KILL")
"""Before a program that ends with the one that started it."""
_OLDEST = (2, 37)
"""The first Git with http.curloptResolve."""
_PORTS = {"http": 80, "https": 443, "ssh": 22}
_ATTRIBUTES = "* -export-ignore -export-subst -ident -text -filter -working-tree-encoding\n"
_NO_REF = re.compile("couldn't find remote ref|not our ref|unadvertised object")
_NO_TREE = re.compile("not a valid object name|not a tree object", re.IGNORECASE)
_TOO_LARGE = re.compile(
    r"file too large|out of memory|died of signal|\Afatal: fetch-pack: invalid index-pack output",
    re.IGNORECASE,
)
_LONGEST_MESSAGE = 300


@dataclass(frozen=True, kw_only=True)
class GitSecret:
    """token: an access token, or USER:PASSWORD. key: a private SSH key. Empty: none."""

    token: str = ""
    key: str = ""


@dataclass(frozen=True)
class FetchedCommit:
    """content: a tar file of its files."""

    content: bytes
    commit: str


async def fetch(source: ImportSource, secret: GitSecret, *, private: bool) -> FetchedCommit:
    """The files of the repository at the path of the source. private: addresses of private networks are permitted.

    Raises: Invalid, Forbidden, TooLarge; Conflict if the server has no git.
    """
    parts = urlsplit(source.url)
    address = await _resolved(parts.hostname or "", parts.port or _PORTS[parts.scheme], private=private)
    with scratch.scratch(_PREFIX) as (place, lock):
        git = _Git(place, _environment(place, source, secret, address), lock)
        try:
            async with asyncio.timeout(LONGEST_S):
                return await _fetched(git, source)
        except _GitFailed as error:
            raise _refusal(error.output, source) from None
        except TimeoutError:
            raise _failed(f"It took more than {LONGEST_S:.0f} seconds.") from None


def remove_leftovers() -> None:
    """Delete what killed processes have fetched, and the keys for it. Twice: no-op."""
    scratch.remove_leftovers(_PREFIX)


async def _fetched(git: "_Git", source: ImportSource) -> FetchedCommit:
    await _require_git(git, ssh=source.url.startswith("ssh:"))
    await git.text("init", "--quiet", "--bare", "--template=", ".")
    (git.place / "info").mkdir()
    (git.place / "info" / "attributes").write_text(_ATTRIBUTES)
    await git.text("fetch", "--quiet", "--depth=1", "--no-tags", "--", source.url, source.ref or "HEAD")
    commit = (await git.text("rev-parse", "FETCH_HEAD^{commit}")).strip()
    try:
        content = await git.run("archive", "--format=tar", f"{commit}:{source.path}", most=_MOST_TAR)
    except _GitFailed as error:
        if not _NO_TREE.search(error.output):
            raise
        raise Invalid(
            "build.no_directory",
            f"The repository has no directory {source.path}.",
            hint="Name a directory as the repository has it, or none.",
            field="path",
        ) from None
    return FetchedCommit(content, commit)


async def _require_git(git: "_Git", *, ssh: bool) -> None:
    """Raises: Conflict."""
    needed = ("setpriv", "git", *(["ssh"] if ssh else []))
    missing = [program for program in needed if not shutil.which(program)]
    version = () if missing else tuple(map(int, re.findall(r"\d+", await git.text("version"))[:2]))
    if missing or version < _OLDEST:
        raise Conflict(
            "build.no_git",
            f"The server has no {missing[0]}." if missing else "The Git of the server is too old.",
            hint=f"Git {'.'.join(map(str, _OLDEST))} or newer, setpriv, and for keys OpenSSH, must be installed there. "
            "Or clone it yourself: `carrel environment build NAME --git URL`.",
        )


async def _resolved(host: str, port: int, *, private: bool) -> str:
    """An address of the host; all of them have been checked. Raises: Invalid, Forbidden."""
    try:
        entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "this is no name of a host"
        raise _failed(f"The host {host} is not known: {reason}.") from None
    resolved = [str(entry[4][0]).partition("%")[0] for entry in entries]
    try:
        for one in resolved:
            addresses.check(ip_address(one), private=private)
    except addresses.ForbiddenAddress:
        raise Forbidden(
            "build.source_address",
            f"The server does not fetch from {host}: it has a private address.",
            hint="An administrator permits it by naming the host: `carrel site set import_sources=HOST`. "
            "Or clone it yourself: `carrel environment build NAME --git URL`.",
            field="url",
        ) from None
    return resolved[0]


def _environment(place: Path, source: ImportSource, secret: GitSecret, address: str) -> Mapping[str, str]:
    parts = urlsplit(source.url)
    host = parts.hostname or ""
    pinned = f"[{address}]" if ":" in address else address
    settings = {
        "http.followRedirects": "false",
        "http.lowSpeedLimit": "1000",
        "http.lowSpeedTime": "30",
        "http.proxy": "",
        "fetch.unpackLimit": "1",
        "fetch.fsckObjects": "true",
        "core.bigFileThreshold": "1m",
        "pack.threads": "1",
        "gc.auto": "0",
    }
    if host != address:
        settings["http.curloptResolve"] = f"{host}:{parts.port or _PORTS[parts.scheme]}:{pinned}"
    if secret.token and parts.scheme != "ssh":
        user = secret.token if ":" in secret.token else f"oauth2:{secret.token}"
        settings["http.extraHeader"] = f"Authorization: Basic {b64encode(user.encode()).decode()}"
    authorities = os.environ.get("SSL_CERT_FILE")
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(place),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "http:https:ssh",
        "GIT_SSH_COMMAND": _ssh(place, host, address, secret.key),
        "GIT_SSH_VARIANT": "ssh",
        "GIT_CONFIG_COUNT": str(len(settings)),
        **{f"GIT_CONFIG_KEY_{at}": name for at, name in enumerate(settings)},
        **{f"GIT_CONFIG_VALUE_{at}": value for at, value in enumerate(settings.values())},
        **({"GIT_SSL_CAINFO": authorities} if authorities else {}),
    }


def _ssh(place: Path, host: str, address: str, key: str) -> str:
    file = place / "key"
    if key:
        file.touch(mode=0o600)
        file.write_text(f"{key.strip()}\n")
    options = {
        "BatchMode": "yes",
        "ConnectTimeout": "30",
        "HostKeyAlias": host,
        "HostName": address,
        "IdentitiesOnly": "yes",
        "IdentityAgent": "none",
        "IdentityFile": str(file) if key else "none",
        "LogLevel": "ERROR",
        "ServerAliveCountMax": "2",
        "ServerAliveInterval": "15",
        "StrictHostKeyChecking": "accept-new",
        "UserKnownHostsFile": str(place / "hosts"),
    }
    return f"exec {' '.join(_ENDING)} ssh -F none " + " ".join(
        f"-o {quote(f'{name}={value}')}" for name, value in options.items()
    )


class _GitFailed(Exception):
    def __init__(self, output: str) -> None:
        super().__init__(output)
        self.output = output


@dataclass(frozen=True)
class _Git:
    """git in a directory, with this environment alone. It ends with this process, and holds the lock until then."""

    place: Path
    environment: Mapping[str, str]
    lock: int

    async def text(self, *arguments: str) -> str:
        """What it prints. Raises: _GitFailed, TooLarge."""
        return (await self.run(*arguments, most=1 << 20)).decode(errors="replace")

    async def run(self, *arguments: str, most: int) -> bytes:
        """At most so many bytes of output. Raises: _GitFailed, TooLarge."""
        process = await asyncio.create_subprocess_exec(
            *_ENDING,
            *("sh", "-c", f'{_LIMITS}; exec git "$@"', "git", *arguments),
            cwd=self.place,
            env=self.environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            pass_fds=[self.lock],
        )
        assert process.stdout
        assert process.stderr
        reading = [
            asyncio.create_task(_read(stream, limit))
            for stream, limit in ((process.stdout, most), (process.stderr, 1 << 20))
        ]
        try:
            printed, errors = await asyncio.gather(*reading)
            code = await process.wait()
        finally:
            for task in reading:
                task.cancel()
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                # Not wait(), which does not return while a full pipe is not read.
                await asyncio.wait(reading)
                await process.communicate()
        if code:
            raise _GitFailed(errors.decode(errors="replace"))
        return printed


async def _read(stream: asyncio.StreamReader, most: int) -> bytes:
    """Raises: TooLarge."""
    read = bytearray()
    while piece := await stream.read(1 << 16):
        read += piece
        if len(read) > most:
            raise too_large()
    return bytes(read)


def _refusal(output: str, source: ImportSource) -> CarrelError:
    if _NO_REF.search(output):
        return Invalid(
            "build.no_ref",
            f"The repository has no branch, tag or commit {source.ref}."
            if source.ref
            else "It has no commit.",
            hint="Enter a commit in full, or a branch or tag as the repository has it.",
            field="ref",
        )
    if _TOO_LARGE.search(output):
        return too_large()
    message = " ".join(line.strip() for line in output.splitlines() if line.strip())
    return _failed("".join(letter for letter in message if letter.isprintable())[:_LONGEST_MESSAGE])


def _failed(reason: str) -> Invalid:
    return Invalid(
        "build.git_failed",
        f"The repository could not be fetched: {reason}",
        hint="Check the address, and whether the repository is public or the token or key opens it. "
        "Redirects are not followed: the address often ends in .git",
        field="url",
    )
