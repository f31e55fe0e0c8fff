"""Carrel on a cluster of 1,000 nodes with 10,000 running pods, simulated by KWOK on a real API server and etcd.

The API server, the controllers of Kubernetes and the simulated nodes run beside Carrel on this machine and take most of
it. So the figures of Carrel are its own CPU time and memory, and the traffic and requests that the API server saw.
"""

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx2
import psutil
from sqlalchemy import text

from bench.control_plane import ControlPlane, control_plane, created, register_image
from bench.following import Follower, following
from bench.hollow_cluster import IMAGE, SLOTS, HollowCluster, hollow_cluster
from bench.idle import cpu_seconds, processes_of, pss_mib
from bench.load import median
from bench.table import Line
from carrel.core.ids import EngineId
from carrel.nodes.engines.connections import label_of


@dataclass(frozen=True, slots=True)
class Scale:
    """few: nodes and pods of the small cluster with which the large one is compared. at_once: starts."""

    nodes: int = 1000
    pods: int = 10_000
    few: tuple[int, int] = (10, 100)
    at_once: int = 500
    rounds: int = 3
    watch_s: float = 60.0


_SETTLE_S = 30.0
_USAGE = "get nodes/proxy"
_SESSIONS = text("""
    WITH nodes_ AS (
        SELECT id, row_number() OVER (ORDER BY substring(name FROM 8)::int) - 1 AS number
        FROM nodes WHERE name LIKE 'hollow-%'
    ), new AS (
        SELECT 'r' || n AS id, n, (SELECT id FROM nodes_ WHERE number = n % (SELECT count(*) FROM nodes_)) AS node
        FROM generate_series(CAST(:since AS int), CAST(:count AS int) - 1) n
    ), sessions_ AS (
        INSERT INTO sessions (id, name, kind, owner_id, project_id, domain_id, image, apps, slots, spec, state,
            warnings, attempts, restarts, created_at, started_at)
        SELECT new.id, new.id, 'interactive', u.id, p.id, p.domain_id, CAST(:image AS text), '[]',
            CAST(:slots AS jsonb), '{}', 'RUNNING', '[]', 0, 0, now(), now()
        FROM new, (SELECT id, domain_id FROM projects LIMIT 1) p, (SELECT id FROM users LIMIT 1) u
    ), containers_ AS (
        INSERT INTO containers (id, session_id, role, index, host, node_id, image, slots, state, started_at)
        SELECT id, id, 'main', 0, 'main1', node, CAST(:image AS text), CAST(:slots AS jsonb), 'RUNNING', now()
        FROM new
    )
    INSERT INTO allocations (session_id, container_id, node_id, slot, amount, created_at)
    SELECT new.id, new.id, node, x.key, x.value::bigint, now()
    FROM new, jsonb_each_text(CAST(:slots AS jsonb)) x
""")


@dataclass(frozen=True, slots=True)
class Rest:
    """What Carrel costs while nothing happens. cpu: percent of a core. requests: in a second, by verb and resource."""

    cpu: float
    mib: float
    bytes_per_s: float
    requests: dict[str, float]


async def measure() -> list[Line]:
    return await measured(Scale())


async def measured(scale: Scale) -> list[Line]:
    async with hollow_cluster() as cluster, control_plane() as own, own.client() as client:
        site = await _connected(cluster, own)
        # 1. at rest, with a few and with all
        few = await site.grown(*scale.few, scale)
        many = await site.grown(scale.nodes, scale.pods, scale)
        # 2. starts, by turns with pods by the API alone
        alone: list[tuple[float, float]] = []
        together: list[tuple[float, float]] = []
        async with following(own) as follower:
            for number in range(scale.rounds):
                for count, results in ((1, alone), (scale.at_once, together)):
                    ours = await site.start(client, follower, count)
                    bare = await cluster.start_pods([f"bare-{number}-{one}" for one in range(count)])
                    await cluster.end_pods()
                    results.append((ours, bare))
            # 3. the loss of a node
            loss_s = await site.loss("hollow-1")
    return [
        *_rest_lines(scale, few, many),
        _start_line("one start", alone, 1, goal=1.1),
        _start_line(f"{scale.at_once} starts at once", together, scale.at_once, goal=0.9),
        Line("node lost to node DOWN", f"{loss_s:.1f} s", "from its condition in the cluster", value=loss_s),
    ]


def _rest_lines(scale: Scale, few: Rest, many: Rest) -> list[Line]:
    size = f"{scale.nodes:,} nodes, {scale.pods:,} pods, all idle"
    against = f"{size}; against {scale.few[0]} and {scale.few[1]}"
    return [
        Line(
            "controllers at rest, CPU",
            f"{many.cpu:.1f} %",
            f"of one core, with PostgreSQL; {size}",
            value=many.cpu,
        ),
        Line(
            "controllers at rest, memory",
            f"{many.mib:.0f} MiB",
            f"the process of the API; {size}",
            value=many.mib,
        ),
        _rate_line("requests at rest, without usage", few, many, against, usage=False),
        _rate_line("requests at rest for usage", few, many, against, usage=True),
        Line(
            "traffic at rest",
            f"{many.bytes_per_s / 1024:.1f} KiB/s",
            f"with usage; {against}",
            ratio=many.bytes_per_s / few.bytes_per_s,
            floor=f"{few.bytes_per_s / 1024:.1f} KiB/s",
        ),
    ]


