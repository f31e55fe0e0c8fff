"""`kill -9` of the processes of an installation, again and again: each is back at once, and none ends by itself."""

import asyncio
import random
import secrets
from functools import partial

from crash.place import Place
from crash.supervised import Supervised
from people import eventually

ROUNDS = 3
ROLES = ("api,controllers", "gateway")
FORK_SERVER = "fork server"


async def test_whatever_is_killed_is_back_at_once_and_nothing_else_ends(supervised: Place) -> None:
    plane = supervised.plane
    assert isinstance(plane, Supervised)
    seed = secrets.randbits(32)
    luck = random.Random(seed)
    reading = asyncio.create_task(supervised.client.look_around())
    killed = 0
    for _ in range(ROUNDS):
        # The fork server only with a role: when that is back, so is the fork server.
        names = luck.choice(
            [ROLES, ROLES[:1], ROLES[1:], (), (FORK_SERVER, luck.choice(ROLES)), (FORK_SERVER, *ROLES)]
        )
        plane.kill_database()
        plane.kill_children(*names)
        killed += len(names)
        await eventually(partial(_noticed, plane, killed), every_s=0.05)
        await eventually(plane.is_whole, within_s=60, every_s=0.05)
    reading.cancel()
    ends = plane.ends()
    assert len(ends) == killed, (seed, ends)
    assert all(end.endswith("ended with -9; it starts again in 0 s") for end in ends), (seed, ends)
    assert set(supervised.client.refusals) <= {"database.unavailable"}, seed


async def _noticed(plane: Supervised, killed: int) -> bool:
    return len(plane.ends()) >= killed


async def test_the_api_waits_for_its_database_and_says_503_meanwhile(supervised: Place) -> None:
    plane = supervised.plane
    assert isinstance(plane, Supervised)
    with plane.database_kept_down():
        plane.kill_children("api,controllers")
        await eventually(partial(_noticed, plane, 1), every_s=0.05)
        supervised.client.refusals.clear()

        async def refused() -> bool:
            await supervised.client.try_once("GET", "/sessions")
            return supervised.client.refusals[:1] == ["database.unavailable"]

        await eventually(refused, within_s=60, every_s=0.05)

        # It goes on waiting while it is asked, over many attempts of its own to reach the database.
        async def is_refused_often() -> bool:
            await supervised.client.try_once("GET", "/sessions")
            return len(supervised.client.refusals) >= 20

        await eventually(is_refused_often, within_s=60, every_s=0.05)
        assert len(plane.ends()) == 1
    await eventually(plane.is_whole, within_s=60, every_s=0.05)
    assert len(plane.ends()) == 1


async def test_a_killed_fork_server_ends_no_role(supervised: Place) -> None:
    plane = supervised.plane
    assert isinstance(plane, Supervised)
    before = plane.children()
    plane.kill_children(FORK_SERVER)
    await eventually(partial(_noticed, plane, 1), every_s=0.05)
    plane.kill_children("gateway")
    await eventually(partial(_noticed, plane, 2), within_s=60, every_s=0.05)
    await eventually(plane.is_whole, within_s=60, every_s=0.05)
    after = plane.children()
    assert [name for name in before if before[name] == after[name]] == ["api,controllers"]
    assert plane.ends() == [
        f"{name} ended with -9; it starts again in 0 s" for name in (FORK_SERVER, "gateway")
    ]


async def test_a_killed_supervisor_takes_all_processes_along_and_starts_again(supervised: Place) -> None:
    plane = supervised.plane
    assert isinstance(plane, Supervised)
    children = plane.children()
    assert {*children} == {FORK_SERVER, *ROLES}
    plane.kill_supervisor()

    async def gone() -> bool:
        return not any(process.is_running() for process in children.values())

    await eventually(gone, every_s=0.05)
    await plane.start()
    assert {*plane.children()} == {FORK_SERVER, *ROLES}
