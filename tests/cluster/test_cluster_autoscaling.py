"""Elastic groups: the cluster chooses the nodes, and the test adds machines as an autoscaler does, by a label."""

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import cluster_images
import pytest
from cluster_node import Node
from installation import only
from own_cluster import Cluster
from people import People, eventually
from service_accounts import NAMESPACE, by_token
from session_kit import spec
from sqlalchemy import text

from carrel.controllers.launch import Launch
from carrel.controllers.log_collection import LogCollection
from carrel.controllers.loop import Controller, Tools
from carrel.controllers.observe import Observe
from carrel.controllers.reap import Reap
from carrel.controllers.schedule import Schedule
from carrel.core.clock import SystemClock
from carrel.core.errors import Unavailable
from carrel.core.ids import LOCAL_ENGINE, SessionId
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.db.leader import Leader, lead
from carrel.engines.kubernetes import KubernetesEngine
from carrel.engines.port import EngineError
from carrel.folders.hosts.storages import Storages
from carrel.nodes.groups import administration
from carrel.nodes.groups.schemas import ElasticGroup, GroupCreate, GroupUpdate
from carrel.permissions.decide import Actor
from carrel.queue import service as queue
from carrel.sessions import service
from carrel.sessions.logs.store import LogStore
from carrel.tables.session_states import LIFECYCLE, SessionState

SLOTS = {"cpu": 100, "mem": 64 << 20}
LIMIT = {"cpu": 200, "mem": 1 << 30}
_WITHIN_S, _EVERY_S = 180.0, 0.2


class Installation:
    """Control plane and administrator of an installation with an elastic group in the cluster."""

    def __init__(
        self, database: Database, actor: Actor, leader: Leader, engine: KubernetesEngine, logs: Path
    ):
        self.database = database
        self.engine = engine
        self._actor = actor
        self._clock = SystemClock()
        tools = Tools(
            database,
            only(database, engine),
            self._clock,
            leader,
            SecretBox(b"0" * 32),
            Storages(database),
            LogStore(logs),
        )
        launch, collection = Launch(tools), LogCollection(tools)
        self.controllers: tuple[Controller, ...] = (
            Observe(tools),
            Schedule(tools),
            launch,
            Reap(tools, launch, collection),
            collection,
        )

    async def step(self) -> None:
        """Step the controllers; what they start goes on beside."""
        for controller in self.controllers:
            with suppress(EngineError, Unavailable):
                await controller.step()

    async def create_group(self) -> None:
        elastic = ElasticGroup(engine=LOCAL_ENGINE, limit=LIMIT)
        request = GroupCreate(name="burst", node_selector="pool=burst", elastic=elastic)
        async with self.database.transaction() as tx:
            await administration.create(tx, self._clock, self._actor, request)

    async def change_group(self, **settings: Any) -> None:
        changes = GroupUpdate(elastic=ElasticGroup(engine=LOCAL_ENGINE, **settings))
        async with self.database.transaction() as tx:
            await administration.update_group(tx, self._clock, self._actor, "burst", changes)

    async def start(self) -> SessionId:
        image = cluster_images.tiny("work")
        request = spec(image=image, slots=SLOTS, group="burst")
        return await service.enqueue(self.database, self._clock, self._actor, request)

    async def end(self, session: SessionId) -> None:
        async with self.database.transaction() as tx:
            await service.remove(tx, self._clock, self._actor, session)
        await self.until(session, *LIFECYCLE.final)

    async def until(self, session: SessionId, *states: SessionState) -> None:
        async def reached() -> bool:
            await self.step()
            return (await self.row(session)).state in states

        await eventually(reached, within_s=_WITHIN_S, every_s=_EVERY_S)

    async def until_on(self, session: SessionId, machine: Node) -> None:
        async def is_recorded() -> bool:
            await self.step()
            return bool((await self.row(session)).node == machine.name)

        await eventually(is_recorded, within_s=_WITHIN_S, every_s=_EVERY_S)

    async def until_reason(self, session: SessionId, *parts: str) -> Any:
        """The session, once it has a reason with all these parts."""

        async def row() -> Any:
            await self.step()
            row = await self.row(session)
            return row if all(part in (row.reason or "") for part in parts) else None

        return await eventually(row, within_s=_WITHIN_S, every_s=_EVERY_S)

    async def row(self, session: SessionId) -> Any:
        query = text("""
            SELECT s.state, s.reason, n.name AS node,
                (SELECT count(*) FROM allocations a WHERE a.session_id = s.id AND a.released_at IS NULL) AS held
            FROM sessions s JOIN containers c ON c.session_id = s.id LEFT JOIN nodes n ON n.id = c.node_id
            WHERE s.id = :id""")
        async with self.database.transaction() as tx:
            return (await tx.execute(query, {"id": session})).one()

    async def why(self, session: SessionId) -> Any:
        async with self.database.transaction() as tx:
            return (await queue.why(tx, self._clock, self._actor, session))[1]

    async def pods(self, cluster: Cluster) -> Any:
        """What is left in the cluster."""
        return cluster.call("GET", f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector={self._selector}")[
            "items"
        ]

    @property
    def _selector(self) -> str:
        return f"carrel.installation={self.engine._names.installation}"


