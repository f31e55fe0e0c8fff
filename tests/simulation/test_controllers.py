"""What single faults do to the controllers, in virtual time."""

import asyncio
import gc
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from simulation.conftest import Play
from simulation.control_planes import ControlPlane
from simulation.installation_life import Installation
from simulation.virtual_time import LoopClock, simulate

from carrel.controllers.launch import Launch
from carrel.controllers.loop import ENGINE_TOPIC, pass_on_hints, pause_s
from carrel.core.ids import LOCAL_ENGINE, SessionId
from carrel.db.listener import Listener
from carrel.engines.fake import FakeEngine, FakeWorld
from carrel.engines.port import CommandBegun, ContainerSpec, EngineError
from carrel.nodes.engines.connections import Engines
from carrel.tables.session_states import SessionState as S


def pulling(installation: Installation) -> list[SessionId]:
    """Sessions whose image is not there yet."""
    rows = installation.look.execute("SELECT id FROM sessions WHERE state = 'PREPARING'").fetchall()
    return [SessionId(row[0]) for row in rows]


def test_sessions_behind_slow_pulls_wait_for_their_turn(play: Play) -> None:
    async def story(installation: Installation) -> None:
        installation.world.pull_s = 600
        made = [await installation.create(f"image{number}:1", cpu=100) for number in range(20)]
        await installation.settle()
        assert {installation.state(session) for session in made} == {S.RUNNING}

    play(story)


def test_a_session_has_the_runtime_of_its_group_once_a_node_has_it(play: Play) -> None:
    async def story(installation: Installation) -> None:
        installation.set_group(runtime="gvisor")
        session = await installation.create()
        await installation.rounds(3, 12)
        assert installation.state(session) == S.PENDING
        (node,) = installation.world.nodes
        installation.world.nodes = [replace(node, capabilities=node.capabilities | {"runtime:gvisor"})]
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        assert installation.world.containers[installation.main_of(session)].spec.runtime == "gvisor"

    play(story)


def test_a_restart_waits_behind_no_pull(play: Play) -> None:
    async def story(installation: Installation) -> None:
        first = await installation.create("small:1", cpu=100)
        await installation.settle()
        installation.world.pull_s = 2000
        for number in range(16):
            await installation.create(f"image{number}:1", cpu=100)
        await installation.round()
        installation.world.exit(installation.main_of(first), 137)
        await installation.round()
        assert installation.state(first) == S.STARTING
        await installation.rounds(4)
        assert installation.state(first) == S.RUNNING
        assert len(pulling(installation)) == 16
        await installation.settle()

    play(story)


