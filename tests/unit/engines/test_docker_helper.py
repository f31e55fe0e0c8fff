"""Which image and which programs a helper container has."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import AsyncMock

import aiodocker

from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.container_config import Names
from carrel.engines.docker.firewall import Firewall

OF_A_TENANT = {"Id": "sha256:tenant", "RepoTags": ["registry/evil:1"], "Labels": {"carrel.user": "work"}}


class RecordingApi(DockerApi):
    """A daemon on a machine without /lib64 that has an image of a session and, once it is imported, the helper's."""

    def __init__(self) -> None:
        super().__init__("tcp://elsewhere:1")
        self.imported: list[Mapping[str, str]] = []
        self.created: list[Any] = []

    async def call(self, method: str, path: str, *, body: Any = None, **options: object) -> Any:
        if path == "images/json":
            return [OF_A_TENANT]
        if path.startswith("images/localhost/carrel/helper"):
            if not self.imported:
                raise aiodocker.DockerError(404, "No such image")
            return {"Id": "sha256:helper"}
        if path == "containers/create":
            if any(mount["Source"] == "/lib64" for mount in body["HostConfig"]["Mounts"]):
                raise aiodocker.DockerError(
                    400, "invalid mount config: bind source path does not exist: /lib64"
                )
            self.created.append(body)
        return {"StatusCode": 1} if path.endswith("/wait") else None

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, *, params: Any = None, **options: object
    ) -> AsyncIterator[Any]:
        self.imported.append(params)
        yield AsyncMock()


async def test_the_helper_of_the_firewall_has_no_programs_of_a_sessions_image() -> None:
    api = RecordingApi()
    firewall = Firewall(api, Names("test"))
    firewall._reaches_host = lambda: False  # type: ignore[method-assign]
    await firewall.apply()
    [made] = api.created
    assert made["Image"] == "sha256:helper"
    sources = {mount["Source"]: mount["ReadOnly"] for mount in made["HostConfig"]["Mounts"]}
    assert sources == dict.fromkeys(("/usr", "/bin", "/sbin", "/lib", "/etc/alternatives"), True)
    firewall.forget()
    await firewall.apply()
    assert api.imported == [{"fromSrc": "-", "repo": "localhost/carrel/helper", "tag": "1"}]
