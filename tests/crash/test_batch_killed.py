"""Batch commands under `kill -9` of the control plane and of the engine: never twice, never lost."""

import asyncio
import random
import secrets
from collections import Counter
from pathlib import Path

import pytest
from crash.control_plane import Client, ControlPlaneProcess
from crash.place import Place
from people import People, eventually

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.signin.keypairs import service as keypairs

JOBS = 12
FINAL = {"TERMINATED", "CANCELLED", "ERROR"}


@pytest.fixture
async def written(
    place: Place, database: Database, people: People, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A file in a folder "runs" of the user, to which the jobs append their number."""
    plane = place.plane
    assert isinstance(plane, ControlPlaneProcess)
    async with database.transaction() as tx:
        keypair = await keypairs.create(tx, SystemClock(), people.superadmin)
    admin = Client(plane.port, (keypair.access_key, keypair.secret_key))
    disk = tmp_path_factory.mktemp("disk") / "disk"
    await admin.post("/storage-hosts", {"name": "disk", "root": str(disk)})
    await admin.close()
    folder = (await place.client.post("/vfolders", {"name": "runs"}))["id"]
    [directory] = disk.glob(f"**/{folder}")
    return directory / "files" / "all"


async def _ask_for_jobs(place: Place, luck: random.Random) -> None:
    """Sessions that write their number, sleep, and exit with 1 if it is odd."""
    for number in range(JOBS):
        script = f"echo {number} >> runs/all; sleep {luck.uniform(0, 3):.1f}; exit {number % 2}"
        await place.client.create(
            f"job-{number}",
            place.image,
            kind="batch",
            command=["sh", "-c", script],
            mounts=[{"folder": "runs"}],
        )


async def _ask_for_an_array(place: Place, luck: random.Random) -> None:
    """As `_ask_for_jobs`, but one array, four at a time, and a session that writes JOBS once all of it have ended."""
    script = f"echo $CARREL_ARRAY_INDEX >> runs/all; sleep {luck.uniform(0, 2):.1f}; exit $((CARREL_ARRAY_INDEX % 2))"
    mounts = [{"folder": "runs"}]
    await place.client.create(
        "sweep",
        place.image,
        name="sweep",
        kind="batch",
        command=["sh", "-c", script],
        mounts=mounts,
        array={"first": 0, "last": JOBS - 1, "max_parallel": 4},
    )
    await place.client.create(
        "report",
        place.image,
        kind="batch",
        command=["sh", "-c", f"echo {JOBS} >> runs/all"],
        mounts=mounts,
        after=[{"session": "sweep", "condition": "ended"}],
    )


def _runs(written: Path) -> Counter[int]:
    """How often each job ran."""
    return Counter(int(line) for line in written.read_text().split())


async def _all_end(place: Place) -> None:
    async def ended() -> bool:
        return set(place.states().values()) <= FINAL

    await eventually(ended, within_s=120, every_s=0.3)
    await place.comes_to_rest()


def _results(place: Place) -> list[str]:
    with place.looking() as look:
        rows = look.execute("SELECT result FROM sessions ORDER BY created_at, id")
        return [str(row[0]) for row in rows]


async def _kill_planes(place: Place, luck: random.Random, times: int) -> None:
    """Kill and start the control plane at moments of chance."""
    plane = place.plane
    assert isinstance(plane, ControlPlaneProcess)
    for _ in range(times):
        await asyncio.sleep(luck.uniform(0.3, 2))
        plane.kill()
        plane.start()


async def _kill_daemons(place: Place, luck: random.Random) -> None:
    """The same, twice, with the engine, which stays away for a while."""
    for _ in range(2):
        await asyncio.sleep(luck.uniform(0.5, 3))
        await asyncio.to_thread(place.daemon.kill)
        await asyncio.sleep(luck.uniform(0.2, 1))
        await asyncio.to_thread(place.daemon.start)


async def test_each_command_runs_once_while_the_control_plane_is_killed(place: Place, written: Path) -> None:
    seed = secrets.randbits(32)
    luck = random.Random(seed)
    await _ask_for_jobs(place, luck)
    await _kill_planes(place, luck, 5)
    await _all_end(place)
    assert _runs(written) == Counter(range(JOBS)), f"seed {seed}"
    assert _results(place) == ["success", "failure"] * (JOBS // 2), f"seed {seed}"


async def test_no_command_runs_twice_while_the_engine_is_killed(place: Place, written: Path) -> None:
    seed = secrets.randbits(32)
    luck = random.Random(seed)
    await _ask_for_jobs(place, luck)
    await _kill_daemons(place, luck)
    await _all_end(place)
    assert set(_runs(written).values()) <= {1}, f"seed {seed}"
    assert set(_results(place)) <= {"success", "failure"}, f"seed {seed}"


async def test_an_array_runs_each_session_once_while_the_control_plane_is_killed(
    place: Place, written: Path
) -> None:
    seed = secrets.randbits(32)
    luck = random.Random(seed)
    await _ask_for_an_array(place, luck)
    await _kill_planes(place, luck, 4)
    await _all_end(place)
    assert _runs(written) == Counter(range(JOBS + 1)), f"seed {seed}"
    assert written.read_text().split()[-1] == str(JOBS), f"seed {seed}"
    assert _results(place) == [*["success", "failure"] * (JOBS // 2), "success"], f"seed {seed}"


async def test_an_array_runs_no_session_twice_while_the_engine_is_killed(place: Place, written: Path) -> None:
    seed = secrets.randbits(32)
    luck = random.Random(seed)
    await _ask_for_an_array(place, luck)
    await _kill_daemons(place, luck)
    await _all_end(place)
    assert set(_runs(written).values()) <= {1}, f"seed {seed}"
    assert set(_results(place)) <= {"success", "failure"}, f"seed {seed}"
    # What is to start after the array is neither forgotten nor early.
    ran = written.read_text().split()
    assert str(JOBS) not in ran[:-1], f"seed {seed}"
    assert len(_results(place)) == JOBS + 1