def _rate_line(name: str, few: Rest, many: Rest, against: str, *, usage: bool) -> Line:
    """Only nodes with running sessions have usage, and only so many of them are read at a time."""
    rates = [
        {kind: rate for kind, rate in one.requests.items() if (kind == _USAGE) is usage}
        for one in (many, few)
    ]
    kinds = ", ".join(f"{kind} {rate:.2f}" for kind, rate in sorted(rates[0].items()))
    ours, floor = (sum(one.values()) for one in rates)
    return Line(
        name,
        f"{ours:.2f}/s",
        f"{against}: {kinds}",
        ratio=ours / floor if floor else None,
        floor=f"{floor:.2f}/s",
        goal=None if usage else 1.1,
    )


def _start_line(name: str, results: list[tuple[float, float]], count: int, *, goal: float) -> Line:
    ours, bare = (median([each[side] for each in results]) for side in (0, 1))
    many = count > 1
    figures = [f"{count / took:.1f}/s" if many else f"{took * 1000:.0f} ms" for took in (ours, bare)]
    return Line(
        name,
        figures[0],
        f"{len(results)} by turns; against the same pods by the API alone; load {os.getloadavg()[0]:.0f}",
        ratio=bare / ours if many else ours / bare,
        floor=figures[1],
        goal=goal,
        best="high" if many else "low",
    )


@dataclass(slots=True)
class Site:
    """An installation with a cluster."""

    cluster: HollowCluster
    own: ControlPlane
    label: str
    sessions: int = 0

    async def grown(self, nodes: int, pods: int, scale: Scale) -> Rest:
        """Idle, with so many nodes and sessions."""
        await self.cluster.add_nodes(nodes)
        await self._until("SELECT count(*) FROM nodes WHERE name LIKE 'hollow-%' AND state = 'READY'", nodes)
        # Pods without sessions would be removed, and sessions without pods ended.
        with _stopped(processes_of(self.own)["api"]):
            await self.cluster.add_pods(self.label, pods)
            async with self.own.database.transaction() as tx:
                about = {"since": self.sessions, "count": pods, "image": IMAGE, "slots": json.dumps(SLOTS)}
                await tx.execute(_SESSIONS, about)
        self.sessions = pods
        await self._until("SELECT count(*) FROM containers WHERE address IS NOT NULL", pods)
        await asyncio.sleep(_SETTLE_S + pods / 50)
        return await self.rest(scale.watch_s)

    async def rest(self, watch_s: float) -> Rest:
        processes = processes_of(self.own)
        counted = [*processes["api"], *processes["PostgreSQL"]]
        audited, traffic, cpu_s = self.cluster.audited, self.cluster.traffic(), cpu_seconds(counted)
        began = time.perf_counter()
        await asyncio.sleep(watch_s)
        took = time.perf_counter() - began
        requests = Counter(self.cluster.requests(audited))
        return Rest(
            cpu=(cpu_seconds(counted) - cpu_s) / took * 100,
            mib=sum(map(pss_mib, processes["api"])),
            bytes_per_s=(self.cluster.traffic() - traffic) / took,
            requests={kind: count / took for kind, count in requests.items()},
        )

    async def start(self, client: httpx2.AsyncClient, follower: Follower, count: int) -> float:
        """Seconds from the requests until all of them run."""
        began = time.perf_counter()
        body = {"image": "hollow", "slots": SLOTS}
        answers = await asyncio.gather(*(client.post("/sessions", json=body) for _ in range(count)))
        made = [created(answer) for answer in answers]
        took = max([await follower.reached(session, "RUNNING") for session in made]) - began
        for session in made:
            await client.delete(f"/sessions/{session}", params={"force": "true"})
        for session in made:
            await follower.reached(session, "TERMINATED")
        return took

    async def loss(self, node: str) -> float:
        """Seconds until a node that is not ready is DOWN."""
        await self.cluster.lose(node)
        began = time.perf_counter()
        await self._until("SELECT count(*) FROM nodes WHERE name LIKE 'hollow-%' AND state = 'DOWN'", 1, 0.05)
        return time.perf_counter() - began

    async def _until(self, query: str, count: int, every_s: float = 1.0) -> None:
        while True:
            async with self.own.database.transaction() as tx:
                if (await tx.execute(text(query))).scalar_one() >= count:
                    return
            await asyncio.sleep(every_s)


async def _connected(cluster: HollowCluster, own: ControlPlane) -> Site:
    """An installation with the cluster as its only engine that takes sessions."""
    async with own.client() as client:
        body = {"name": "hollow", "kind": "kubernetes", "settings": cluster.settings()}
        engine = EngineId(created(await client.post("/engines", json=body)))
    async with own.database.transaction() as tx:
        await tx.execute(text("UPDATE nodes SET cordoned = true"))
        await register_image(tx, "hollow", IMAGE, SLOTS)
    return Site(cluster, own, label_of(own.settings.installation, engine))


@contextmanager
def _stopped(processes: list[psutil.Process]) -> Iterator[None]:
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()
