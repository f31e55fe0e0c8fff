"""The conformance suite of engines.

A test module subclasses `EngineConformance` and provides a fixture `harness`; pytest collects the methods, and this
module does not import it. Tests wait by bounded polling through the harness, so an engine with virtual time passes
without delay.
"""

import asyncio
import re
from collections.abc import Awaitable, Sequence
from dataclasses import replace

from carrel.core.ids import new_id
from carrel.engines.conformance_exec import ExecConformance
from carrel.engines.conformance_kit import (
    BOUND_S,
    CONDITIONAL,
    MIB,
    POLL_S,
    EngineHarness,
    FaultyHarness,
    HarnessListener,
    ProgressLog,
    drain,
    eventually,
    exited,
    listed,
    log_records,
    look,
    refused,
    require,
    run,
    running,
    spec,
    whole_log,
)
from carrel.engines.port import (
    IN_PLACE_RESTART,
    LOCAL_IMAGES,
    LOG_STREAMS,
    OOM_EVENTS,
    STARTED_BEFORE,
    ContainerGone,
    ContainerUsage,
    EngineError,
    EngineUnavailable,
    ImageUnusable,
    ObservedState,
    run_once,
)

_RECORD_TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z")


class EngineConformance(ExecConformance):
    """One test per statement of the port's table and docstrings."""

    # nodes

    async def test_nodes_tell_name_architecture_and_slots(self, harness: EngineHarness) -> None:
        nodes = await harness.engine.nodes()
        assert nodes
        for node in nodes:
            assert node.name
            assert node.architecture
            assert node.engine
            assert node.slots["cpu"] > 0
            assert node.slots["mem"] > 0
        assert [node.name for node in await harness.engine.nodes()] == [node.name for node in nodes]

    async def test_nodes_declare_what_this_suite_tests(self, harness: EngineHarness) -> None:
        for node in await harness.engine.nodes():
            assert CONDITIONAL - node.capabilities == harness.lacks

    # ensure

    async def test_ensure_returns_a_running_container_with_an_address(self, harness: EngineHarness) -> None:
        desired, progress = spec(harness), ProgressLog()
        made = await harness.engine.ensure(desired, progress)
        assert made.id == desired.id
        assert made.state is ObservedState.RUNNING
        assert made.address
        assert made.epoch == 7
        assert made.exit_code is None
        assert made.started_at is not None
        assert progress.phases == ["start"]
        assert await look(harness.engine, desired.id) == made

    async def test_ensure_again_changes_nothing(self, harness: EngineHarness) -> None:
        desired = spec(harness)
        first = await harness.engine.ensure(desired, ProgressLog())
        assert await harness.engine.ensure(desired, ProgressLog()) == first
        assert len(await harness.engine.list()) == 1

    async def test_ensure_at_the_same_time_makes_one_container(self, harness: EngineHarness) -> None:
        desired = spec(harness)
        calls = (engine.ensure(desired, ProgressLog()) for engine in (harness.engine, harness.another()))
        made = await asyncio.gather(*calls)
        assert {one.state for one in made} == {ObservedState.RUNNING}
        assert len(await harness.engine.list()) == 1

    async def test_ensure_starts_what_has_stopped(self, harness: EngineHarness) -> None:
        desired = spec(harness, "sh", "-c", "sleep 0.2; exit 0")
        await harness.engine.ensure(desired, ProgressLog())
        await exited(harness, desired.id)
        again = await harness.engine.ensure(desired, ProgressLog())
        assert again.state is ObservedState.RUNNING

    async def test_ensure_never_starts_again_what_runs_once(self, harness: EngineHarness) -> None:
        desired = replace(spec(harness, "sh", "-c", "echo ran; sleep 0.2; exit 3"), once=True)
        await harness.engine.ensure(desired, ProgressLog())
        await exited(harness, desired.id)
        again = await harness.another().ensure(desired, ProgressLog())
        assert (again.state, again.exit_code) == (ObservedState.EXITED, 3)
        assert await whole_log(harness.engine, desired.id) == b"ran\n"

    async def test_a_start_that_the_engine_forgot_does_not_run_the_command_again(
        self, harness: EngineHarness
    ) -> None:
        require(harness, IN_PLACE_RESTART)
        idle = spec(harness)
        # Not `once`, so the engine starts it again.
        desired = replace(idle, command=run_once(idle.id, ("sh", "-c", "echo ran; exit 3")))
        await harness.engine.ensure(desired, ProgressLog())
        assert (await exited(harness, desired.id)).exit_code == 3
        await harness.engine.ensure(desired, ProgressLog())
        assert (await exited(harness, desired.id)).exit_code == STARTED_BEFORE
        assert (await whole_log(harness.engine, desired.id)).splitlines().count(b"ran") == 1

    async def test_ensure_without_permission_starts_nothing(self, harness: EngineHarness) -> None:
        desired = replace(spec(harness, "echo", "ran"), once=True)

        async def refuse() -> None:
            raise EngineError("Another leader was elected.", retriable=False)

        await refused(EngineError, harness.engine.ensure(desired, ProgressLog(), refuse))
        created = await look(harness.engine, desired.id)
        assert created is None or created.started_at is None
        await harness.engine.ensure(desired, ProgressLog())
        await exited(harness, desired.id)
        assert await whole_log(harness.engine, desired.id) == b"ran\n"

    async def test_ensure_given_up_half_way_can_be_repeated(self, harness: EngineHarness) -> None:
        desired = spec(harness)
        attempt = asyncio.create_task(harness.engine.ensure(desired, ProgressLog()))
        await asyncio.sleep(0)
        attempt.cancel()
        await asyncio.wait({attempt})
        made = await harness.another().ensure(desired, ProgressLog())
        assert made.state is ObservedState.RUNNING
        assert len(await harness.engine.list()) == 1

    async def test_ensure_pulls_a_missing_image_with_progress(self, harness: EngineHarness) -> None:
        desired, progress = spec(harness, image=harness.pullable_image), ProgressLog()
        made = await harness.engine.ensure(desired, progress)
        assert made.state is ObservedState.RUNNING
        phases = progress.phases
        assert phases == ["pull"] * phases.count("pull") + ["start"]
        assert phases.count("pull") >= 2
        fractions = [one.fraction for one in progress.seen if one.fraction is not None]
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1.0

    async def test_a_second_waiter_for_the_same_pull_gets_its_container(self, harness: EngineHarness) -> None:
        desired = [spec(harness, image=harness.pullable_image) for _ in range(2)]
        made = await asyncio.gather(*(harness.engine.ensure(one, ProgressLog()) for one in desired))
        assert {one.state for one in made} == {ObservedState.RUNNING}

    async def test_an_unknown_image_is_refused_by_name(self, harness: EngineHarness) -> None:
        desired = spec(harness, image=harness.unknown_image)
        error = await refused(ImageUnusable, harness.engine.ensure(desired, ProgressLog()))
        assert harness.unknown_image in error.message
        assert not error.retriable
        await harness.engine.remove(desired.id, grace_s=0)

    async def test_a_missing_image_of_this_machine_is_asked_of_no_registry(
        self, harness: EngineHarness
    ) -> None:
        desired, progress = spec(harness, image=f"{LOCAL_IMAGES}carrel/nowhere:1"), ProgressLog()
        error = await refused(ImageUnusable, harness.engine.ensure(desired, progress))
        assert "no registry has it" in error.message
        assert progress.seen == []

    async def test_an_image_without_a_shell_is_refused(self, harness: EngineHarness) -> None:
        desired = spec(harness, image=harness.shellless_image)
        error = await refused(ImageUnusable, harness.engine.ensure(desired, ProgressLog()))
        assert "shell" in error.message
        await harness.engine.remove(desired.id, grace_s=0)
        assert await harness.engine.list() == ()

    # remove

    async def test_removed_is_gone_and_removing_again_succeeds(self, harness: EngineHarness) -> None:
        desired = spec(harness)
        await harness.engine.ensure(desired, ProgressLog())
        await harness.engine.remove(desired.id, grace_s=5)
        assert await harness.engine.list() == ()
        await harness.engine.remove(desired.id, grace_s=5)
        await harness.engine.remove(new_id(), grace_s=0)

    async def test_removing_at_the_same_time_succeeds_for_both(self, harness: EngineHarness) -> None:
        desired = spec(harness)
        await harness.engine.ensure(desired, ProgressLog())
        engines = (harness.engine, harness.another())
        await asyncio.gather(*(engine.remove(desired.id, grace_s=1) for engine in engines))
        assert await harness.engine.list() == ()

    async def test_an_id_can_be_used_again_after_remove(self, harness: EngineHarness) -> None:
        desired = spec(harness)
        await harness.engine.ensure(desired, ProgressLog())
        await harness.engine.remove(desired.id, grace_s=0)
        made = await harness.engine.ensure(desired, ProgressLog())
        assert made.state is ObservedState.RUNNING

    # list and watch

    async def test_another_control_plane_finds_the_same_containers(self, harness: EngineHarness) -> None:
        desired = [spec(harness), spec(harness, "sh", "-c", "exit 4")]
        for one in desired:
            await harness.engine.ensure(one, ProgressLog())
        await exited(harness, desired[1].id)
        seen = {one.id: one for one in await harness.another().list()}
        assert seen.keys() == {one.id for one in desired}
        assert seen[desired[0].id].address == (await listed(harness, desired[0].id)).address
        assert seen[desired[1].id].exit_code == 4

    async def test_what_vanished_is_absent(self, harness: EngineHarness) -> None:
        desired = spec(harness)
        await harness.engine.ensure(desired, ProgressLog())
        await harness.engine.list()
        await harness.vanish(desired.id)
        assert await harness.engine.list() == ()

    async def test_every_watcher_hears_of_changes(self, harness: EngineHarness) -> None:
        listeners = [HarnessListener(harness.engine), HarnessListener(harness.engine)]
        await harness.pass_time(POLL_S)
        desired = spec(harness)
        await harness.engine.ensure(desired, ProgressLog())
        for listener in listeners:
            await eventually(harness, lambda one=listener: one.has_heard(desired.id), "heard of the start")  # type: ignore[misc]
            listener.heard.clear()
        await harness.engine.remove(desired.id, grace_s=0)
        for listener in listeners:
            await eventually(harness, lambda one=listener: one.has_heard(desired.id), "heard of the end")  # type: ignore[misc]
            listener.task.cancel()

    async def test_watchers_hear_of_an_exit(self, harness: EngineHarness) -> None:
        desired = spec(harness, "sh", "-c", "sleep 0.3; exit 3")
        await harness.engine.ensure(desired, ProgressLog())
        listener = HarnessListener(harness.engine)
        await exited(harness, desired.id)
        await eventually(harness, lambda: listener.has_heard(desired.id), "heard of the exit")
        listener.task.cancel()

    async def test_the_exit_code_of_the_main_process_is_kept(self, harness: EngineHarness) -> None:
        desired = spec(harness, "sh", "-c", "exit 3")
        await harness.engine.ensure(desired, ProgressLog())
        ended = await exited(harness, desired.id)
        assert ended.exit_code == 3
        assert ended.address is None
        assert not ended.out_of_memory

    async def test_a_child_killed_by_the_memory_limit_is_told(self, harness: EngineHarness) -> None:
        require(harness, OOM_EVENTS)
        desired = spec(harness, mem_bytes=32 * MIB)
        made = await harness.engine.ensure(desired, ProgressLog())
        assert not made.out_of_memory
        assert not (await listed(harness, desired.id)).out_of_memory
        await harness.exhaust_memory(desired.id)

        async def reported() -> bool:
            seen = await look(harness.engine, desired.id)
            return seen is not None and seen.out_of_memory

        await eventually(harness, reported, "out of memory was reported")
        assert (await listed(harness, desired.id)).state is ObservedState.RUNNING

    # logs

    async def test_logs_keep_both_streams_after_the_end(self, harness: EngineHarness) -> None:
        desired = spec(harness, "sh", "-c", "echo one; echo two >&2; echo three")
        await harness.engine.ensure(desired, ProgressLog())
        await exited(harness, desired.id)
        assert sorted((await whole_log(harness.engine, desired.id)).split()) == [b"one", b"three", b"two"]
        assert await whole_log(harness.engine, desired.id) == await whole_log(harness.engine, desired.id)
        assert len((await whole_log(harness.engine, desired.id, tail=1)).split()) == 1
        assert await whole_log(harness.engine, desired.id, tail=0) == b""

    async def test_logs_tell_streams_and_times_apart(self, harness: EngineHarness) -> None:
        require(harness, LOG_STREAMS)
        desired = spec(harness, "sh", "-c", "echo out; sleep 0.5; echo err >&2; sleep 0.5; echo end")
        await harness.engine.ensure(desired, ProgressLog())
        await exited(harness, desired.id)
        records = await log_records(harness.engine, desired.id)
        assert [(one.stream, one.content) for one in records] == [(1, b"out\n"), (2, b"err\n"), (1, b"end\n")]
        times = [one.at for one in records]
        assert times == sorted(times)
        assert all(_RECORD_TIME.fullmatch(at) for at in times), times
        assert await log_records(harness.engine, desired.id, since=times[1]) == records[1:]
        assert await log_records(harness.engine, desired.id, since=times[0], follow=True) == records

    async def test_log_of_a_restarted_container_goes_on(self, harness: EngineHarness) -> None:
        require(harness, IN_PLACE_RESTART)
        desired = spec(harness, "sh", "-c", "echo once")
        await harness.engine.ensure(desired, ProgressLog())
        await exited(harness, desired.id)
        first = await log_records(harness.engine, desired.id)
        await harness.pass_time(0.01)
        await harness.engine.ensure(desired, ProgressLog())
        await exited(harness, desired.id)
        assert (await log_records(harness.engine, desired.id))[: len(first)] == first
        assert await whole_log(harness.engine, desired.id) == b"once\nonce\n"

    async def test_followed_logs_go_on_until_the_end(self, harness: EngineHarness) -> None:
        desired = spec(harness, "sh", "-c", "echo first; sleep 0.5; echo last")
        await harness.engine.ensure(desired, ProgressLog())
        following = asyncio.create_task(whole_log(harness.engine, desired.id, follow=True))
        await exited(harness, desired.id)
        assert await asyncio.wait_for(following, BOUND_S) == b"first\nlast\n"

    async def test_logs_of_what_is_not_there_say_gone(self, harness: EngineHarness) -> None:
        await refused(ContainerGone, whole_log(harness.engine, new_id()))

    # usage

    async def test_usage_counts_up_and_leaves_out_what_ended(self, harness: EngineHarness) -> None:
        container = await running(harness)
        ended = spec(harness, "sh", "-c", "exit 0")
        await harness.engine.ensure(ended, ProgressLog())
        await exited(harness, ended.id)
        first = {one.id: one for one in await harness.engine.usage()}
        assert first.keys() == {container}
        assert 0 < first[container].mem_bytes < 64 * MIB
        await run(harness.engine, container, "head", "-c", str(MIB), "/dev/zero")
        await harness.pass_time(1.0)
        later = {one.id: one for one in await harness.engine.usage()}
        assert later[container].cpu_ns > first[container].cpu_ns

    async def test_usage_has_transfers_and_disk_space_or_says_that_nobody_measures_them(
        self, harness: EngineHarness
    ) -> None:
        container = await running(harness)
        await harness.transfer(container)
        # Without cached measurements.
        engine = harness.another()

        async def reading() -> ContainerUsage:
            return next(one for one in await engine.usage() if one.id == container)

        async def has_disk_space() -> bool:
            return (await reading()).disk_bytes is not None

        first = await reading()
        assert first.write_bytes is None or first.write_bytes >= 4 * MIB
        assert first.tx_bytes is None or first.tx_bytes > 0
        if harness.measures_disk:
            await eventually(harness, has_disk_space, "disk space was measured")
            assert 4 * MIB <= ((await reading()).disk_bytes or 0) < 8 * MIB
        else:
            assert not await has_disk_space()
        await harness.transfer(container)
        later = await reading()
        for counter in ("read_bytes", "write_bytes", "rx_bytes", "tx_bytes"):
            before, after = getattr(first, counter), getattr(later, counter)
            assert before is None or (after is not None and after >= before), counter


