"""The server's git for builds, without a server of the API."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from carrel.builds import git_fetch
from carrel.builds.git_fetch import GitSecret
from carrel.core.errors import Invalid, TooLarge
from carrel.imports import sources


async def test_a_host_that_is_no_name_is_refused() -> None:
    source = sources.read("https://host.org/a/b.git")
    for host in ("a..b", "a" * 64):
        with pytest.raises(Invalid) as refused:
            await git_fetch.fetch(replace(source, url=f"https://{host}/a/b.git"), GitSecret(), private=False)
        assert refused.value.code == "build.git_failed"


@contextmanager
def git_with(root: Path, size: int) -> Iterator[git_fetch._Git]:
    """In a repository with a file of that many bytes."""
    (root / "large").write_bytes(bytes(size))
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        command = ("git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b.org", *arguments)
        subprocess.run(command, check=True)
    source = sources.read("https://host.org/a/b.git")
    lock = os.open(root, os.O_RDONLY)
    yield git_fetch._Git(root, git_fetch._environment(root, source, GitSecret(), "192.0.2.1"), lock)
    os.close(lock)


async def test_large_files_are_not_held_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_fetch, "_LIMITS", "ulimit -v 30000")
    with git_with(tmp_path, 30 << 20) as git:
        assert len(await git.run("archive", "HEAD", most=60 << 20)) > 30 << 20


async def test_output_above_the_limit_ends_git_at_once(tmp_path: Path) -> None:
    with git_with(tmp_path, 30 << 20) as git:
        for _ in range(50):
            with pytest.raises(TooLarge):
                async with asyncio.timeout(20):
                    await git.run("archive", "HEAD", most=1000)


FETCH = """
import asyncio
from carrel.builds import git_fetch
from carrel.imports.sources import ImportSource, SourceKind
url = "ssh://git@127.0.0.1:PORT/a/b.git"
source = ImportSource(kind=SourceKind.GIT, url=url, host="127.0.0.1", place="127.0.0.1/a/b", name="b")
asyncio.run(git_fetch.fetch(source, git_fetch.GitSecret(key="secret"), private=True))
"""


def test_a_killed_process_leaves_no_git_and_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        program = FETCH.replace("PORT", str(silent.getsockname()[1]))
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        process = subprocess.Popen([sys.executable, "-c", program], env=environment)
        silent.settimeout(60)
        connection, _ = silent.accept()
        with connection:
            children = psutil.Process(process.pid).children(recursive=True)
            git_fetch.remove_leftovers()
            [key] = tmp_path.glob("carrel-git-*/key")
            process.kill()
            process.wait()
            assert psutil.wait_procs(children, timeout=10)[1] == []
    assert key.exists()
    git_fetch.remove_leftovers()
    assert list(tmp_path.iterdir()) == []