def test_a_restarted_session_outlives_a_long_absence_of_the_engine(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session, container = await installation.running()
        installation.world.exit(installation.main_of(session), 137)
        await installation.act(lambda plane: plane.controllers[0].step())
        assert installation.state(session) == S.STARTING
        await installation.outage(20, 120)
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        assert installation.world.containers[installation.main_of(session)] is container

    play(story)


def test_a_restart_that_fails_for_a_while_is_tried_again(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session, container = await installation.running()
        busy = EngineError("The machine is busy.", retriable=True)
        installation.world.fail_next("ensure.start", busy, times=3)
        installation.world.exit(installation.main_of(session), 137)
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        assert installation.world.containers[installation.main_of(session)] is container

    play(story)


def test_a_restart_that_fails_for_ever_ends_at_its_deadline(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session = await installation.create()
        await installation.settle()
        installation.world.fail_next("ensure.start", EngineError("No.", retriable=True), times=10_000)
        installation.world.exit(installation.main_of(session), 137)
        await installation.settle()
        assert installation.state(session) == S.ERROR

    play(story)


@pytest.mark.parametrize(("retries", "result"), [(0, "failure"), (1, "success")])
def test_a_command_that_has_begun_is_not_run_in_another_container_but_by_a_retry(
    play: Play, retries: int, result: str
) -> None:
    async def story(installation: Installation) -> None:
        installation.world.fail_next("ensure.start", CommandBegun("Its command may have run."))
        session = await installation.batch("true", retries=retries)
        await installation.settle()
        assert installation.result(session) == result
        assert len(installation.world.starts) == retries

    play(story)


def test_an_engine_that_fails_to_remove_does_not_change_why_a_session_ended(play: Play) -> None:
    async def story(installation: Installation) -> None:
        no_image = "There is no such image."
        session = await installation.create("nowhere:1")
        installation.world.fail_next("ensure.pull", EngineError(no_image, retriable=False))
        installation.world.fail_next("remove", EngineError("The device is busy.", retriable=True), times=2)
        await installation.until(session, S.TERMINATING)
        await installation.round(3)
        query = "SELECT reason, progress ->> 'text' FROM sessions WHERE id = %s"
        assert installation.look.execute(query, (session,)).fetchone() == (no_image, "The device is busy.")
        await installation.settle()
        assert installation.state(session) == S.ERROR
        assert installation.look.execute(query, (session,)).fetchone() == (no_image, None)

    play(story)


def test_a_log_that_cannot_be_read_keeps_no_session_alive(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session = await installation.create()
        await installation.settle()
        unreadable = EngineError("This log driver does not support reading.", retriable=True)
        installation.world.fail_next("logs", unreadable, times=10_000)
        await installation.remove(session)
        before = installation.clock.now()
        await installation.settle()
        assert installation.state(session) == S.TERMINATED
        assert (installation.clock.now() - before).total_seconds() < 60

    play(story)


def test_a_container_of_a_session_that_waits_is_removed_and_the_session_goes_on_waiting(play: Play) -> None:
    async def story(installation: Installation) -> None:
        large = await installation.create(cpu=8000)
        await installation.settle()
        waiting = await installation.create(cpu=8000)
        await installation.round()
        # A leader that had been replaced without knowing it made this.
        await FakeEngine(installation.world).ensure(
            ContainerSpec(installation.main_of(waiting), "debian:12", {"cpu": 8000}), lambda progress: None
        )
        await installation.settle(queue=True)
        assert installation.state(waiting) == S.PENDING
        assert [observed.id for observed in installation.seen()] == [installation.main_of(large)]

    play(story)


def test_force_hurries_an_end_that_is_under_way(play: Play) -> None:
    async def story(installation: Installation) -> None:
        graces: list[float] = []

        async def patient(container: str, *, grace_s: float, signal: str = "SIGTERM") -> None:
            graces.append(grace_s)
            await asyncio.sleep(grace_s * 100)
            await remove(container, grace_s=grace_s, signal=signal)

        session = await installation.create()
        await installation.settle()
        assert installation._plane is not None
        engines: Engines = installation._plane.controllers[0]._tools.engines  # type: ignore[attr-defined]
        engine: Any = await engines.of(LOCAL_ENGINE)
        remove, engine.remove = engine.remove, patient
        await installation.remove(session)
        await installation.round()
        await installation.remove(session, force=True)
        await installation.rounds(3)
        assert installation.state(session) == S.TERMINATED
        assert graces == [10, 0]

    play(story)


class _Announcements(Listener):
    def __init__(self) -> None:
        super().__init__("")
        self.count = 0
        self.subscribe(ENGINE_TOPIC, self._note)

    def _note(self) -> None:
        self.count += 1


def test_a_burst_of_hints_is_announced_at_once_and_not_one_by_one() -> None:
    async def main() -> None:
        world, announcements = FakeWorld(LoopClock()), _Announcements()
        passing = asyncio.create_task(pass_on_hints(FakeEngine(world), announcements))
        await asyncio.sleep(0.01)
        for number in range(300):
            world.hint(f"c{number}")
        await asyncio.sleep(0.01)
        assert announcements.count == 1
        await asyncio.sleep(60)
        assert announcements.count <= 2
        passing.cancel()

    simulate(main())


def test_a_watch_that_breaks_in_an_unforeseen_way_is_begun_again() -> None:
    class Broken(FakeEngine):
        def watch(self) -> AsyncIterator[str]:
            raise ValueError("half a line of JSON")

    async def main() -> None:
        announcements = _Announcements()
        passing = asyncio.create_task(pass_on_hints(Broken(FakeWorld(LoopClock())), announcements))
        await asyncio.sleep(10)
        assert not passing.done()
        assert announcements.count >= 5
        passing.cancel()

    simulate(main())


@pytest.mark.parametrize("failures", [0, 1, 5, 2000, 1_000_000])
def test_a_controller_that_fails_for_days_goes_on_trying(failures: int) -> None:
    assert 0 < pause_s(10.0, failures) <= 10.0


def test_the_first_failures_are_tried_again_soon() -> None:
    assert [pause_s(10.0, failures) for failures in range(1, 7)] == [1, 2, 4, 8, 10, 10]


def test_a_start_that_is_abandoned_before_it_began_leaves_nothing_unawaited(play: Play) -> None:
    """pytest makes an error of it; see filterwarnings."""

    async def story(installation: Installation) -> None:
        session = await installation.create()

        async def abandon(plane: ControlPlane) -> None:
            named = {controller.name: controller for controller in plane.controllers}
            await named["schedule"].step()
            launch = named["launch"]
            assert isinstance(launch, Launch)
            await launch.step()
            await launch.abandon(session)

        await installation.act(abandon)
        gc.collect()
        await installation.settle()
        assert installation.state(session) == S.RUNNING

    play(story)
