"""What the fake engine adds to the port: hooks, scripted faults, and a world that outlives its engines."""

import asyncio
from dataclasses import replace

import pytest

from carrel.engines.fake import FakeEngine, FakeWorld, VirtualClock
from carrel.engines.port import ContainerGone, ContainerSpec, EngineError, ObservedState, Progress

SPEC = ContainerSpec("abc", "image:1", {"cpu": 1000, "mem": 1 << 30})


class Killed(BaseException):
    """Stands for the death of the control plane."""


def quiet(progress: Progress) -> None:
    pass


async def steps_of_a_life(world: FakeWorld) -> list[str]:
    seen: list[str] = []
    world.before = lambda step: seen.append(f"before {step}")
    world.after = lambda step: seen.append(f"after {step}")
    await life(world)
    return seen


async def life(world: FakeWorld) -> None:
    engine = FakeEngine(world)
    await engine.ensure(SPEC, quiet)
    await engine.list()
    await engine.remove("abc", grace_s=0)


async def test_every_call_and_step_can_be_hooked() -> None:
    seen = await steps_of_a_life(FakeWorld())
    steps = ["ensure.pull", "ensure.create", "ensure.start"]
    inner = [f"{when} {step}" for step in steps for when in ("before", "after")]
    removing = [f"{when} {step}" for step in ("remove.stop", "remove.delete") for when in ("before", "after")]
    calls = ["before list", "after list", "before remove", *removing, "after remove"]
    assert seen == ["before ensure", *inner, "after ensure", *calls]


@pytest.mark.parametrize("moment", range(16))
async def test_a_kill_at_any_moment_leaves_what_another_engine_can_finish(moment: int) -> None:
    world, left = FakeWorld(), [moment]

    def count_down(step: str) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Killed(step)

    world.before = world.after = count_down
    with pytest.raises(Killed):
        await life(world)
    world.before = world.after = lambda step: None
    made = await FakeEngine(world).ensure(SPEC, quiet)
    assert made.state is ObservedState.RUNNING
    assert len(await FakeEngine(world).list()) == 1


async def test_scripted_faults_strike_as_often_as_asked() -> None:
    world = FakeWorld()
    world.fail_next("ensure.start", EngineError("Busy.", retriable=True), times=2)
    engine = FakeEngine(world)
    for _ in range(2):
        with pytest.raises(EngineError, match="Busy"):
            await engine.ensure(SPEC, quiet)
        assert [one.state for one in await engine.list()] == [ObservedState.STARTING]
    assert (await engine.ensure(SPEC, quiet)).state is ObservedState.RUNNING


async def test_virtual_time_moves_pulls_and_main_processes() -> None:
    clock = VirtualClock()
    world = FakeWorld(clock)
    world.pull_s = 10
    engine = FakeEngine(world)
    script = ("sh", "-c", "sleep 5; exit 3")
    making = asyncio.create_task(engine.ensure(ContainerSpec("abc", "image:1", {}, command=script), quiet))
    await clock.advance(9)
    assert await engine.list() == ()
    await clock.advance(2)
    assert (await making).state is ObservedState.RUNNING
    await clock.advance(5)
    assert [one.exit_code for one in await engine.list()] == [3]


async def test_a_restarted_world_has_its_containers_stopped() -> None:
    world = FakeWorld()
    engine = FakeEngine(world)
    await engine.ensure(SPEC, quiet)
    world.restart()
    assert [one.state for one in await engine.list()] == [ObservedState.EXITED]


async def test_an_interactive_shell_answers_line_by_line() -> None:
    engine = FakeEngine()
    await engine.ensure(SPEC, quiet)
    async with engine.exec("abc", ("sh",), env={"NAME": "Ada"}, terminal=None) as process:
        await process.write(b"echo hello $NAME\nfalse || echo other\nexit 4\n")
        assert b"".join([chunk async for _, chunk in process.output()]) == b"hello Ada\nother\n"
        assert await process.exit_code() == 4


async def test_what_is_on_a_node_that_is_gone_is_out_of_reach_and_there_again_with_it():
    world = FakeWorld()
    engine, there = FakeEngine(world), world.nodes
    spec = ContainerSpec("abcdefghijkl", "debian:12", {"cpu": 1000}, node="local")
    await engine.ensure(spec, quiet)
    world.nodes = [replace(there[0], name="other")]
    assert not await engine.list()
    assert not await engine.usage()
    with pytest.raises(ContainerGone):
        [chunk async for chunk in engine.logs(spec.id, follow=False, tail=None)]
    with pytest.raises(EngineError):
        await engine.ensure(spec, quiet)
    await engine.remove(spec.id, grace_s=0)
    world.nodes = there
    assert [observed.id for observed in await engine.list()] == [spec.id]
    # Made again elsewhere meanwhile, the old one never comes back.
    world.nodes = [replace(there[0], name="other")]
    await engine.ensure(replace(spec, node="other"), quiet)
    world.nodes = [*world.nodes, *there]
    assert [world.containers[observed.id].spec.node for observed in await engine.list()] == ["other"]
