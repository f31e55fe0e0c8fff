"""Latency from a commit to its event on the page: the received frame of server-sent events."""

import time

import psycopg
from sqlalchemy import text

from bench.control_plane import control_plane
from bench.following import following
from bench.load import median
from bench.table import Line

_COUNT = 200
_WRITE = """INSERT INTO events (kind, object_kind, object_id, owner_id, project_id, domain_id, data)
    VALUES ('session.updated', 'session', %s, %s, 'p', 'd', '{"state": "RUNNING"}')"""


async def measure() -> list[Line]:
    took: list[float] = []
    async with control_plane(controllers=False) as own, following(own) as follower:
        async with own.database.transaction() as tx:
            owner = (await tx.execute(text("SELECT id FROM users"))).scalar_one()
        async with await psycopg.AsyncConnection.connect(own.database.url) as connection:
            for number in range(_COUNT):
                await connection.execute(_WRITE, (str(number), owner))
                await connection.execute("SELECT pg_notify('carrel', 'events')")
                await connection.commit()
                committed = time.perf_counter()
                took.append(await follower.saw(str(number)) - committed)
    worst = sorted(took)[int(_COUNT * 0.99)] * 1000
    conditions = f"{_COUNT} commits, one after the other"
    return [
        Line(
            "commit to event on the page, p50",
            f"{median(took) * 1000:.1f} ms",
            conditions,
            goal=100,
            value=median(took) * 1000,
        ),
        Line("commit to event on the page, p99", f"{worst:.1f} ms", conditions, goal=100, value=worst),
    ]
