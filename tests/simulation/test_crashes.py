"""The control plane may die, or stall, anywhere in a session's life without leaving anything behind.

Each life is first played undisturbed to count the points. Points at which a crash leaves the same rows,
containers and images behind are the same to whoever starts next, so one of each such group is enough, and of
these groups every twentieth is tried, others in each life; CARREL_EVERY_POINT=1 tries every point.
"""

from collections.abc import Callable, Hashable
from typing import Any
from zlib import crc32

import psycopg
import pytest
from simulation import invariants
from simulation.conftest import empty
from simulation.control_planes import Fate
from simulation.installation_life import EVERY, Installation
from simulation.lives import LIVES, Life
from simulation.virtual_time import LoopClock, simulate

from carrel.engines.fake import FakeWorld
from carrel.permissions.decide import Actor
from carrel.tables.session_states import SessionState

EVERY_POINT = EVERY == 1
STRIDE = 1 if EVERY_POINT else 20


class Theatre:
    """Plays a life again and again, each time with another fate."""

    def __init__(self, postgres: str, look: psycopg.Connection[Any], actor: Actor, life: Life) -> None:
        self._postgres = postgres
        self._look = look
        self._actor = actor
        self._life = life
        self._turn = list(LIVES.values()).index(life)

    async def play(
        self, fate: Fate, *, down_s: float = 0.0, prepare: Callable[[Installation], None] = lambda _: None
    ) -> SessionState:
        """One life to its end, checked; how the session ended."""
        empty(self._look)
        world = FakeWorld(LoopClock())
        self._life.prepare(world)
        installation = Installation(self._postgres, self._look, world, self._actor, [fate])
        installation.down_s = down_s
        prepare(installation)
        try:
            session = await self._life.live(installation)
            await installation.settle()
            if fate.stall_at:
                await installation.wake_sleepers()
                await installation.settle()
            assert not installation.violations()
            assert installation.result(session) == self._life.result
            assert set(world.starts.values()) <= set(range(self._life.runs + 1))
            if self._life.complete:
                # No command began before all containers of its session were there.
                assert all(hosts == {*one.network.hosts} for one, hosts in world.opened if one.network)
            return installation.state(session)
        finally:
            await installation.close()

    async def kill_points(self) -> dict[int, str]:
        """Numbers and names of points of an undisturbed life: of the situations in it, every twentieth."""
        states: dict[Hashable, tuple[int, str]] = {}
        broken: list[str] = []
        fate = Fate()

        def prepare(installation: Installation) -> None:
            def look(number: int, name: str) -> None:
                states.setdefault(number if EVERY_POINT else installation.durable(), (number, name))
                if name == "after commit":
                    broken.extend(invariants.always(self._look))

            fate.look_at_point = look

        assert await self.play(fate, prepare=prepare) in self._life.ends
        assert not broken
        return self._some(states)

    async def gates(self) -> dict[int, str]:
        """The same for gates: each place in the code once at most, since a sleeper goes on from there.

        The calls that change something on the engine, which no transaction guards, in each situation; the other
        places, which all lives have in common, in every second life.
        """
        states: dict[Hashable, tuple[int, str]] = {}
        fate = Fate()

        def prepare(installation: Installation) -> None:
            def look(number: int, name: str) -> None:
                changes = name.startswith(("ensure", "remove"))
                if not (changes or EVERY_POINT or (crc32(name.encode()) + self._turn) % 2):
                    return
                kind = (name, installation.durable() if changes else None)
                states.setdefault(number if EVERY_POINT else kind, (number, name))

            fate.look_at_gate = look

        await self.play(fate, prepare=prepare)
        return self._some(states)

    def _some(self, states: dict[Hashable, tuple[int, str]]) -> dict[int, str]:
        tried = dict(list(states.values())[self._turn % STRIDE :: STRIDE])
        assert tried
        return tried

    async def survives(self, name: str, *, down_s: float = 0.0, **stroke: int) -> None:
        """The loops take turns in a slightly different order each time: one whose end came before a late point is
        played again.
        """
        for _ in range(3):
            fate = Fate(**stroke)
            try:
                state = await self.play(fate, down_s=down_s)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from error
            may_end = self._life.ends | (self._life.late if fate.stall_at else frozenset())
            assert state in may_end, f"{name}: the session is {state}"
            if fate.struck.is_set():
                return
        raise AssertionError(f"{name} was never reached")


@pytest.fixture(params=LIVES)
def theatre(request: pytest.FixtureRequest, postgres: str, look: Any, actor: Actor) -> Theatre:
    return Theatre(postgres, look, actor, LIVES[request.param])


LASTING = ["runs and is ended", "engine restarts", "fails once, then starts", "engine away while ending"]
"""Lives that between them are in every state that has a deadline."""


def test_a_kill_at_any_point_leaves_nothing_behind(theatre: Theatre) -> None:
    async def main() -> None:
        points = await theatre.kill_points()
        for number, name in points.items():
            await theatre.survives(f"killed at point {number}, {name}", kill_at=number)

    simulate(main())


@pytest.mark.parametrize("theatre", LASTING, indirect=True)
def test_a_kill_followed_by_hours_of_silence_changes_nothing(theatre: Theatre) -> None:
    async def main() -> None:
        points = await theatre.kill_points()
        for number, name in points.items():
            await theatre.survives(f"dead from point {number}, {name}", kill_at=number, down_s=7200)

    simulate(main())


def test_a_leader_that_wakes_up_late_changes_nothing(theatre: Theatre) -> None:
    async def main() -> None:
        gates = await theatre.gates()
        for number, name in gates.items():
            await theatre.survives(f"asleep at gate {number}, {name}", stall_at=number)

    simulate(main())
