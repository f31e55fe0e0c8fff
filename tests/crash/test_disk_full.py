"""The disk is full: the installation's own, under its database, or that of the engine."""

import asyncio
import secrets
from contextlib import suppress
from pathlib import Path

import psycopg
from crash.control_plane import Client
from crash.place import Place
from crash.small_disk import fill
from crash.supervised import Supervised
from people import eventually

from carrel.engines.port import EngineError


async def _until_refused(client: Client, image: str, *, most: int = 100) -> list[str]:
    """Create sessions until the disk is full; the ids of those that were acknowledged."""
    made = []
    for number in range(most):
        body = {
            "image": image,
            "slots": {"cpu": 10, "mem": 16 << 20},
            "env": {"PAD": secrets.token_hex(4000)},
        }
        answer = await client.try_once(
            "POST", "/sessions", json=body, headers={"Idempotency-Key": f"f-{number}"}
        )
        if answer is None:
            return made
        made.append(str(answer.json()["id"]))
    raise AssertionError(f"{most} sessions found room on a full disk")


async def test_a_full_disk_loses_no_session_and_is_over_when_there_is_space(
    on_small_disk: tuple[Place, Path],
) -> None:
    place, disk = on_small_disk
    client, plane = place.client, place.plane
    assert isinstance(plane, Supervised)
    before = [await client.create(f"before-{number}", place.image) for number in range(3)]
    await place.comes_to_rest()
    # 1. Nearly full: everything works, and the installation says so.
    most = fill(disk, "most", but_mib=12)
    answer = await client.try_once("GET", "/server")
    assert answer is not None
    assert {part["name"]: part["state"] for part in answer.json()["parts"]}["disk"] == "low"
    # 2. Full: new sessions are refused with the reason, in words.
    rest = fill(disk, "rest")
    made = await _until_refused(client, place.image)
    assert set(client.refusals) == {"server.disk_full"}
    # 3. Even the database's log does not fit any more: it stops, and nothing brings it up.
    await _stop_by_full_log(place)
    client.refusals.clear()

    async def refused() -> bool:
        return await client.try_once("GET", "/sessions") is None

    await eventually(refused, every_s=0.1)
    await asyncio.sleep(3)  # longer than the supervisor takes to try
    assert await refused()
    assert set(client.refusals) == {"server.disk_full"}
    assert plane.lives()
    # 4. Space: it goes on by itself, with everything that was acknowledged.
    most.unlink()
    rest.unlink()
    after = await client.create("after", place.image)
    await place.comes_to_rest()
    states = place.states()
    assert {states[session] for session in [*before, *made, after]} <= {"RUNNING"}
    for session in states:
        await client.remove(session)
    await place.comes_to_rest()


async def _stop_by_full_log(place: Place) -> None:
    """Have PostgreSQL begin new files of its log until there is no room for one."""

    async def stopped() -> bool:
        try:
            with place.looking() as look:
                look.execute("SELECT pg_logical_emit_message(false, 'filling', repeat('x', 1000))")
                look.execute("SELECT pg_switch_wal()")
        except psycopg.OperationalError:
            return True
        return False

    await eventually(stopped)


async def test_a_full_disk_of_the_engine_costs_only_those_who_need_it(on_small_engine: Place) -> None:
    place = on_small_engine
    quiet, greedy = [await place.client.create(name, place.image) for name in ("quiet", "greedy")]
    await place.comes_to_rest()
    # 1. One session fills the disk: it is ended, which works on a full disk, and the other does not notice.
    filling = "for n in 1 2 3 4; do dd if=/dev/zero of=/home/work/filler$n bs=4k conv=fsync; done"
    with suppress(EngineError):
        assert await _runs(place, greedy, filling) != 0
    assert await _runs(place, quiet, "true") == 0

    async def has_ended() -> bool:
        return place.states()[greedy] == "ERROR"

    await eventually(has_ended, within_s=60, every_s=0.3)
    assert "had written the most outside its folders" in place.reason(greedy)
    # 2. Something else fills it: a new one does not fit, and its owner reads why.
    assert place.daemon.data is not None
    filler = fill(place.daemon.data, "filler")
    refused = await place.client.create("refused", place.image)
    await place.comes_to_rest()
    assert place.states() == {quiet: "RUNNING", greedy: "ERROR", refused: "ERROR"}
    assert "disk" in place.reason(refused), place.reason(refused)
    assert "is full" in place.reason(refused), place.reason(refused)
    # 3. With space again, everything goes on.
    filler.unlink()
    late = await place.client.create("late", place.image)
    await place.comes_to_rest()
    assert place.states() == {quiet: "RUNNING", greedy: "ERROR", refused: "ERROR", late: "RUNNING"}
    assert await _runs(place, quiet, "echo well > /home/work/well") == 0


async def test_a_session_that_fills_the_disk_of_the_database_is_ended_and_nothing_is_lost(
    on_shared_disk: tuple[Place, Path],
) -> None:
    place, disk = on_shared_disk
    plane = place.plane
    assert isinstance(plane, Supervised)
    quiet, greedy = [await place.client.create(name, place.image) for name in ("quiet", "greedy")]
    await place.comes_to_rest()
    assert (disk / "data" / "reserve").stat().st_blocks * 512 > 64 << 20
    # 1. At full speed, and again and again, until somebody ends it.
    filling = "n=0; while true; do n=$((n+1)); dd if=/dev/zero of=/home/work/filler$n bs=1M 2>/dev/null; done"
    with suppress(EngineError):
        await asyncio.wait_for(_runs(place, greedy, filling), 120)
    # 2. It is, with its reason, and everything goes on by itself.
    late = await place.client.create("late", place.image)
    await place.comes_to_rest()
    assert place.states() == {quiet: "RUNNING", greedy: "ERROR", late: "RUNNING"}
    assert "had written the most outside its folders" in place.reason(greedy)
    assert plane.lives()
    assert plane.database_runs()


async def _runs(place: Place, session: str, script: str) -> int:
    """The exit code of a shell script in a session's main container."""
    async with place.engine.exec(
        place.main_of(session), ["sh", "-c", script], env={}, terminal=None
    ) as process:
        async for _ in process.output():
            pass
        return await process.exit_code()
