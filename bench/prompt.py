"""Latency from RUNNING to a prompt in the page's terminal, against the engine's exec alone."""

import json
import time

from tiny_image import docker_url
from websockets.asyncio.client import connect

from bench.control_plane import ControlPlane, control_plane
from bench.engine_floor import Bare
from bench.following import following
from bench.load import median
from bench.table import Line

_ROUNDS = 15
_SLOTS = {"cpu": 500, "mem": 64 << 20}


async def measure() -> list[Line]:
    ours: list[float] = []
    bare: list[float] = []
    async with (
        control_plane() as own,
        own.client() as client,
        following(own) as follower,
        Bare(docker_url(), own.image) as floor,
    ):
        made = (await client.post("/sessions", json={"image": "tiny", "slots": _SLOTS})).json()
        await follower.reached(made["id"], "RUNNING")
        name, _ = await floor.start(_SLOTS)
        for _ in range(_ROUNDS):
            ours.append(await _prompt(own, made["id"]))
            bare.append(await floor.prompt(name))
        await floor.remove(name)
    return [
        Line(
            "terminal: RUNNING to prompt",
            f"{median(ours) * 1000:.0f} ms",
            f"{_ROUNDS} by turns, over a WebSocket",
            ratio=median(ours) / median(bare),
            floor=f"{median(bare) * 1000:.0f} ms",
        )
    ]


async def _prompt(own: ControlPlane, session: str) -> float:
    url = f"ws://127.0.0.1:{own.port}/api/v1/sessions/{session}/terminal"
    began = time.perf_counter()
    async with connect(url, additional_headers={"Authorization": own.basic}) as socket:
        async for message in socket:
            if isinstance(message, bytes):
                return time.perf_counter() - began
            assert json.loads(message)["type"] == "ready", message
    raise ConnectionError("the terminal closed")