class EngineFaultConformance:
    """The behaviour of engines during and after an outage."""

    async def test_an_engine_that_is_away_says_so_everywhere(self, harness: FaultyHarness) -> None:
        desired = spec(harness)
        await harness.engine.ensure(desired, ProgressLog())
        await harness.go_away()
        attempts: Sequence[Awaitable[object]] = (
            harness.engine.nodes(),
            harness.engine.list(),
            harness.engine.usage(),
            harness.engine.remove(desired.id, grace_s=0),
            harness.engine.ensure(desired, ProgressLog()),
            run(harness.engine, desired.id, "true"),
            whole_log(harness.engine, desired.id),
        )
        for attempt in attempts:
            error = await refused(EngineUnavailable, attempt)
            assert error.retriable
        await harness.come_back()

    async def test_watchers_end_when_the_engine_goes_away(self, harness: FaultyHarness) -> None:
        listener = HarnessListener(harness.engine)
        desired = spec(harness)
        await harness.engine.ensure(desired, ProgressLog())
        await eventually(harness, lambda: listener.has_heard(desired.id), "listening")
        await harness.go_away()
        await asyncio.wait_for(listener.task, BOUND_S)
        await asyncio.wait_for(HarnessListener(harness.engine).task, BOUND_S)
        await harness.come_back()
        again = HarnessListener(harness.engine)
        await harness.pass_time(POLL_S)
        await harness.engine.remove(desired.id, grace_s=0)
        await eventually(harness, lambda: again.has_heard(desired.id), "listening again")
        again.task.cancel()

    async def test_containers_are_found_and_started_after_a_restart(self, harness: FaultyHarness) -> None:
        desired = spec(harness)
        await harness.engine.ensure(desired, ProgressLog())
        await harness.go_away()
        await harness.come_back()
        assert await look(harness.engine, desired.id) is not None
        made = await harness.engine.ensure(desired, ProgressLog())
        assert made.state is ObservedState.RUNNING
        assert (await run(harness.engine, desired.id, "echo", "back")).stdout == b"back\n"

    async def test_an_open_process_does_not_outlive_a_restart_unnoticed(self, harness: FaultyHarness) -> None:
        desired = spec(harness)
        await harness.engine.ensure(desired, ProgressLog())
        async with harness.engine.exec(desired.id, ("sleep", "1000"), env={}, terminal=None) as process:
            await harness.go_away()
            ended = asyncio.create_task(drain(process.output()))
            await harness.come_back()
            await asyncio.wait_for(ended, BOUND_S)
