"""An installation in this process on real engines: its controllers are stepped by hand, and its clock is set forward.

installation = await Installation.start(url, engines, actor)
session = await installation.create()
await installation.until(session, S.RUNNING)
await installation.rests()
"""

import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import cluster_images
import psycopg
from own_cluster import Cluster
from people import eventually
from service_accounts import NAMESPACE
from session_kit import SMALL, spec
from simulation import invariants
from simulation.control_planes import ControlPlane

from carrel.controllers import runtime
from carrel.controllers.loop import Tools
from carrel.core.clock import SystemClock
from carrel.core.errors import Unavailable
from carrel.core.ids import ContainerId, EngineId, SessionId
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.db.leader import Leader, lead
from carrel.engines.kubernetes import KubernetesEngine
from carrel.engines.port import Engine, EngineError
from carrel.folders.hosts.storages import Storages
from carrel.nodes import administration
from carrel.nodes.engines.connections import Engines
from carrel.nodes.schemas import DrainRequest, NodeUpdate
from carrel.permissions.decide import Actor
from carrel.sessions import service
from carrel.sessions.logs.store import LogStore
from carrel.tables.nodes import Draining
from carrel.tables.session_states import SessionState

_WITHIN_S = 90.0
_PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"


class MovedClock:
    """The time, set forward."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return SystemClock().now() + self.ahead


class Installation:
    """engines: by the id of their row; those beside the local one are added."""

    def __init__(self, url: str, leader: Leader, engines: Mapping[EngineId, Engine], actor: Actor) -> None:
        self.clock = MovedClock()
        self.database = Database(url)
        self.engines = engines
        self.actor = actor
        self.rounds = 0
        self.look = psycopg.connect(url, autocommit=True)
        self._leader = leader
        self._folder = tempfile.TemporaryDirectory(prefix="carrel-logs-")
        tools = Tools(
            self.database,
            Engines(self.database, lambda row: engines[row.id]),
            self.clock,
            leader,
            SecretBox(b"0" * 32),
            Storages(self.database),
            LogStore(Path(self._folder.name)),
        )
        self._controllers = [
            one for one in runtime.controllers(tools) if not isinstance(one, ControlPlane.left_out)
        ]

    @classmethod
    async def start(cls, url: str, engines: Mapping[EngineId, Engine], actor: Actor) -> "Installation":
        installation = cls(url, await lead(url), engines, actor)
        for name in engines:
            installation.look.execute(
                "INSERT INTO engines (id, name, kind) VALUES (%s, %s, 'fake') ON CONFLICT DO NOTHING",
                (name, name),
            )
        return installation

    async def close(self) -> None:
        for controller in self._controllers:
            await controller.close()
        await self._leader.resign()
        await self.database.close()
        self.look.close()
        self._folder.cleanup()

    def set_group(self, **columns: object) -> None:
        """Set columns of the resource groups."""
        changes = ", ".join(f"{column} = %({column})s" for column in columns)
        self.look.execute(f"UPDATE resource_groups SET {changes}", columns)

    async def create(
        self,
        node: str | None = None,
        *,
        image: str = "",
        cpu: int = 100,
        mem: int = SMALL["mem"],
        accelerators: Mapping[str, int] | None = None,
        **more: object,
    ) -> SessionId:
        slots = {"cpu": cpu, "mem": mem, **(accelerators or {})}
        request = spec(image=image or cluster_images.tiny("work"), slots=slots, node=node, **more)
        return await service.enqueue(self.database, self.clock, self.actor, request)

    async def running(self, *nodes: str) -> Sequence[SessionId]:
        """Sessions that run on these nodes, and may move to others."""
        made = []
        for node in nodes:
            self.look.execute("UPDATE nodes SET cordoned = name <> %s", (node,))
            made.append(await self.create())
            await self.round()
        self.look.execute("UPDATE nodes SET cordoned = false")
        for session in made:
            await self.until(session, SessionState.RUNNING)
        assert [self.node_of(session) for session in made] == list(nodes)
        return made

    async def remove(self, session: SessionId) -> None:
        async with self.database.transaction() as tx:
            await service.remove(tx, self.clock, self.actor, session)

    async def drain(self, node: str) -> None:
        """Move its sessions to other nodes, until it is opened."""
        async with self.database.transaction() as tx:
            await administration.drain(tx, self.actor, node, DrainRequest(how=Draining.MOVE))

    async def open(self, node: str) -> None:
        """End its drain."""
        async with self.database.transaction() as tx:
            await administration.update(tx, self.actor, node, NodeUpdate(cordoned=False))

    async def round(self) -> None:
        """Step every controller once; what they start goes on beside."""
        self.rounds += 1
        for controller in self._controllers:
            with suppress(EngineError, Unavailable):
                await controller.step()

    async def pass_time(self, seconds: float, *, rounds: int = 4) -> None:
        """Set the clock forward in steps."""
        for _ in range(rounds):
            self.clock.ahead += timedelta(seconds=seconds / rounds)
            await self.round()

    async def until(self, session: SessionId, *states: SessionState) -> None:
        await self._becomes(session, lambda: self.state(session) in states)

    async def until_cause(self, session: SessionId, cause: str, *, step_s: float = 0) -> None:
        """Until its history has this cause. step_s: time that passes in each round."""
        await self._becomes(session, lambda: cause in self.causes(session), step_s)

    async def _becomes(self, session: SessionId, claim: Callable[[], bool], step_s: float = 0) -> None:
        async def holds() -> bool:
            await self.pass_time(step_s, rounds=1)
            return claim()

        try:
            await eventually(holds, within_s=_WITHIN_S, every_s=0.1)
        except AssertionError as error:
            seen = self.state(session), self.reason(session), self.causes(session), self.warnings(session)
            raise AssertionError(seen) from error

    async def rests(self) -> None:
        """Wait until nothing is under way, and nothing is stuck, lost, doubled or held."""
        violations: list[str] = []

        async def at_rest() -> bool:
            await self.round()
            seen = [one for engine in self.engines.values() for one in await engine.list()]
            violations[:] = invariants.at_rest(self.look, seen, self.clock.now())
            return not violations and not self._moving()

        try:
            await eventually(at_rest, within_s=_WITHIN_S, every_s=0.1)
        except AssertionError as error:
            raise AssertionError(violations or self._moving()) from error

    def state(self, session: SessionId) -> SessionState:
        return SessionState(self._of(session, "state"))

    def reason(self, session: SessionId) -> str:
        return self._of(session, "coalesce(reason, '')")

    def warnings(self, session: SessionId) -> Collection[str]:
        [[warnings]] = self.look.execute("SELECT warnings FROM sessions WHERE id = %s", (session,)).fetchall()
        return list(warnings)

    def node_of(self, session: SessionId) -> str:
        rows = self.look.execute(
            "SELECT n.name FROM containers c JOIN nodes n ON n.id = c.node_id WHERE c.session_id = %s",
            (session,),
        ).fetchall()
        return ", ".join(name for (name,) in rows)

    def nodes_of(self, session: SessionId) -> dict[str, str]:
        """The node of each of its containers, by host name."""
        return dict(
            self.look.execute(
                "SELECT c.host, n.name FROM containers c JOIN nodes n ON n.id = c.node_id"
                " WHERE c.session_id = %s ORDER BY c.index",
                (session,),
            ).fetchall()
        )

    def containers_of(self, session: SessionId) -> dict[str, str]:
        """Their ids by host name."""
        rows = self.look.execute("SELECT host, id FROM containers WHERE session_id = %s", (session,))
        return dict(rows.fetchall())

    def main_of(self, session: SessionId) -> ContainerId:
        rows = self.look.execute("SELECT id FROM containers WHERE session_id = %s", (session,)).fetchall()
        return ContainerId(rows[0][0])

    def causes(self, session: SessionId) -> list[str]:
        """What its history says, in order."""
        rows = self.look.execute(
            "SELECT cause FROM session_history WHERE session_id = %s ORDER BY id", (session,)
        ).fetchall()
        return [cause for (cause,) in rows]

    def times(self, session: SessionId) -> Sequence[datetime]:
        """When it was created, has started and has ended."""
        columns = "created_at, started_at, ended_at"
        rows = self.look.execute(f"SELECT {columns} FROM sessions WHERE id = %s", (session,)).fetchall()
        return list(rows[0])

    def why(self, session: SessionId, cause: str) -> str:
        """The reason that its history gives with this cause."""
        rows = self.look.execute(
            "SELECT reason FROM session_history WHERE session_id = %s AND cause = %s", (session, cause)
        ).fetchall()
        assert rows, self.causes(session)
        return str(rows[-1][0])

    def _of(self, session: SessionId, column: str) -> str:
        rows = self.look.execute(f"SELECT {column} FROM sessions WHERE id = %s", (session,)).fetchall()
        return str(rows[0][0])

    def _moving(self) -> list[str]:
        """Sessions that are between two states."""
        states = ["SCHEDULED", "PREPARING", "STARTING", "TERMINATING"]
        rows = self.look.execute("SELECT id, state, reason FROM sessions WHERE state = ANY(%s)", (states,))
        return [str(row) for row in rows.fetchall()]


class Pods:
    """The pods of an engine, as the cluster's administrator has them."""

    def __init__(self, cluster: Cluster, engine: KubernetesEngine) -> None:
        self._cluster = cluster
        self._name = engine._names.pod
        self._selector = f"labelSelector=carrel.installation%3D{engine._names.installation}"

    def of(self, container: str) -> str:
        return f"{_PODS}/{self._name(container)}"

    def evict(self, container: str) -> None:
        """As `kubectl drain` does."""
        metadata = {"name": self._name(container)}
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        self._cluster.call("POST", f"{self.of(container)}/eviction", eviction)

    def all(self) -> Sequence[Any]:
        """As the API server has them."""
        pods: Sequence[Any] = self._cluster.call("GET", f"{_PODS}?{self._selector}")["items"]
        return pods

    def nodes(self) -> list[str]:
        """The node of each pod."""
        return sorted(pod["spec"].get("nodeName", "") for pod in self.all())
