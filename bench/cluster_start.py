"""A cluster session of 16 containers, against the slowest of 16 containers by the engine's API at once."""

import os
import time

from tiny_image import docker_url

from bench.control_plane import SMALL, control_plane, created
from bench.engine_floor import Bare
from bench.following import following
from bench.load import median
from bench.table import Line

_CONTAINERS = 16
_SLOTS = {**SMALL, "cpu": min(200, (os.cpu_count() or 1) * 1000 // _CONTAINERS)}
"""With 1 % of a core, what a container does before its command would take as long as its start. All of them fit on the
machine.
"""
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
            request = {"image": "tiny", "slots": _SLOTS, "containers": _CONTAINERS}
            session = created(await client.post("/sessions", json=request))
            ours.append(await follower.reached(session, "RUNNING") - began)
            await client.delete(f"/sessions/{session}", params={"force": "true"})
            await follower.reached(session, "TERMINATED")
            took, names = await floor.together(_CONTAINERS, _CONTAINERS)
            bare.append(took)
            for name in names:
                await floor.remove(name)
    return [
        Line(
            f"cluster of {_CONTAINERS} containers",
            f"{median(ours):.2f} s",
            f"{_ROUNDS} by turns, request to RUNNING with all barriers open",
            ratio=median(ours) / median(bare),
            floor=f"{median(bare):.2f} s",
            goal=1.3,
            best="low",
        )
    ]
