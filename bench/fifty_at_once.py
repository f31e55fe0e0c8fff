"""50 sessions requested at once, against 50 containers by the engine's API with the same concurrency."""

import asyncio
import time

from tiny_image import docker_url

from bench.control_plane import SMALL, control_plane, created
from bench.engine_floor import Bare
from bench.following import following
from bench.load import median
from bench.table import Line

_COUNT = 50
_CONCURRENCY = 16
_ROUNDS = 3


async def measure() -> list[Line]:
    ours: list[float] = []
    bare: list[float] = []
    async with (
        control_plane() as own,
        own.client() as client,
        following(own) as follower,
        Bare(docker_url(), own.image) as floor,
    ):
        for _ in range(_ROUNDS):
            began = time.perf_counter()
            answers = await asyncio.gather(
                *(client.post("/sessions", json={"image": "tiny", "slots": SMALL}) for _ in range(_COUNT))
            )
            made = [created(answer) for answer in answers]
            ours.append(max([await follower.reached(session, "RUNNING") for session in made]) - began)
            for session in made:
                await client.delete(f"/sessions/{session}", params={"force": "true"})
            for session in made:
                await follower.reached(session, "TERMINATED")
            took, names = await floor.together(_COUNT, _CONCURRENCY)
            bare.append(took)
            for name in names:
                await floor.remove(name)
    rates = [_COUNT / median(times) for times in (ours, bare)]
    return [
        Line(
            "50 sessions at once",
            f"{rates[0]:.1f}/s",
            f"{_ROUNDS} by turns, {_CONCURRENCY} in the engine at once",
            ratio=rates[0] / rates[1],
            floor=f"{rates[1]:.1f}/s",
            goal=0.9,
            best="high",
        )
    ]
