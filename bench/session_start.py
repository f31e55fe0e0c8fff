"""From the request to RUNNING on the page, against the same container by the engine's API alone."""

import asyncio
import time

from tiny_image import docker_url

from bench.control_plane import SMALL, control_plane
from bench.engine_floor import Bare
from bench.following import following
from bench.load import median
from bench.table import Line

_ROUNDS = 15


async def measure() -> list[Line]:
    ours: list[float] = []
    bare: list[float] = []
    async with (
        control_plane() as own,
        own.client() as client,
        following(own) as follower,
        Bare(docker_url(), own.image) as floor,
    ):
        for turn in range(_ROUNDS + 2):
            began = time.perf_counter()
            made = (await client.post("/sessions", json={"image": "tiny", "slots": SMALL})).json()
            took = await follower.reached(made["id"], "RUNNING") - began
            name, bare_took = await floor.start()
            if turn > 1:  # the first run of each is a warm-up
                ours.append(took)
                bare.append(bare_took)
            await asyncio.gather(
                client.delete(f"/sessions/{made['id']}", params={"force": "true"}), floor.remove(name)
            )
            await follower.reached(made["id"], "TERMINATED")
    return [
        Line(
            "session start",
            f"{median(ours) * 1000:.0f} ms",
            f"{_ROUNDS} by turns, one at a time, image present",
            ratio=median(ours) / median(bare),
            floor=f"{median(bare) * 1000:.0f} ms",
            goal=1.15,
        )
    ]
