"""1 GB of output of one session, printed as fast as the engine takes it: what it costs the control plane, disk,
database and another session's log; and the frames of the page that shows 10,000 lines a second.
"""

import asyncio
import time
from pathlib import Path

import aiodocker
import orjson
import psutil
from sqlalchemy import text
from tiny_image import docker_url

from bench.control_plane import EMAIL, ControlPlane, control_plane
from bench.following import following
from bench.idle import processes_of, pss_mib
from bench.load import median
from bench.page import signed_in
from bench.page_list import FRAMES
from bench.session_logs import LoggedSession, run_in
from bench.table import Line

_SLOTS = {"cpu": 1000, "mem": 64 << 20}
_TEXT = "a line of output of usual length, of a training that tells its loss at each step"
_LINES = (1 << 30) // (len(_TEXT) + 1)
_FLOOD = f"yes '{_TEXT}' | head -n {_LINES} >/proc/1/fd/1"
_PER_S, _SECONDS = 10_000, 8
_BURST = f"yes 'a line of the output of a training' | head -n {_PER_S // 20}; sleep 0.045"
_PACED = f"i=0; while [ $i -lt {_SECONDS * 20} ]; do {_BURST}; i=$((i+1)); done >/proc/1/fd/1"
_KEPT_MIB = 64
"""`log_bytes` of the default policy."""


async def measure() -> list[Line]:
    async with (
        control_plane() as own,
        own.client() as client,
        following(own) as follower,
        aiodocker.Docker(url=docker_url()) as docker,
    ):
        sessions = []
        for _ in range(2):
            made = (await client.post("/sessions", json={"image": "tiny", "slots": _SLOTS})).json()
            await follower.reached(made["id"], "RUNNING")
            shown = (await client.get(f"/sessions/{made['id']}")).json()
            sessions.append(LoggedSession(own, docker, made["id"], shown["containers"][0]["id"]))
        loud, other = sessions
        frames, longest = await _page(own, loud, docker)
        before_mib, database_before = _memory(own), await _database_bytes(own)
        peak_mib, added = before_mib, list[float]()

        async def watch() -> None:
            nonlocal peak_mib
            while True:
                peak_mib = max(peak_mib, await asyncio.to_thread(_memory, own))
                await asyncio.sleep(0.5)

        watching = asyncio.create_task(watch())
        began = time.perf_counter()
        flood = asyncio.create_task(run_in(docker, loud.daemon_name, _FLOOD))
        while not flood.done():
            added += await other.added_ms()
        took = time.perf_counter() - began
        await asyncio.sleep(5)
        watching.cancel()
        notices, stored_lines = await _stored(own, loud)
        stored_mib = _stored_mib(own, loud)
        grown_mib = (await _database_bytes(own) - database_before) / (1 << 20)
    return [
        Line(
            "log flood: memory",
            f"{peak_mib:.0f} MiB",
            f"PSS of all processes at most, while a session prints 1 GiB in {took:.0f} s; before: {before_mib:.0f} MiB",
            value=peak_mib - before_mib,
            goal=100,
        ),
        Line(
            "log flood: stored",
            f"{stored_mib:.1f} MiB",
            f"{stored_lines:,} of {_LINES:,} lines, {notices} notices of missing or dropped ones",
            value=stored_mib,
            goal=_KEPT_MIB * 1.02,
        ),
        Line("log flood: database", f"{grown_mib:.1f} MiB", "growth meanwhile", value=grown_mib, goal=8),
        Line(
            "log flood: other session's log",
            f"{median(added):.1f} ms (worst {max(added):.0f})",
            "following adds, to the same line by the engine's API",
            value=median(added),
            goal=50,
        ),
        Line(
            "log page: longest frame",
            f"{longest:.0f} ms",
            f"{_PER_S:,} lines a second in a headless browser, {frames:.0f} frames a second",
            value=longest,
            goal=100,
        ),
    ]


async def _page(own: ControlPlane, session: LoggedSession, docker: aiodocker.Docker) -> tuple[float, float]:
    """Frames per second, and the longest in ms, while the page shows the log."""
    address = f"{own.url}/sessions?state=all&session={session.id}&tab=logs"
    async with signed_in(address, EMAIL, own.password, script="window.commits = 0") as page:
        await page.get_by_role("tab", name="Logs").wait_for()
        printing = asyncio.create_task(run_in(docker, session.daemon_name, _PACED))
        await asyncio.sleep(1)
        frames, longest, _ = await page.evaluate(FRAMES, (_SECONDS - 2) * 1000)
        await printing
    return float(frames), float(longest)


def _memory(own: ControlPlane) -> float:
    total = 0.0
    for processes in processes_of(own).values():
        for process in processes:
            try:
                total += pss_mib(process)
            except (FileNotFoundError, ProcessLookupError, psutil.NoSuchProcess):
                continue
    return total


async def _database_bytes(own: ControlPlane) -> int:
    async with own.database.transaction() as tx:
        return int((await tx.execute(text("SELECT pg_database_size(current_database())"))).scalar_one())


def _files(own: ControlPlane, session: LoggedSession) -> list[Path]:
    return list(own.data_dir.glob(f"session-logs/*/{session.container}.*"))


def _stored_mib(own: ControlPlane, session: LoggedSession) -> float:
    return sum(file.stat().st_size for file in _files(own, session)) / (1 << 20)


async def _stored(own: ControlPlane, session: LoggedSession) -> tuple[int, int]:
    """The numbers of notices and of lines that can be read."""
    notices = lines = 0
    async with (
        own.client() as client,
        client.stream("GET", f"/sessions/{session.id}/logs", params={"format": "json"}) as answer,
    ):
        async for line in answer.aiter_lines():
            lines += 1
            if '"stream":"carrel"' in line[:80]:
                notices += orjson.loads(line)["stream"] == "carrel"
    return notices, lines - notices
