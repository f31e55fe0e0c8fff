"""From kill -9 of the API, of the gateway and of PostgreSQL to the first successful response, against a bare process
start.

The floor starts Python with the same libraries but without Carrel, and serves one request.
"""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from tempfile import gettempdir

import httpx2
import psutil

from bench.control_plane import ControlPlane, control_plane, free_ports
from bench.load import median
from bench.table import Line

_ROUNDS = 5
_COMPILED = Path(gettempdir()) / "carrel-bench-compiled"
_FLOOR = """
import sys, aiohttp, aiodocker, asyncio, cryptography, fastapi, psycopg, pydantic_settings, sqlalchemy.ext.asyncio
import structlog, uvicorn, uvloop
from numpy import linalg
app = fastapi.FastAPI()
app.get("/health")(lambda: {})
uvicorn.run(app, port=int(sys.argv[1]), log_config=None)
"""


async def measure() -> list[Line]:
    took: dict[str, list[float]] = {"API": [], "gateway": [], "PostgreSQL": []}
    floor: list[float] = []
    async with control_plane() as own:
        for _ in range(_ROUNDS):
            for name, path in (
                ("API", f"{own.url}/api/v1/sessions"),
                ("gateway", f"{own.gateway_url}/.carrel/health"),
                ("PostgreSQL", f"{own.url}/api/v1/sessions"),
            ):
                killed = _process(own, name)
                started = time.perf_counter()
                killed.send_signal(signal.SIGKILL)
                await _good(own, path, killed)
                took[name].append(time.perf_counter() - started)
            floor.append(await _floor())
    return [
        Line(
            f"{name} killed: first good answer",
            f"{median(values):.2f} s",
            f"{_ROUNDS} by turns",
            ratio=median(values) / median(floor),
            floor=f"{median(floor):.2f} s",
            goal=1,
        )
        for name, values in took.items()
    ]


def _process(own: ControlPlane, name: str) -> psutil.Process:
    if name == "PostgreSQL":
        return psutil.Process(int((own.data_dir / "postgres/data/postmaster.pid").read_text().split()[0]))
    role = "gateway" if name == "gateway" else "api,controllers"
    children = psutil.Process(own.supervisor).children()
    return next(child for child in children if f"role {role}" in " ".join(child.cmdline()))


async def _good(own: ControlPlane, url: str, killed: psutil.Process) -> None:
    """Poll until the killed process is gone and its replacement responds successfully."""
    async with own.client() as client:
        while True:
            if _gone(killed):
                try:
                    if (await client.get(url)).is_success:
                        return
                except httpx2.TransportError:
                    pass
            await asyncio.sleep(0.01)


def _gone(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def _floor() -> float:
    port = free_ports()
    started = time.perf_counter()
    # The supervisor caches compiled modules for Carrel; the first round does the same for this one.
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _FLOOR,
        str(port),
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(_COMPILED)},
    )
    try:
        async with httpx2.AsyncClient() as client:
            while True:
                try:
                    if (await client.get(f"http://127.0.0.1:{port}/health")).is_success:
                        return time.perf_counter() - started
                except httpx2.TransportError:
                    await asyncio.sleep(0.01)
    finally:
        process.kill()
        await process.wait()
