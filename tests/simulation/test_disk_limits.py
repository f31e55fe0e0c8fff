"""Sessions that write too much outside their folders, in virtual time: warned of, and ended for a reason of its own."""

import asyncio
import json
import sys
from dataclasses import replace
from typing import Any

import pytest
from session_kit import spec
from simulation.conftest import Play
from simulation.control_planes import ControlPlane, Fate
from simulation.installation_life import Installation
from simulation.test_host_loads import IDLE
from simulation.test_idle_sessions import another_leads

from carrel.controllers.disk_limits import DiskLimits
from carrel.controllers.disk_space import DiskSpaceWatch
from carrel.controllers.loop import Controller
from carrel.controllers.usage_history import UsageHistory
from carrel.controllers.usage_sampling import UsageSampling
from carrel.core.errors import Invalid
from carrel.core.ids import SessionId
from carrel.engines.optional import DiskSpace
from carrel.engines.port import DISK_LIMIT
from carrel.sessions.spec import ClusterRole
from carrel.tables.session_states import SessionState as S

GIB = 1 << 30


class WithDiskLimits(ControlPlane):
    left_out = tuple(one for one in ControlPlane.left_out if one not in (DiskLimits, DiskSpaceWatch))


def set_policy(installation: Installation, **limits: Any) -> None:
    installation.look.execute(
        "UPDATE resource_policies SET limits = limits || %s WHERE id = 'default-keypair'",
        (json.dumps({"default_disk_bytes": 20 * GIB, "max_disk_bytes": "unlimited", **limits}),),
    )


async def limited(installation: Installation, disk_bytes: int | None = 10 * GIB, **more: Any) -> SessionId:
    """A session that runs, with this limit."""
    installation.kind_of_plane = WithDiskLimits
    installation.requests += 1
    session = await installation.enqueue(spec(disk_bytes=disk_bytes, **more))
    await installation.settle()
    return session


def write(installation: Installation, session: SessionId, used_bytes: int, host: str = "main1") -> None:
    [(container,)] = installation.look.execute(
        "SELECT id FROM containers WHERE session_id = %s AND host = %s", (session, host)
    ).fetchall()
    installation.world.containers[container].disk_bytes = used_bytes


async def step(installation: Installation, *kinds: type[Controller]) -> None:
    """These controllers step once."""

    async def steps(plane: ControlPlane) -> None:
        for controller in plane.controllers:
            if isinstance(controller, kinds):
                await controller.step()

    await installation.act(steps)


async def look(installation: Installation, times: int = 3) -> None:
    """What measures and what compares step now and then."""
    for _ in range(times):
        await step(installation, UsageSampling, UsageHistory, DiskLimits)
        await asyncio.sleep(20)


def warnings(installation: Installation, session: SessionId) -> list[str]:
    [(codes,)] = installation.look.execute("SELECT warnings FROM sessions WHERE id = %s", (session,))
    return list(codes)


def notes(installation: Installation, session: SessionId) -> list[tuple[str, str]]:
    rows = installation.look.execute(
        "SELECT cause, reason FROM session_history WHERE session_id = %s ORDER BY id", (session,)
    )
    return [row for row in rows.fetchall() if "disk" in row[0]]


