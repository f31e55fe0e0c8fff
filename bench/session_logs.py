"""Following a log through the API, against following it by the engine's API alone; and the API while a session
prints as fast as it can.
"""

import asyncio
import time
from collections.abc import AsyncIterator

import aiodocker
import orjson
from tiny_image import docker_url

from bench.control_plane import ControlPlane, control_plane
from bench.engine_floor import Bare
from bench.following import following
from bench.load import median
from bench.table import Line

_SLOTS = {"cpu": 1000, "mem": 64 << 20}
_LINES = 100_000
_TEXT = "a line of output of usual length, of a training that tells its loss at each step"
_PACED = "i=0; while [ $i -lt 60 ]; do echo line $i; i=$((i+1)); sleep 0.05; done >/proc/1/fd/1"
_FAST = f"yes '{_TEXT}' | head -n {_LINES} >/proc/1/fd/1; echo the end >/proc/1/fd/1"
_ROUNDS = 3
_ADDED_MS = 50.0


async def measure() -> list[Line]:
    async with (
        control_plane() as own,
        own.client() as client,
        following(own) as follower,
        Bare(docker_url(), own.image) as floor,
        aiodocker.Docker(url=docker_url()) as docker,
    ):
        made = (await client.post("/sessions", json={"image": "tiny", "slots": _SLOTS})).json()
        await follower.reached(made["id"], "RUNNING")
        shown = (await client.get(f"/sessions/{made['id']}")).json()
        session = LoggedSession(own, docker, made["id"], shown["containers"][0]["id"])
        name, _ = await floor.start(_SLOTS)
        added = await session.added_ms()
        ours, bare, answers = [], [], list[float]()
        for _ in range(_ROUNDS):
            took, some = await session.follow_fast()
            ours.append(took)
            answers += some
            bare.append(await _follow_fast(docker, name))
        await floor.remove(name)
    return [
        Line(
            "log: following adds",
            f"{median(added):.1f} ms (worst {max(added):.1f})",
            "60 lines, to the same line by the engine's API",
            value=median(added),
            goal=_ADDED_MS,
        ),
        Line(
            "log: followed to the end",
            f"{_LINES / median(ours):,.0f} lines/s",
            f"{_ROUNDS} by turns, {_LINES} lines as fast as the engine takes them",
            ratio=median(ours) / median(bare),
            floor=f"{_LINES / median(bare):,.0f} lines/s",
        ),
        Line(
            "log: API meanwhile",
            f"{median(answers) * 1000:.1f} ms (worst {max(answers) * 1000:.0f})",
            "GET /sessions while a session prints as fast as it can",
        ),
    ]


class LoggedSession:
    def __init__(self, own: ControlPlane, docker: aiodocker.Docker, session: str, container: str) -> None:
        self._own = own
        self._docker = docker
        self.id = session
        self.container = container
        self.daemon_name = f"carrel-{own.settings.installation}-{container}"

    async def added_ms(self) -> list[float]:
        """For each line: how much later it arrives by the API."""
        ours: dict[str, float] = {}
        bare: dict[str, float] = {}

        async def read(lines: AsyncIterator[str], seen: dict[str, float]) -> None:
            async for line in lines:
                seen[line] = time.perf_counter()
                if line == "line 59":
                    return

        reading = [
            asyncio.create_task(read(self._lines(), ours)),
            asyncio.create_task(read(_lines_of(self._docker, self.daemon_name), bare)),
        ]
        await asyncio.sleep(0.5)
        await run_in(self._docker, self.daemon_name, _PACED)
        await asyncio.gather(*reading)
        return [(ours[line] - bare[line]) * 1000 for line in bare]

    async def follow_fast(self) -> tuple[float, list[float]]:
        """Seconds until the last line, and of the answers to other requests meanwhile."""
        answers: list[float] = []

        async def ask() -> None:
            async with self._own.client() as client:
                while True:
                    began = time.perf_counter()
                    await client.get("/sessions?limit=20")
                    answers.append(time.perf_counter() - began)
                    await asyncio.sleep(0.02)

        asking = asyncio.create_task(ask())
        count, began = 0, 0.0
        following = asyncio.create_task(_run_later(self._docker, self.daemon_name))
        async for line in self._lines():
            began = began or time.perf_counter()
            count += 1
            if line == "the end":
                break
        took = time.perf_counter() - began
        await following
        asking.cancel()
        if count != _LINES + 1:
            raise RuntimeError(f"{count} lines of {_LINES + 1} were shown")
        return took, answers

    async def _lines(self) -> AsyncIterator[str]:
        path = f"/sessions/{self.id}/logs"
        query = {"follow": "true", "format": "json", "tail": "0"}
        async with self._own.client() as client, client.stream("GET", path, params=query) as answer:
            async for line in answer.aiter_lines():
                yield orjson.loads(line)["text"]


async def _run_later(docker: aiodocker.Docker, name: str) -> None:
    await asyncio.sleep(0.5)
    await run_in(docker, name, _FAST)


async def run_in(docker: aiodocker.Docker, name: str, script: str) -> None:
    process = await docker.containers.container(name).exec(["sh", "-c", script])
    async with process.start(detach=False) as stream:
        while await stream.read_out() is not None:
            pass


async def _lines_of(docker: aiodocker.Docker, name: str) -> AsyncIterator[str]:
    async for line in docker.containers.container(name).log(stdout=True, stderr=True, follow=True, tail=0):
        yield line.strip()


async def _follow_fast(docker: aiodocker.Docker, name: str) -> float:
    began = 0.0
    following = asyncio.create_task(_run_later(docker, name))
    async for line in _lines_of(docker, name):
        began = began or time.perf_counter()
        if line == "the end":
            break
    await following
    return time.perf_counter() - began
