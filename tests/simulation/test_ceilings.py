"""Ceilings hold at every commit, whoever asks at once and whenever the control plane is struck down.

Twenty people in five projects of two domains ask for many sessions at once, and end them when they please,
through a server of their own. Meanwhile one control plane after the other is killed, or put to sleep and woken late.
What is held is added up here, from the rows, after every single commit of anybody.
"""

import asyncio
import os
import random
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg
import pytest
from session_kit import SMALL, spec
from simulation.control_planes import Fate
from simulation.installation_life import Installation
from simulation.virtual_time import LoopClock, simulate

from carrel.core.clock import SystemClock
from carrel.core.ids import DomainId, PolicyId, ProjectId, SessionId, new_id
from carrel.db.database import Database
from carrel.engines.fake import FakeWorld
from carrel.engines.port import NodeInfo
from carrel.permissions.actions import Role
from carrel.permissions.decide import Actor
from carrel.sessions import service
from carrel.sessions.spec import SessionSpec
from carrel.signin.keypairs import service as keypairs
from carrel.tables.limits import PolicyKind, ResourcePolicy
from carrel.tables.tenancy import Domain, Project
from carrel.tenancy import service as tenancy

SESSIONS = 120
SIZES = (250, 250, 500, 1000, 1500)
STROKES = 12
PROJECTS = {"physics": ("optics", "plasma", "quanta"), "biology": ("cells", "genes")}
PEOPLE_EACH = 4
# Each is less than what the next larger ones leave, so that every kind of them gets in the way of somebody.
CEILINGS = {
    "keypair": {"cpu": 2000, "sessions": 2},
    "user": {"cpu": 2500, "sessions": 3},
    "project": {"cpu": 6000, "sessions": 9},
    "domain": {"cpu": 11000, "sessions": 17},
}
NODES = {"left": 12000, "middle": 8000, "right": 6000}


async def settle_down(postgres: str) -> list[Actor]:
    """The tenants, with their ceilings; everybody once by a keypair and once without."""
    database, clock = Database(postgres), SystemClock()
    actors: list[Actor] = []
    async with database.transaction() as tx:
        tx.add_all([_policy(PolicyKind.KEYPAIR), _policy(PolicyKind.USER)])
        for name, projects in PROJECTS.items():
            domain = Domain(id=DomainId(new_id()), name=name, ceilings=CEILINGS["domain"])
            tx.add(domain)
            await tx.flush()
            for project_name in projects:
                project = Project(
                    id=ProjectId(new_id()),
                    domain_id=domain.id,
                    name=project_name,
                    ceilings=CEILINGS["project"],
                )
                tx.add(project)
                await tx.flush()
                for number in range(PEOPLE_EACH):
                    user = await tenancy.add_user(
                        tx,
                        clock,
                        email=f"{project_name}-{number}@example.org",
                        name="Somebody",
                        role=Role.USER,
                        domain_id=domain.id,
                        projects=[project.id],
                    )
                    user.policy_id, user.keypair_policy_id = PolicyId("tight-user"), PolicyId("tight-keypair")
                    await tx.flush()
                    actor = await tenancy.actor_of(tx, user, credential="cookie", address="127.0.0.1")
                    made = await keypairs.create(tx, clock, actor)
                    actors += [actor, replace(actor, credential=f"keypair:{made.access_key}")]
    await database.close()
    return actors


def _policy(kind: PolicyKind) -> ResourcePolicy:
    ceiling = CEILINGS[kind]
    limits: dict[str, Any] = {
        "slots": {"cpu": ceiling["cpu"], "*": "unlimited"},
        "sessions": ceiling["sessions"],
        "pending_sessions": "unlimited",
        "pending_slots": {"*": "unlimited"},
        "containers_per_session": "unlimited",
        "lifetime_s": "unlimited",
        "idle_timeout_s": "unlimited",
        "idle_use": "unlimited",
        "max_priority": 50,
        "max_rights": "plain",
        "default_disk_bytes": "unlimited",
        "max_disk_bytes": "unlimited",
        "storage_hosts": "unlimited",
        "log_bytes": 67108864,
        "folders": "unlimited",
        "folder_bytes": "unlimited",
    }
    return ResourcePolicy(id=PolicyId(f"tight-{kind}"), kind=kind, name="tight", limits=limits)


_HELD = """
    SELECT s.id, s.access_key, s.owner_id, s.project_id, s.domain_id, a.amount
    FROM allocations a JOIN sessions s ON s.id = a.session_id
    WHERE a.released_at IS NULL AND a.slot = 'cpu'"""


