"""Many sessions, a small and faulty world, and control planes that never live long.

A walk is decided by its seed alone, apart from ids. CARREL_WALKS=N tries N seeds.
"""

import os
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from simulation import invariants
from simulation.conftest import empty
from simulation.control_planes import Fate
from simulation.installation_life import Installation
from simulation.virtual_time import LoopClock, simulate

from carrel.core.ids import SessionId
from carrel.engines.fake import FakeWorld
from carrel.engines.port import EngineError, NodeInfo, ObservedState
from carrel.permissions.decide import Actor
from carrel.tables.session_states import LIFECYCLE
from carrel.tables.session_states import SessionState as S

STEPS = 60
STEPS_OF = (
    "ensure.pull",
    "ensure.create",
    "ensure.start",
    "remove.stop",
    "remove.delete",
    "list",
    "logs",
    "nodes",
)


class Walk:
    """One installation and the dice."""

    def __init__(self, postgres: str, look: psycopg.Connection[Any], actor: Actor, seed: int) -> None:
        self.dice = random.Random(seed)
        self.look = look
        self.broken: list[str] = []
        world = FakeWorld(LoopClock())
        world.nodes = [
            NodeInfo(name, "x86_64", {"cpu": cpu, "mem": 4 << 30}, "Fake 1")
            for name, cpu in (("large", 4000), ("small", 2000), ("other", 2000))
        ]
        world.nodes[-1] = replace(world.nodes[-1], labels={"pool": "cloud"})
        world.unknown_images = {"nowhere:1"}
        world.pull_s = 3
        fates = [self._fate() for _ in range(12)]
        self.installation = Installation(postgres, look, world, actor, fates)
        self.world = world
        self.made: list[SessionId] = []

    def _fate(self) -> Fate:
        fate = Fate(**{self.dice.choice(["kill_at", "stall_at"]): self.dice.randint(2, 120)})

        def look(number: int, name: str) -> None:
            if name == "after commit":
                self.broken += invariants.always(self.look)

        fate.look_at_point = look
        return fate

    async def begin(self) -> None:
        """What was there before."""
        self.look.execute(
            "INSERT INTO resource_groups (id, name, node_selector) VALUES ('cloud', 'cloud', 'pool=cloud')"
        )

    async def step(self) -> None:
        acts: list[tuple[int, Callable[[], Any]]] = [
            (10, self._create),
            (6, self._remove),
            (30, lambda: self.installation.round(self.dice.choice([0.1, 0.5, 1, 1, 3, 30]))),
            (1, lambda: self.installation.round(900)),
            (2, self.installation.wake_sleepers),
            (4, lambda: self._to_a_container(lambda one: self.world.exit(one, 1))),
            (2, lambda: self._to_a_container(self.world.run_out_of_memory)),
            (2, lambda: self._to_a_container(self.world.vanish)),
            (2, self.world.restart),
            (2, self.world.go_away),
            (6, self.world.come_back),
            (5, self._fail),
        ]
        [act] = self.dice.choices([act for _, act in acts], [weight for weight, _ in acts])
        done = act()
        if done is not None:
            await done

    async def _create(self) -> None:
        image = self.dice.choice(["debian:12", "debian:12", "tool:3", "nowhere:1"])
        cpu, count = self.dice.choice([500, 1000, 2000, 4000]), self.dice.choice([1, 1, 1, 2, 3])
        groups = self.dice.choice([["default"], ["default"], ["default", "cloud"], ["cloud", "default"]])
        self.made.append(await self.installation.create(image, cpu=cpu, containers=count, groups=groups))

    async def _remove(self) -> None:
        if self.made:
            await self.installation.remove(self.dice.choice(self.made), force=self.dice.random() < 0.3)

    def _to_a_container(self, act: Callable[[str], None]) -> None:
        there = {name for name, one in self.world.containers.items() if one.state is ObservedState.RUNNING}
        # In an order that the seed alone decides, which ids do not.
        known = [one for session in self.made for one in self.installation.containers_of(session)]
        if running := [one for one in known if one in there]:
            act(self.dice.choice(running))

    def _fail(self) -> None:
        error = EngineError("The disk is full.", retriable=self.dice.random() < 0.8)
        self.world.fail_next(self.dice.choice(STEPS_OF), error, times=self.dice.choice([1, 1, 3]))

    async def come_home(self) -> None:
        """Faults end, sleepers wake, everything settles; then everybody leaves."""
        self.world.come_back()
        self.world._faults.clear()
        await self.installation.wake_sleepers()
        await self.installation.settle(queue=True)
        assert not self.installation.violations()
        for session in self.made:
            await self.installation.remove(session)
        await self.installation.settle()
        assert not self.installation.violations()
        assert {self.installation.state(session) for session in self.made} <= LIFECYCLE.final
        assert not self.world.containers


class ElasticWalk(Walk):
    """The engine chooses the machines, which come and go."""

    async def begin(self) -> None:
        await super().begin()
        self.machines = [
            replace(
                self.world.nodes[0], name=name, slots={"cpu": 8000, "mem": 4 << 30}, labels={"pool": "burst"}
            )
            for name in ("first", "second", "third")
        ]
        self.world.nodes = []
        await self.installation.make_elastic({"cpu": 12000, "mem": 8 << 30}, wait_s=60)

    async def step(self) -> None:
        if self.dice.random() < 0.2:
            machine = self.dice.choice(self.machines)
            others = [node for node in self.world.nodes if node.name != machine.name]
            self.world.nodes = others if machine in self.world.nodes else [*others, machine]
        await super().step()

    async def come_home(self) -> None:
        self.world.nodes = list(self.machines)
        await super().come_home()


@pytest.mark.parametrize("kind", [Walk, ElasticWalk])
@pytest.mark.parametrize("seed", range(int(os.environ.get("CARREL_WALKS", "3"))))
def test_a_random_walk_keeps_every_promise(
    postgres: str, look: psycopg.Connection[Any], actor: Actor, seed: int, kind: type[Walk]
) -> None:
    async def main() -> None:
        empty(look)
        walk = kind(postgres, look, actor, seed)
        try:
            await walk.begin()
            for _ in range(STEPS):
                await walk.step()
                assert not walk.broken
            await walk.come_home()
            assert not walk.broken
        finally:
            await walk.installation.close()
        ends = {walk.installation.state(session) for session in walk.made}
        assert S.TERMINATED in ends, "nothing ever ran: the walk proves nothing"

    simulate(main())
