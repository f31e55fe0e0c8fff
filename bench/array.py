"""An array of tiny batch jobs until the last has ended, against the same containers by the engine's API alone."""

import asyncio
import time

import httpx2
from tiny_image import docker_url

from bench.control_plane import SMALL, control_plane, created
from bench.engine_floor import Bare
from bench.table import Line
from carrel.tables.session_states import LIFECYCLE

_COUNT = 1000
_CONCURRENCY = 8
_COMMAND = ["true"]
_POLL_S = 0.2


async def measure() -> list[Line]:
    async with (
        control_plane() as own,
        own.client() as client,
        Bare(docker_url(), own.image) as floor,
    ):
        # Warm up both.
        await _array(client, _CONCURRENCY)
        await floor.jobs(_COMMAND, _CONCURRENCY, _CONCURRENCY)
        ours = await _array(client, _COUNT)
        bare = await floor.jobs(_COMMAND, _COUNT, _CONCURRENCY)
        asked = await _requested(client)
    return [
        Line(
            f"array of {_COUNT:,} jobs",
            f"{ours:.1f} s",
            f"`true`, {_CONCURRENCY} at a time, until removed",
            ratio=ours / bare,
            floor=f"{bare:.1f} s",
            goal=1.2,
            best="low",
        ),
        Line(
            "request of an array",
            f"{asked * 1000:.0f} ms",
            f"{_COUNT:,} sessions, until stored",
            goal=1000,
            value=asked * 1000,
        ),
    ]


async def _array(client: httpx2.AsyncClient, count: int) -> float:
    """Seconds from the request to the end of the last session."""
    began = time.perf_counter()
    array = created(await client.post("/sessions", json=_request(count)))
    while True:
        counts = (await client.get(f"/sessions/{array}")).json()["array"]["counts"]
        if all(one["state"] in LIFECYCLE.final for one in counts):
            break
        await asyncio.sleep(_POLL_S)
    took = time.perf_counter() - began
    assert all(one["result"] == "success" for one in counts), counts
    return took


async def _requested(client: httpx2.AsyncClient) -> float:
    """Seconds that the request of an array takes, none of whose sessions start."""
    later = {**_request(_COUNT), "start_at": "2999-01-01T00:00:00Z"}
    began = time.perf_counter()
    array = created(await client.post("/sessions", json=later))
    took = time.perf_counter() - began
    await client.delete(f"/sessions/{array}", params={"array": "true"})
    return took


def _request(count: int) -> dict[str, object]:
    return {
        "image": "tiny",
        "slots": SMALL,
        "kind": "batch",
        "command": _COMMAND,
        "array": {"first": 1, "last": count, "max_parallel": _CONCURRENCY},
    }
