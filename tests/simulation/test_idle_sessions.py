"""Sessions that nobody uses, in virtual time: warned, kept, and ended for a reason of its own."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

from session_kit import spec
from simulation.conftest import Play
from simulation.control_planes import ControlPlane, Fate
from simulation.installation_life import Installation
from simulation.virtual_time import LoopClock
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accelerators.fake import FakeAccelerators
from carrel.controllers.audit_sealing import AuditSealing
from carrel.controllers.folder_tasks import FolderTasks
from carrel.controllers.housekeeping import Housekeeping
from carrel.core.ids import SessionId
from carrel.sessions.spec import ClusterRole
from carrel.tables.session_states import SessionState as S
from carrel.usage.idle import service as idle
from carrel.usage.idle.activity import Activity

HOUR = 3600
TRAFFIC = {"idle_timeout_s": HOUR}
USE = {"idle_use": {"window_s": 1800, "grace_s": 600, "below": {"cpu": 5, "accelerator": 5}}}


class WithIdle(ControlPlane):
    left_out = (FolderTasks, Housekeeping, AuditSealing)


class Limits:
    """The policy that everybody has, with other limits while the block lasts; and somebody who looks at them."""

    def __init__(self, installation: Installation, limits: dict[str, Any]) -> None:
        installation.kind_of_plane = WithIdle
        self._look, self._limits = installation.look, limits

    def __enter__(self) -> "Limits":
        self.become(self._limits)
        return self

    def __exit__(self, *_: object) -> None:
        self.become({})

    def become(self, limits: dict[str, Any]) -> None:
        all_limits = {"idle_timeout_s": "unlimited", "idle_use": "unlimited", **limits}
        self._look.execute(
            "UPDATE resource_policies SET limits = limits || %s WHERE id = 'default-keypair'",
            (json.dumps(all_limits),),
        )


def warned_of(installation: Installation, session: str) -> datetime | None:
    [(at,)] = installation.look.execute("SELECT idle_ends_at FROM sessions WHERE id = %s", (session,))
    return at  # type: ignore[no-any-return]


def history(installation: Installation, session: str) -> list[tuple[str, str | None]]:
    rows = installation.look.execute(
        "SELECT cause, reason FROM session_history WHERE session_id = %s ORDER BY id", (session,)
    )
    return [row for row in rows.fetchall() if row[0].startswith(("idle", "kept"))]


async def act(installation: Installation, what: Callable[[AsyncSession], Awaitable[object]]) -> None:
    async def do(plane: ControlPlane) -> None:
        async with plane.database.transaction() as tx:
            await what(tx)

    await installation.act(do)


async def used(plane: ControlPlane, session: SessionId) -> None:
    """As the gateway does it."""
    activity = Activity(plane.database, LoopClock())
    activity.recorder_of(session)()
    await activity.write()


async def minutes(installation: Installation, count: float, *, step_s: float = 60) -> None:
    """What measures and what judges step now and then; of the others nothing is at stake."""

    async def look(plane: ControlPlane) -> None:
        for controller in plane.controllers:
            if controller.name in ("usage", "idle"):
                await controller.step()
        await asyncio.sleep(step_s)

    for _ in range(round(count * 60 / step_s)):
        await installation.act(look)


def test_a_session_without_traffic_is_warned_once_kept_and_ended_in_the_end(play: Play) -> None:
    async def story(installation: Installation) -> None:
        with Limits(installation, TRAFFIC):
            session = await installation.create(cpu=100)
            await installation.settle()
            await minutes(installation, 50)
            assert warned_of(installation, session) is None
            # Somebody uses an app of it.
            await installation.act(lambda plane: used(plane, session))
            await minutes(installation, 50)
            assert (installation.state(session), warned_of(installation, session)) == (S.RUNNING, None)
            # Six minutes before its end it is warned, once.
            await minutes(installation, 6)
            assert warned_of(installation, session) is not None
            assert history(installation, session) == [
                (
                    "idle_warning",
                    "It looks idle: it ends in 6 min unless it is used or marked as in use.",
                )
            ]
            await act(installation, lambda tx: idle.keep(tx, LoopClock(), installation.actor, session))
            assert warned_of(installation, session) is None
            await minutes(installation, 53)
            assert (installation.state(session), warned_of(installation, session)) == (S.RUNNING, None)
            await minutes(installation, 10)
            await installation.settle()
            assert installation.state(session) == S.TERMINATED
            assert [cause for cause, _ in history(installation, session)] == [
                "idle_warning",
                "kept",
                "idle_warning",
                "idle_traffic",
            ]
            assert history(installation, session)[-1][1] == "Idle: no traffic for 1 h."

    play(story)


def test_what_uses_little_for_a_whole_window_ends_and_what_works_or_is_not_measured_does_not(
    play: Play,
) -> None:
    async def story(installation: Installation) -> None:
        with Limits(installation, USE):
            idles, works, is_exempt = [await installation.create(cpu=100) for _ in range(3)]
            await installation.settle()
            world = installation.world
            for one in (idles, is_exempt):
                world.containers[installation.main_of(one)].load = 0.01
            world.containers[installation.main_of(works)].load = 0.5
            await act(
                installation,
                lambda tx: idle.exempt(tx, LoopClock(), installation.actor, is_exempt, exempt=True),
            )
            await minutes(installation, 36, step_s=30)
            assert warned_of(installation, idles) is None
            await minutes(installation, 3, step_s=30)
            assert warned_of(installation, idles) is not None
            await minutes(installation, 5, step_s=30)
            await installation.settle()
            assert [installation.state(one) for one in (idles, works, is_exempt)] == [
                S.TERMINATED,
                S.RUNNING,
                S.RUNNING,
            ]
            assert history(installation, idles)[-1] == (
                "idle_use",
                "Idle: low utilization for 30 min (CPU 1.0 %, below 5 %).",
            )
            # Nothing is known of it for a while: it counts as busy in that time, and is quiet anew afterwards.
            world.containers[installation.main_of(works)].load = 0.01
            await minutes(installation, 29, step_s=30)
            assert warned_of(installation, works) is not None
            installation.look.execute("DELETE FROM usage_samples")
            await minutes(installation, 0.5, step_s=30)
            assert warned_of(installation, works) is None

    play(story)


def test_an_accelerator_in_use_of_any_container_of_a_cluster_counts(play: Play) -> None:
    async def story(installation: Installation) -> None:
        world = installation.world
        world.equip("local", FakeAccelerators(4))
        with Limits(installation, USE):
            roles = (
                ClusterRole(name="worker", count=1, slots={"cpu": 100, "mem": 16 << 20, "fake.device": 1}),
            )
            made = []
            for name in ("idles", "works"):
                installation.requests += 1
                request = spec(slots={"cpu": 100, "mem": 16 << 20}, name=name, roles=roles)
                made.append(await installation.enqueue(request))
            idles, works = made
            await installation.settle()
            for session, percent in ((idles, 2), (works, 60)):
                rows = installation.look.execute(
                    "SELECT id, index FROM containers WHERE session_id = %s ORDER BY index", (session,)
                ).fetchall()
                assert len(rows) == 2
                for container, index in rows:
                    world.containers[container].load = 0.01
                    if index:
                        assert world.containers[container].spec.devices
                        world.containers[container].accelerator_percent = percent
            await minutes(installation, 44, step_s=30)
            await installation.settle()
            assert [installation.state(one) for one in (idles, works)] == [S.TERMINATED, S.RUNNING]
            assert history(installation, idles)[-1] == (
                "idle_use",
                "Idle: low utilization for 30 min (CPU 1.0 %, below 5 %, accelerators 2.0 %, below 5 %).",
            )

    play(story)


def test_samples_of_all_sessions_are_read_at_once_and_not_again_before_they_can_matter(play: Play) -> None:
    async def story(installation: Installation) -> None:
        async def queries() -> int:
            """How many of the samples a step asks."""
            statements: list[str] = []

            async def step(plane: ControlPlane) -> None:
                def note(_conn: object, _cursor: object, statement: str, *_rest: object) -> None:
                    statements.append(statement)

                engine = plane.database._engine.sync_engine
                event.listen(engine, "before_cursor_execute", note)
                await next(one for one in plane.controllers if one.name == "idle").step()
                event.remove(engine, "before_cursor_execute", note)

            await installation.act(step)
            return sum("FROM usage_samples" in statement for statement in statements)

        with Limits(installation, USE):
            measured = [await installation.create(cpu=100) for _ in range(3)]
            await installation.settle()
            await minutes(installation, 5, step_s=30)
            # Of one nothing is known.
            unknown = installation.main_of(measured[0])
            installation.look.execute("DELETE FROM usage_samples WHERE container_id = %s", (unknown,))
            await another_leads(installation)
            assert await queries() == 1
            assert await queries() == 0

    play(story)


async def another_leads(installation: Installation) -> None:
    await installation.close()
    installation._plane = None


def test_a_stricter_policy_and_a_leader_that_was_away_still_warn_in_good_time(play: Play) -> None:
    async def story(installation: Installation) -> None:
        with Limits(installation, {}) as limits:
            session = await installation.create(cpu=100)
            await installation.settle()
            await minutes(installation, 120, step_s=600)
            limits.become(TRAFFIC)
            await installation.round(15)
            assert await notice(installation, session) > timedelta(minutes=5)
            await minutes(installation, 5)
            assert installation.state(session) == S.RUNNING
            limits.become({})
            await installation.round(15)
            assert warned_of(installation, session) is None
            # Nobody leads when it would be warned, and it is long over time when somebody does again.
            await another_leads(installation)
            limits.become(TRAFFIC)
            await asyncio.sleep(2 * HOUR)
            await installation.round(15)
            assert installation.state(session) == S.RUNNING
            assert await notice(installation, session) > timedelta(minutes=5)
            # Nor when it ends: whoever leads then ends it for what was said.
            await another_leads(installation)
            await asyncio.sleep(HOUR)
            await installation.round(15)
            await installation.settle()
            assert installation.state(session) == S.TERMINATED
            causes = [cause for cause, _ in history(installation, session)]
            assert causes == ["idle_warning", "idle_warning", "idle_traffic"]

    play(story)


async def notice(installation: Installation, session: SessionId) -> timedelta:
    """How long before its end it was told."""
    ends_at = warned_of(installation, session)
    assert ends_at is not None
    return ends_at - installation.clock.now()


class OnceInIdle(Fate):
    """Counts only points that the idle controller passes: two in looking, then two in each thing that it does."""

    def point(self, name: str) -> None:
        frame = sys._getframe(1)
        while frame.f_back is not None and not frame.f_code.co_filename.endswith("controllers/idle.py"):
            frame = frame.f_back
        if frame.f_back is not None:
            super().point(name)


def test_a_leader_killed_while_it_warns_or_ends_leaves_one_warning_and_one_end(play: Play) -> None:
    async def story(installation: Installation) -> None:
        async def under_fire() -> None:
            """A round of three leaders: killed before the commit, killed after it, and left alone."""
            fates = [OnceInIdle(kill_at=3), OnceInIdle(kill_at=4)]
            await another_leads(installation)
            installation._fates.extend(fates)
            await installation.round(15)
            assert all(fate.struck.is_set() for fate in fates)

        with Limits(installation, TRAFFIC):
            session = await installation.create(cpu=100)
            await installation.settle()
            await asyncio.sleep(55 * 60)
            await under_fire()
            assert [cause for cause, _ in history(installation, session)] == ["idle_warning"]
            assert installation.state(session) == S.RUNNING
            await asyncio.sleep(10 * 60)
            await under_fire()
            await installation.settle()
            assert installation.state(session) == S.TERMINATED
            assert [cause for cause, _ in history(installation, session)] == ["idle_warning", "idle_traffic"]

    play(story)
