"""Frames per second of the page with a list of 10,000 sessions and 50 updates per second, against the page at rest."""

import asyncio
import itertools

import orjson
import psycopg
from playwright.async_api import Page

from bench.control_plane import EMAIL, ControlPlane, control_plane
from bench.load import median
from bench.page import signed_in
from bench.stored_sessions import store
from bench.table import Line

_ROWS = 10_000
_UPDATES_PER_S = 50
_ROUNDS = 5
_SECONDS = 4
_WRITE = """INSERT INTO events (kind, object_kind, object_id, owner_id, project_id, domain_id, data)
    SELECT 'session.updated', 'session', id, owner_id, project_id, domain_id, %s::jsonb || jsonb_build_object('id', id)
    FROM sessions ORDER BY created_at DESC OFFSET %s LIMIT 1"""
# React reports each commit to the hook of its development tools, also in a production build.
_COUNT_COMMITS = """
    window.commits = 0
    window.__REACT_DEVTOOLS_GLOBAL_HOOK__ = {
        supportsFiber: true, inject: () => 1, onCommitFiberUnmount() {}, onPostCommitFiberRoot() {},
        onCommitFiberRoot() { window.commits += 1 },
    }
"""
_LOAD_ALL = """async (rows) => {
    const table = document.querySelector("table[aria-rowcount]")
    while (Number(table.getAttribute("aria-rowcount")) <= rows) {
        table.parentElement.scrollTop = table.parentElement.scrollHeight
        await new Promise(requestAnimationFrame)
    }
    table.parentElement.scrollTop = 0
}"""
FRAMES = """(ms) => new Promise((resolve) => {
    const from = performance.now(), commits = window.commits
    let frames = 0, last = from, longest = 0
    const frame = (now) => {
        frames += 1
        longest = Math.max(longest, now - last)
        last = now
        if (now - from < ms) requestAnimationFrame(frame)
        else resolve([frames * 1000 / (now - from), longest, (window.commits - commits) * 1000 / (now - from)])
    }
    requestAnimationFrame(frame)
})"""


async def measure() -> list[Line]:
    rest: list[list[float]] = []
    live: list[list[float]] = []
    async with control_plane(controllers=False) as own:
        await store(own, 1, _ROWS, state="RUNNING")
        async with signed_in(
            f"{own.url}/sessions?state=all", EMAIL, own.password, script=_COUNT_COMMITS
        ) as page:
            await page.locator("table[aria-rowcount] tbody tr").nth(5).wait_for()
            await page.evaluate(_LOAD_ALL, _ROWS)
            for _ in range(_ROUNDS):
                rest.append(await _frames(page))
                writing = asyncio.create_task(_update(own))
                live.append(await _frames(page))
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)
    still, fps = (median([frames for frames, _, _ in each]) for each in (rest, live))
    conditions = (
        f"{_ROWS:,} rows loaded, half of the updates to visible ones; {_ROUNDS} by turns of {_SECONDS} s"
    )
    return [
        Line(
            f"session list, frames at {_UPDATES_PER_S} updates/s",
            f"{fps:.0f}/s",
            conditions,
            ratio=fps / still,
            floor=f"at rest {still:.0f}/s",
            goal=0.95,
            best="high",
        ),
        Line(
            "session list, longest frame",
            f"{median([longest for _, longest, _ in live]):.0f} ms",
            f"at rest {median([longest for _, longest, _ in rest]):.0f} ms",
            goal=50,
            value=median([longest for _, longest, _ in live]),
        ),
        Line(
            "session list, renders",
            f"{median([commits for _, _, commits in live]):.0f}/s",
            "React commits, of which each may contain several updates",
            goal=_UPDATES_PER_S + 5,
            value=median([commits for _, _, commits in live]),
        ),
    ]


async def _frames(page: Page) -> list[float]:
    """Frames per second, longest frame in ms, React commits per second."""
    return list(await page.evaluate(FRAMES, _SECONDS * 1000))


async def _update(own: ControlPlane) -> None:
    """Change the priority of sessions, by turns a visible one and any other."""
    async with await psycopg.AsyncConnection.connect(own.database.url, autocommit=True) as connection:
        for number in itertools.count():
            offset = number % 20 if number % 2 else number * 37 % _ROWS
            await connection.execute(_WRITE, (orjson.dumps({"priority": number % 100}).decode(), offset))
            await connection.execute("SELECT pg_notify('carrel', 'events')")
            await asyncio.sleep(1 / _UPDATES_PER_S)
