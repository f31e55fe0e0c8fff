"""Duration of `carrel session ls`, against a Python process that does nothing."""

import asyncio
import os
import sys
import time
from pathlib import Path

from bench.control_plane import control_plane
from bench.load import median
from bench.table import Line

_ROUNDS = 21


async def measure() -> list[Line]:
    ours: list[float] = []
    bare: list[float] = []
    carrel = str(Path(sys.executable).parent / "carrel")
    async with control_plane(controllers=False) as own:
        environment = {
            **os.environ,
            "CARREL_URL": own.url,
            "CARREL_ACCESS_KEY": own.auth[0],
            "CARREL_SECRET_KEY": own.auth[1],
        }
        for turn in range(_ROUNDS + 1):
            one = await _seconds(carrel, "session", "ls", environment=environment)
            other = await _seconds(sys.executable, "-c", "pass", environment=environment)
            if turn:
                ours.append(one)
                bare.append(other)
    return [
        Line(
            "carrel session ls",
            f"{median(ours) * 1000:.0f} ms",
            f"{_ROUNDS} by turns; floor: python3 -c pass",
            ratio=median(ours) / median(bare),
            floor=f"{median(bare) * 1000:.0f} ms",
            goal=5,
        )
    ]


async def _seconds(*command: str, environment: dict[str, str]) -> float:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, stdout=asyncio.subprocess.DEVNULL, stdin=asyncio.subprocess.DEVNULL
    )
    assert await process.wait() == 0, command
    return time.perf_counter() - began
