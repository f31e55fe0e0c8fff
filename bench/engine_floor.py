"""The same containers by the engine's API alone: create, start, inspect; the floor for any control plane."""

import asyncio
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, cast

import aiodocker

from bench.control_plane import SMALL
from carrel.engines.docker.container_config import Names, configuration
from carrel.engines.port import IDLE, ContainerSpec


class Bare:
    """Creates containers as Carrel configures them, on a separate network."""

    def __init__(self, url: str, image: str) -> None:
        self._url = url
        self._image = image
        self._names = Names("bench-" + secrets.token_hex(3))
        self._made = set[str]()

    async def __aenter__(self) -> "Bare":
        self._docker = aiodocker.Docker(url=self._url)
        self._network = await self._docker.networks.create(
            {"Name": self._names.network, "Internal": False, "Labels": {"carrel.bench": "true"}}
        )
        return self

    async def __aexit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Includes leftovers of a failed measurement: a network with containers cannot be deleted.
        async with AsyncExitStack() as cleanup:
            cleanup.push_async_callback(self._docker.close)
            cleanup.push_async_callback(self._network.delete)
            for name in self._made:
                cleanup.push_async_callback(self._gone, name)

    async def start(
        self,
        slots: Mapping[str, int] = SMALL,
        command: Sequence[str] = IDLE,
        env: Mapping[str, str] | None = None,
        published: Mapping[int, int] | None = None,
    ) -> tuple[str, float]:
        """The container's name, and the seconds from the first call until it runs. published: ports of this machine's
        loopback by those of the container.
        """
        name = secrets.token_hex(6)
        spec = ContainerSpec(id=name, image=self._image, slots=slots, command=tuple(command), env=env or {})
        body: Any = configuration(
            spec, self._names, network=self._names.network, with_init=False, with_profile=True
        )
        for inside, outside in (published or {}).items():
            body.setdefault("ExposedPorts", {})[f"{inside}/tcp"] = {}
            ports = body["HostConfig"].setdefault("PortBindings", {})
            ports[f"{inside}/tcp"] = [{"HostIp": "127.0.0.1", "HostPort": str(outside)}]
        began = time.perf_counter()
        self._made.add(f"carrel-bench-{name}")
        container = await self._docker.containers.create(body, name=f"carrel-bench-{name}")
        await container.start()
        shown = await container.show()
        assert shown["State"]["Running"], shown["State"]
        return f"carrel-bench-{name}", time.perf_counter() - began

    async def jobs(self, command: Sequence[str], count: int, concurrency: int) -> float:
        """Seconds to run this command in so many containers, each removed after its end."""
        room = asyncio.Semaphore(concurrency)

        async def one() -> None:
            name = secrets.token_hex(6)
            spec = ContainerSpec(id=name, image=self._image, slots=SMALL, command=tuple(command), once=True)
            body = configuration(
                spec, self._names, network=self._names.network, with_init=False, with_profile=True
            )
            async with room:
                self._made.add(f"carrel-bench-{name}")
                container = await self._docker.containers.create(cast(Any, body), name=f"carrel-bench-{name}")
                await container.start()
                await container.wait()
                await self.remove(f"carrel-bench-{name}")

        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(one())
        return time.perf_counter() - began

    async def prompt(self, container: str) -> float:
        """Seconds until a shell by the engine's exec shows its first character."""
        began = time.perf_counter()
        execution = await self._docker.containers.container(container).exec(
            ["sh", "-l"], tty=True, stdin=True
        )
        async with execution.start(detach=False) as stream:
            await stream.read_out()
            return time.perf_counter() - began

    async def remove(self, container: str) -> None:
        await self._docker.containers.container(container).delete(force=True, v=True)
        self._made.discard(container)

    async def _gone(self, container: str) -> None:
        try:
            await self.remove(container)
        except aiodocker.DockerError as error:
            if error.status != 404:
                raise

    async def together(self, count: int, concurrency: int) -> tuple[float, list[str]]:
        """Seconds for this many containers with limited concurrency."""
        room = asyncio.Semaphore(concurrency)

        async def one() -> str:
            async with room:
                return (await self.start())[0]

        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:  # a failure cancels all of them before the cleanup
            made = [group.create_task(one()) for _ in range(count)]
        return time.perf_counter() - began, [each.result() for each in made]