@dataclass
class Watcher:
    """Adds up what is held after each commit. most: the largest sum of each kind of scope and slot so far."""

    look: psycopg.Connection[Any]
    over: list[str] = field(default_factory=list)
    most: dict[tuple[str, str], int] = field(default_factory=dict)
    commits: int = 0

    def after(self, point: str) -> None:
        if point != "after commit":
            return
        self.commits += 1
        for (kind, scope, slot), amount in self.held().items():
            self.most[kind, slot] = max(amount, self.most.get((kind, slot), 0))
            if amount > CEILINGS[kind][slot]:
                self.over.append(f"{kind} {scope} holds {amount} {slot} of {CEILINGS[kind][slot]}")

    def held(self) -> dict[tuple[str, str, str], int]:
        sums: defaultdict[tuple[str, str, str], int] = defaultdict(int)
        for _, key, owner, project, domain, amount in self.look.execute(_HELD):
            scopes = {"keypair": key or owner, "user": owner, "project": project, "domain": domain}
            for kind, scope in scopes.items():
                sums[kind, scope, "cpu"] += amount
                sums[kind, scope, "sessions"] += 1
        return sums


@dataclass(frozen=True)
class Visit:
    """A session that somebody asks for, and when they end it."""

    actor: Actor
    spec: SessionSpec
    key: str
    stays_s: float
    force: bool

    async def pay(self, database: Database) -> SessionId:
        session = await service.enqueue(
            database, LoopClock(), self.actor, self.spec, idempotency_key=self.key
        )
        await asyncio.sleep(self.stays_s)
        async with database.transaction() as tx:
            await service.remove(tx, LoopClock(), self.actor, session, force=self.force)
        return session


def visits(actors: list[Actor], dice: random.Random) -> list[Visit]:
    """As many as `SESSIONS` by all of them, in any order; some are over before they have begun."""
    who = actors * (SESSIONS // len(actors))
    dice.shuffle(who)
    return [
        Visit(
            actor,
            spec(slots={**SMALL, "cpu": dice.choice(SIZES)}),
            f"key-{number}",
            stays_s=dice.choice([0, 5, 20, 60, 180]) * dice.random(),
            force=dice.random() < 0.2,
        )
        for number, actor in enumerate(who)
    ]


def fates(dice: random.Random, watcher: Watcher) -> list[Fate]:
    """Many are killed within a few commits, some fall asleep and are woken late; the last one lives."""
    strokes = [
        {dice.choice(["kill_at", "kill_at", "stall_at"]): dice.randint(2, 150)} for _ in range(STROKES)
    ]
    all_fates = [Fate(**stroke) for stroke in [*strokes, {}]]
    for fate in all_fates:
        fate.look_at_point = lambda number, name: watcher.after(name)
    return all_fates


@pytest.mark.parametrize("seed", range(int(os.environ.get("CARREL_WALKS", "1"))))
def test_no_ceiling_is_exceeded_at_any_commit_and_everything_goes_back_to_nothing(
    postgres: str, look: psycopg.Connection[Any], seed: int
) -> None:
    dice, watcher = random.Random(seed), Watcher(look)
    struck = fates(dice, watcher)

    async def main() -> list[SessionId]:
        actors = await settle_down(postgres)
        world = FakeWorld(LoopClock())
        world.nodes = [
            NodeInfo(name, "x86_64", {"cpu": cpu, "mem": 4 << 30}, "Fake 1") for name, cpu in NODES.items()
        ]
        world.local_images.add("debian:12")
        installation = Installation(postgres, look, world, actors[0], list(struck))
        server = Database(postgres, commit_hook=lambda when: watcher.after(f"{when} commit"))
        people = asyncio.gather(*(visit.pay(server) for visit in visits(actors, dice)))
        try:
            while not people.done():
                await installation.round(dice.choice([0.1, 0.5, 1, 3]))
                assert not watcher.over
            await installation.settle()
            await installation.wake_sleepers()
            await installation.settle()
            assert not installation.violations()
            assert not world.containers
            return list(await people)
        finally:
            people.cancel()
            await installation.close()
            await server.close()

    made = simulate(main())
    assert len(set(made)) == SESSIONS
    assert not watcher.over
    assert watcher.held() == {}
    for kind, ceiling in CEILINGS.items():
        # What was never in anybody's way would prove nothing.
        assert watcher.most[kind, "sessions"] == ceiling["sessions"]
        assert watcher.most[kind, "cpu"] > ceiling["cpu"] - max(SIZES)
    assert sum(fate.struck.is_set() for fate in struck) > STROKES / 2
