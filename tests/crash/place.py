"""One installation on one daemon, with everything needed to disturb it and to look at it."""

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

import aiodocker
import psycopg
from crash.control_plane import Client
from own_dockerd import OwnDockerd
from people import eventually
from simulation import invariants

from carrel.core.clock import SystemClock
from carrel.engines.docker import DockerEngine
from carrel.engines.docker.api import START_S
from carrel.engines.port import EngineUnavailable

RESTING = {"RUNNING", "TERMINATED", "CANCELLED", "ERROR"}
_LOOKS = 4


class Plane(Protocol):
    """What runs the installation. log: of the API and the controllers."""

    @property
    def log(self) -> Path: ...


class Place:
    def __init__(
        self,
        daemon: OwnDockerd,
        engine: DockerEngine,
        plane: Plane,
        client: Client,
        image: str,
        database_url: str,
    ) -> None:
        self.daemon = daemon
        self.engine = engine
        self.plane = plane
        self.client = client
        self.image = image
        self._database_url = database_url

    @contextmanager
    def looking(self) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
        # Anew each time: the database may have died since.
        with psycopg.connect(self._database_url, autocommit=True) as connection:
            yield connection

    def states(self) -> dict[str, str]:
        with self.looking() as look:
            return {str(row[0]): str(row[1]) for row in look.execute("SELECT id, state FROM sessions")}

    def reason(self, session: str) -> str:
        with self.looking() as look:
            row = look.execute("SELECT reason FROM sessions WHERE id = %s", (session,)).fetchone()
        return str(row[0]) if row else ""

    def main_of(self, session: str) -> str:
        """The id of its main container."""
        with self.looking() as look:
            row = look.execute(
                "SELECT id FROM containers WHERE session_id = %s AND index = 0", (session,)
            ).fetchone()
        assert row, session
        return str(row[0])

    async def wrong(self) -> list[str]:
        """What must not be once nothing is under way."""
        with self.looking() as look:
            violations = invariants.at_rest(look, await self.engine.list(), SystemClock().now())
        return violations + await self._left_over()

    async def rests(self) -> bool:
        """Nothing is under way, and the last comparison with the engine found nothing to do."""
        try:
            return set(self.states().values()) <= RESTING and not await self.wrong()
        except (psycopg.OperationalError, EngineUnavailable):
            return False

    async def comes_to_rest(self) -> None:
        """Wait until nothing is under way at several looks: at one, the engine may not have reported yet what died."""
        looks = 0

        async def stays_at_rest() -> bool:
            nonlocal looks
            looks = looks + 1 if await self.rests() else 0
            return looks == _LOOKS

        with suppress(AssertionError):
            # An engine that dies while it starts a container may never answer, and is given this long.
            await eventually(stays_at_rest, within_s=START_S + 60, every_s=0.3)
        tail = self.plane.log.read_text(errors="replace")[-3000:]
        assert await self.wrong() == [], tail
        assert await self.rests(), (self.states(), tail)

    async def close(self) -> None:
        """Leave nothing of it on the daemon."""
        await self.client.close()
        await self.engine.purge()
        await self.engine.close()

    async def _left_over(self) -> list[str]:
        """Networks beyond the shared one and those of live cluster sessions, and volumes beyond the label's claim."""
        ours = self.engine._names.installation
        async with aiodocker.Docker(url=self.daemon.url) as docker:
            networks = [one for one in await docker.networks.list() if ours in str(one.get("Labels"))]
            volume_names = [one["Name"] for one in (await docker.volumes.list())["Volumes"] or ()]
            volumes = [name for name in volume_names if name != f"carrel-{ours}-claim"]
        running = {"", *(session for session, state in self.states().items() if state == "RUNNING")}
        left = [one["Name"] for one in networks if one["Labels"].get("carrel.network", "") not in running]
        return [f"the network {name} is left" for name in left] + [
            f"the volume {name} is left" for name in volumes
        ]


async def one_session(place: Place, number: int, luck: random.Random) -> tuple[str, bool]:
    """Ask for a session, every fourth of three containers, and end every second one some time later.

    The id, and whether it was ended.
    """
    await asyncio.sleep(luck.uniform(0, 6))
    session = await place.client.create(f"burst-{number}", place.image, containers=1 if number % 4 else 3)
    if number % 2:
        return session, False
    await asyncio.sleep(luck.uniform(0, 4))
    await place.client.remove(session)
    return session, True


def has_what_was_asked(place: Place, made: list[tuple[str, bool]], seed: int) -> None:
    """Every session of a burst is there once, and where its owner wanted it."""
    states = place.states()
    assert len(states) == len(made), f"seed {seed}"
    for session, ended in made:
        expected = {"TERMINATED", "CANCELLED"} if ended else {"RUNNING"}
        assert states[session] in expected, (
            f"seed {seed}: {session} is {states[session]}: {place.reason(session)}"
        )
