"""The server's git for builds, without a server of the API."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.builds import git_fetch
from carrel.builds.git_fetch import GitSecret
from carrel.core.errors import Invalid
from carrel.imports import sources


async def test_a_host_that_is_no_name_is_refused() -> None:
    source = sources.read("https://host.org/a/b.git")
    for host in ("a..b", "a" * 64):
        with pytest.raises(Invalid) as refused:
            await git_fetch.fetch(replace(source, url=f"https://{host}/a/b.git"), GitSecret(), private=False)
        assert refused.value.code == "build.git_failed"


async def test_large_files_are_not_held_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work, size = tmp_path / "work", 30 << 20
    work.mkdir()
    (work / "large").write_bytes(bytes(size))
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        command = ("git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@b.org", *arguments)
        subprocess.run(command, check=True)
    source = sources.read("https://host.org/a/b.git")
    environment = git_fetch._environment(tmp_path, source, GitSecret(), "192.0.2.1")
    monkeypatch.setattr(git_fetch, "_LIMITS", "ulimit -v 30000")
    archive = await git_fetch._Git(work, environment).run("archive", "HEAD", most=2 * size)
    assert len(archive) > size
