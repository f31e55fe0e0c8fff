"""The conformance suite of how containers begin and end: initial files, bootstrap scripts, directories, signals."""

import asyncio
from dataclasses import replace

from carrel.engines import barrier
from carrel.engines.conformance_kit import (
    EngineHarness,
    ProgressLog,
    eventually,
    listed,
    refused,
    require,
    run,
    spec,
    whole_log,
)
from carrel.engines.port import (
    BOOTSTRAP,
    BOOTSTRAP_FAILED,
    IDLE,
    IN_PLACE_RESTART,
    WORK_HOME,
    ContainerSpec,
    EngineError,
    InitialFile,
    ObservedState,
    bootstrapped,
)


def booting(harness: EngineHarness, script: str, command: tuple[str, ...] = IDLE) -> ContainerSpec:
    """A container with this bootstrap script."""
    file = InitialFile(BOOTSTRAP, f"#!/bin/sh\n{script}\n".encode(), private=True, executable=True)
    return replace(spec(harness, *bootstrapped(command)), files=(file,))


class StartConformance:
    """One test per statement of `InitialFile`, `bootstrapped`, `ContainerSpec.workdir` and `runtime`."""

    async def test_a_runtime_that_the_engine_does_not_have_is_refused(self, harness: EngineHarness) -> None:
        error = await refused(
            EngineError, harness.engine.ensure(replace(spec(harness), runtime="nothing"), ProgressLog())
        )
        assert "does not have the runtime nothing" in error.message

    async def test_initial_files_are_there(self, harness: EngineHarness) -> None:
        files = (
            InitialFile(f"{WORK_HOME}/.config/tool/settings", b"private\n", private=True),
            InitialFile("/etc/carrel/hosts", b"public\n"),
        )
        desired = replace(spec(harness), files=files)
        assert "public" not in repr(desired)
        await harness.engine.ensure(desired, ProgressLog())
        for file in files:
            assert (await run(harness.engine, desired.id, "cat", file.path)).stdout == file.content

    async def test_a_bootstrap_script_runs_before_the_command(self, harness: EngineHarness) -> None:
        desired = booting(harness, "echo prepared", ("sh", "-c", "echo began"))
        await harness.engine.ensure(desired, ProgressLog())

        async def ended() -> bool:
            return (await listed(harness, desired.id)).state is ObservedState.EXITED

        await eventually(harness, ended, "the command ended")
        assert await whole_log(harness.engine, desired.id) == b"prepared\nbegan\n"

    async def test_a_bootstrap_script_that_succeeded_is_not_repeated(self, harness: EngineHarness) -> None:
        require(harness, IN_PLACE_RESTART)
        desired = booting(harness, "echo prepared", ("sh", "-c", "echo began"))
        for count in (1, 2):
            await harness.engine.ensure(desired, ProgressLog())

            async def began(count: int = count) -> bool:
                exited = (await listed(harness, desired.id)).state is ObservedState.EXITED
                return exited and (await whole_log(harness.engine, desired.id)).count(b"began") == count

            await eventually(harness, began, "the command ended")
        assert (await whole_log(harness.engine, desired.id)).count(b"prepared") == 1

    async def test_a_failed_bootstrap_script_prevents_the_command(self, harness: EngineHarness) -> None:
        desired = booting(harness, "echo prepared; exit 3", ("sh", "-c", "echo began"))
        await harness.engine.ensure(desired, ProgressLog())

        async def ended() -> bool:
            return (await listed(harness, desired.id)).exit_code == BOOTSTRAP_FAILED

        await eventually(harness, ended, "the container ended with the exit code")
        # Their order in the log is not certain, because they are different streams.
        lines = sorted((await whole_log(harness.engine, desired.id)).splitlines())
        assert lines == [b"The bootstrap script failed with exit code 3.", b"prepared"]

    async def test_a_bootstrap_script_waits_for_the_barrier(self, harness: EngineHarness) -> None:
        booted = booting(harness, "echo prepared", ("sh", "-c", "echo began"))
        desired = replace(booted, command=barrier.behind(booted.command), stdin=True)
        await harness.engine.ensure(desired, ProgressLog())
        await harness.pass_time(1)
        assert await whole_log(harness.engine, desired.id) == b""
        await harness.engine.send(desired.id, barrier.OPEN)

        async def ended() -> bool:
            return (await listed(harness, desired.id)).state is ObservedState.EXITED

        await eventually(harness, ended, "the command ended")
        assert await whole_log(harness.engine, desired.id) == b"prepared\nbegan\n"

    async def test_a_shell_idles_after_the_bootstrap_script(self, harness: EngineHarness) -> None:
        desired = booting(harness, "echo prepared")
        await harness.engine.ensure(desired, ProgressLog())

        async def prepared() -> bool:
            return await whole_log(harness.engine, desired.id) == b"prepared\n"

        await eventually(harness, prepared, "the script ran")
        await harness.pass_time(1)
        assert (await listed(harness, desired.id)).state is ObservedState.RUNNING
        await harness.engine.remove(desired.id, grace_s=30)

    async def test_processes_begin_in_the_working_directory(self, harness: EngineHarness) -> None:
        workdir = f"{WORK_HOME}/project/src"
        desired = replace(spec(harness, "sh", "-c", "pwd; sleep 1000"), workdir=workdir)
        await harness.engine.ensure(desired, ProgressLog())
        assert (await run(harness.engine, desired.id, "pwd")).stdout == f"{workdir}\n".encode()

        async def printed() -> bool:
            return await whole_log(harness.engine, desired.id) == f"{workdir}\n".encode()

        await eventually(harness, printed, "the command began there")

    async def test_the_main_process_gets_the_signal_and_its_grace(self, harness: EngineHarness) -> None:
        for signal, command in (("SIGTERM", IDLE), ("SIGUSR2", IDLE), ("SIGINT", barrier.behind(IDLE))):
            desired = replace(spec(harness), command=command, stdin=True)
            await harness.engine.ensure(desired, ProgressLog())
            # The kernel drops signals to a first process that has no handlers yet.
            await harness.pass_time(1)
            # A process that did not end by the signal would exceed the bound of the test.
            async with asyncio.timeout(60):
                await harness.engine.remove(desired.id, grace_s=250, signal=signal)
            assert all(one.id != desired.id for one in await harness.engine.list())

    async def test_a_process_that_ignores_the_signal_is_killed_after_the_grace(
        self, harness: EngineHarness
    ) -> None:
        desired = spec(harness, "sh", "-c", "sleep 1000")
        await harness.engine.ensure(desired, ProgressLog())
        await harness.engine.remove(desired.id, grace_s=0.5, signal="SIGUSR1")
        assert all(one.id != desired.id for one in await harness.engine.list())
