"""Limits of the program rm of a session's image, which runs while an image is made from the session."""

import asyncio
from typing import Any

import pytest

from carrel.engines.docker import committing
from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.committing import Commits
from carrel.engines.docker.container_config import Names
from carrel.engines.port import EngineError, EngineUnavailable


class Unending(DockerApi):
    """A daemon with a container that never ends."""

    def __init__(self) -> None:
        super().__init__("tcp://elsewhere:1")
        self.created: list[Any] = []

    async def call(self, method: str, path: str, *, body: Any = None, **options: object) -> Any:
        if path == "containers/create":
            self.created.append(body)
        if path.endswith("/wait"):
            await asyncio.Event().wait()


async def test_a_program_rm_that_never_ends_fails_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committing, "_REMOVE_S", 0.0)
    with pytest.raises(EngineError) as failed:
        await Commits(Unending(), Names("test"))._remove_deleted("name")
    assert failed.value.code == "commit_failed"
    assert not isinstance(failed.value, EngineUnavailable)


async def test_its_memory_processors_processes_and_rights_are_limited() -> None:
    api = Unending()
    await Commits(api, Names("test"))._created(
        "to", "key", {"Image": "sha256:a", "Cmd": ["rm", "-rf", "--", "/a"]}
    )
    host = api.created[0]["HostConfig"]
    assert host["Memory"] == host["MemorySwap"] == 512 << 20
    assert host["NanoCpus"] == 10**9
    assert host["PidsLimit"] == 64
    assert host["SecurityOpt"] == ["no-new-privileges:true"]
    assert host["NetworkMode"] == "none"
    assert host["LogConfig"]["Type"] == "none"