@pytest.fixture
async def installation(
    cluster: Cluster, database: Database, people: People, tmp_path: Path
) -> AsyncIterator[Installation]:
    leader = await lead(database.url)
    engine = KubernetesEngine(by_token(cluster), f"test-{uuid.uuid4().hex[:8]}", namespace=NAMESPACE)
    installation = Installation(database, people.superadmin, leader, engine, tmp_path)
    await installation.step()
    await installation.create_group()
    yield installation
    for controller in installation.controllers:
        await controller.close()
    await engine.purge()
    await engine.close()
    await leader.resign()


@pytest.fixture
def machine(cluster: Cluster) -> Iterator[Node]:
    """A node that is not of the group yet."""
    yield cluster.nodes[1]
    label(cluster, cluster.nodes[1], None)


def label(cluster: Cluster, node: Node, pool: str | None) -> None:
    cluster.call("PATCH", f"/api/v1/nodes/{node.name}", {"metadata": {"labels": {"pool": pool}}})


async def test_a_session_waits_for_a_machine_runs_on_it_and_leaves_nothing(
    cluster: Cluster, installation: Installation, machine: Node
) -> None:
    session = await installation.start()
    row = await installation.until_reason(session, "A machine is being added", "0/2 nodes are available")
    assert row.state == SessionState.PREPARING
    answer = await installation.why(session)
    assert answer.blockers[0].sentence == row.reason
    assert answer.expected_start is None
    label(cluster, machine, "burst")
    await installation.until(session, SessionState.RUNNING)
    await installation.until_on(session, machine)
    [pod] = await installation.pods(cluster)
    assert pod["spec"]["nodeName"] == machine.name
    assert pod["metadata"]["annotations"]["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false"
    assert pod["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"] == "true"
    assert await installation.why(session) is None
    await installation.end(session)
    assert await installation.pods(cluster) == []
    assert (await installation.row(session)).held == 0
    # The next one knows how long a machine takes.
    label(cluster, machine, None)
    later = await installation.start()
    await installation.until_reason(later, "A machine is being added; that took", "the last time")
    assert (await installation.why(later)).expected_start is not None
    await installation.end(later)
    assert await installation.pods(cluster) == []


async def test_a_session_that_gets_no_machine_in_time_returns_to_the_queue_with_the_reason(
    cluster: Cluster, installation: Installation
) -> None:
    await installation.change_group(limit=LIMIT, wait_s=1)
    session = await installation.start()
    row = await installation.until_reason(
        session, "No machine was added within 1 s.", "didn't match Pod's node"
    )
    assert (row.state, row.held) == (SessionState.PENDING, 0)
    assert await installation.pods(cluster) == []


async def test_a_session_beyond_the_limit_of_the_group_stays_in_the_queue(
    cluster: Cluster, installation: Installation, machine: Node
) -> None:
    label(cluster, machine, "burst")
    running = [await installation.start() for _ in range(2)]
    for one in running:
        await installation.until(one, SessionState.RUNNING)
    beyond = await installation.start()
    await installation.until_reason(beyond, "The limit of its elastic group is reached: it needs 0.1 CPU")
    assert len(await installation.pods(cluster)) == 2
    await installation.end(running[0])
    await installation.until(beyond, SessionState.RUNNING)