def test_a_session_that_fills_its_disk_is_warned_and_ended_far_above(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session, other = await limited(installation), await limited(installation)
        # 1. Below: nothing; from 80 %: one warning.
        write(installation, session, 7 * GIB)
        await look(installation)
        assert warnings(installation, session) == []
        write(installation, session, 8 * GIB)
        await look(installation)
        assert warnings(installation, session) == ["disk_nearly_full"]
        # 2. With space again it has none, and a second one later.
        write(installation, session, 6 * GIB)
        await look(installation)
        assert warnings(installation, session) == []
        write(installation, session, 10 * GIB + GIB // 2)
        await look(installation)
        assert notes(installation, session) == [
            (
                "disk_nearly_full",
                f"It has written {used} outside its folders, of 10 GiB. Delete files or move them to a folder.",
            )
            for used in ("8 GiB", "10.5 GiB")
        ]
        assert installation.state(session) == S.RUNNING
        # 3. Far above: ended, with the figures. Nobody else is.
        write(installation, session, 12 * GIB)
        await look(installation)
        await installation.settle()
        assert (installation.state(session), installation.state(other)) == (S.ERROR, S.RUNNING)
        assert notes(installation, session)[-1] == (
            "disk_exceeded",
            "It wrote 12 GiB outside its folders; the limit is 10 GiB.",
        )

    play(story)


def test_the_container_that_wrote_is_named(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session = await limited(installation, roles=(ClusterRole(name="worker", count=2),))
        write(installation, session, 9 * GIB, "worker2")
        await look(installation)
        [(_, reason)] = notes(installation, session)
        assert reason.startswith("Its container worker2 has written 9 GiB outside its folders")

    play(story)


def test_what_was_measured_before_a_restart_does_not_count_after_it(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session = await limited(installation)
        write(installation, session, 8 * GIB)
        await look(installation)
        assert warnings(installation, session) == ["disk_nearly_full"]
        # The last measurement before the restart is far above, and only compared after it.
        write(installation, session, 20 * GIB)
        await step(installation, UsageSampling)
        await installation.restart(session)
        await installation.until_restarted(session)
        await step(installation, DiskLimits)
        assert installation.state(session) == S.RUNNING
        await look(installation)
        assert (installation.state(session), warnings(installation, session)) == (S.RUNNING, [])

    play(story)


def test_without_a_measurement_nobody_is_ended(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session = await limited(installation)
        [container] = installation.world.containers.values()
        container.disk_bytes = None
        await look(installation)
        assert (installation.state(session), notes(installation, session)) == (S.RUNNING, [])

    play(story)


def test_where_the_engine_limits_it_the_session_goes_on(play: Play) -> None:
    async def story(installation: Installation) -> None:
        world = installation.world
        world.nodes = [replace(one, capabilities=one.capabilities | {DISK_LIMIT}) for one in world.nodes]
        session = await limited(installation)
        [container] = world.containers
        assert not world.write_disk(container, 50 * GIB)
        await look(installation, 10)
        assert (installation.state(session), warnings(installation, session)) == (
            S.RUNNING,
            ["disk_nearly_full"],
        )

    play(story)


def test_the_policy_has_the_default_and_the_most(play: Play) -> None:
    async def story(installation: Installation) -> None:
        set_policy(installation, default_disk_bytes=30 * GIB, max_disk_bytes=25 * GIB)
        try:
            with pytest.raises(Invalid) as refused:
                await limited(installation, 26 * GIB)
            assert refused.value.code == "session.too_much_disk"
            await installation.create()
            await limited(installation, 25 * GIB)
            set_policy(installation, default_disk_bytes="unlimited")
            await installation.create()
            await installation.settle()
        finally:
            set_policy(installation)
        rows = installation.look.execute("SELECT disk_limit_bytes FROM sessions ORDER BY created_at")
        assert [most for (most,) in rows] == [25 * GIB, 25 * GIB, None]
        assert [one.spec.disk_bytes for one in installation.world.containers.values()] == [
            25 * GIB,
            25 * GIB,
            None,
        ]

    play(story)


def test_when_the_disk_of_a_node_runs_full_the_one_who_wrote_the_most_is_ended(play: Play) -> None:
    async def story(installation: Installation) -> None:
        world = installation.world
        large, small, tiny = [
            await limited(installation, 100 * GIB, name=f"{n}-er") for n in ("aa", "bb", "cc")
        ]
        for session, used in ((large, 50), (small, 30), (tiny, 0)):
            write(installation, session, used * GIB)
        world.hosts["local"] = replace(IDLE, disk_used_bytes=90 << 30, disk_size_bytes=100 << 30)
        await look(installation, 12)
        assert installation.state(large) == S.RUNNING
        # One, and not the next before its space has been freed and measured anew.
        world.hosts["local"] = replace(IDLE, disk_used_bytes=98 << 30, disk_size_bytes=100 << 30)
        await look(installation, 12)
        assert {one: installation.state(one) for one in (large, small, tiny)} == {
            large: S.TERMINATING,
            small: S.RUNNING,
            tiny: S.RUNNING,
        }
        assert notes(installation, large) == [
            (
                "node_disk_full",
                "The disk of its node is nearly full (2 GiB free), and of all sessions there it had written the most"
                " outside its folders: 50 GiB.",
            )
        ]
        await installation.settle()
        await look(installation, 12)
        await installation.settle()
        assert installation.state(small) == S.ERROR
        # Ending one who wrote nothing would not help.
        await look(installation, 12)
        assert installation.state(tiny) == S.RUNNING

    play(story)


def test_who_fills_the_disk_within_seconds_is_ended_before_the_minute_is_over(play: Play) -> None:
    async def story(installation: Installation) -> None:
        world = installation.world
        writer, other = await limited(installation, None), await limited(installation, None)
        write(installation, writer, 20 * GIB)
        write(installation, other, GIB)
        world.disk_spaces = [DiskSpace("local", used_bytes=90 * GIB, size_bytes=100 * GIB)]
        await step(installation, DiskSpaceWatch)
        assert installation.state(writer) == S.RUNNING
        # Neither session has a sample of its use yet.
        world.disk_spaces = [DiskSpace("local", used_bytes=99 * GIB, size_bytes=100 * GIB)]
        await step(installation, DiskSpaceWatch)
        await step(installation, DiskSpaceWatch)
        assert [installation.state(one) for one in (writer, other)] == [S.TERMINATING, S.RUNNING]
        world.disk_spaces = []
        await installation.settle()
        assert [installation.state(one) for one in (writer, other)] == [S.ERROR, S.RUNNING]
        [(cause, reason)] = notes(installation, writer)
        assert (cause, reason.endswith("outside its folders: 20 GiB.")) == ("node_disk_full", True)

    play(story)


class OnceInDiskLimits(Fate):
    """Counts only points that the controller passes: two in looking, then two in each thing that it does."""

    def point(self, name: str) -> None:
        frame = sys._getframe(1)
        while frame.f_back is not None and not frame.f_code.co_filename.endswith("/disk_limits.py"):
            frame = frame.f_back
        if frame.f_back is not None:
            super().point(name)


def test_a_leader_killed_while_it_warns_or_ends_leaves_one_warning_and_one_end(play: Play) -> None:
    async def story(installation: Installation) -> None:
        async def under_fire() -> None:
            """Leaders killed before the commit, killed after it, and left alone."""
            fates = [OnceInDiskLimits(kill_at=3), OnceInDiskLimits(kill_at=4)]
            await another_leads(installation)
            installation._fates.extend(fates)
            await look(installation, 2)
            assert all(fate.struck.is_set() for fate in fates)

        session = await limited(installation)
        write(installation, session, 9 * GIB)
        await under_fire()
        assert [cause for cause, _ in notes(installation, session)] == ["disk_nearly_full"]
        write(installation, session, 20 * GIB)
        await under_fire()
        await installation.settle()
        assert installation.state(session) == S.ERROR
        assert [cause for cause, _ in notes(installation, session)] == ["disk_nearly_full", "disk_exceeded"]

    play(story)
