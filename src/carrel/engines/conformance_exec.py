"""The part of the conformance suite of engines about `exec`; `EngineConformance` has it."""

import asyncio

from carrel.core.ids import new_id
from carrel.engines.conformance_kit import (
    BOUND_S,
    MIB,
    EngineHarness,
    ProgressLog,
    Ran,
    drain,
    eventually,
    exited,
    listed,
    refused,
    run,
    running,
    spec,
)
from carrel.engines.port import (
    ContainerGone,
    ObservedState,
    TerminalSize,
)


class ExecConformance:
    """A process in a running container."""

    async def test_exec_gives_output_and_exit_code(self, harness: EngineHarness) -> None:
        container = await running(harness)
        ran = await run(harness.engine, container, "sh", "-c", "echo out; echo err >&2; exit 3")
        assert ran == Ran(3, b"out\n", b"err\n")

    async def test_exec_runs_as_the_work_user_at_home_with_the_environment(
        self, harness: EngineHarness
    ) -> None:
        container = await running(harness)
        ran = await run(
            harness.engine, container, "sh", "-c", "id -u; pwd; echo $HOME; echo $CONFORMANCE", env="x y"
        )
        assert ran.stdout.decode().split("\n") == ["1000", "/home/work", "/home/work", "x y", ""]

    async def test_exec_ends_its_input_and_keeps_its_output(self, harness: EngineHarness) -> None:
        container = await running(harness)
        ran = await run(harness.engine, container, "cat", stdin=b"over and out")
        assert ran == Ran(0, b"over and out")

    async def test_exec_carries_a_megabyte_both_ways(self, harness: EngineHarness) -> None:
        container = await running(harness)
        sent = bytes(range(256)) * 4096
        ran = await asyncio.wait_for(run(harness.engine, container, "cat", stdin=sent), BOUND_S)
        assert ran.stdout == sent

    async def test_exec_carries_output_faster_than_it_is_read(self, harness: EngineHarness) -> None:
        container = await running(harness)
        ran = await run(harness.engine, container, "head", "-c", str(8 * MIB), "/dev/zero")
        assert len(ran.stdout) == 8 * MIB

    async def test_exec_holds_back_a_writer_whose_reader_sleeps(self, harness: EngineHarness) -> None:
        container = await running(harness)
        async with harness.engine.exec(container, ("sleep", "100"), env={}, terminal=None) as process:

            async def pour() -> None:
                for _ in range(1024):
                    await process.write(bytes(MIB // 16))

            pouring = asyncio.create_task(pour())
            await asyncio.wait({pouring}, timeout=1.0)
            assert not pouring.done()
            pouring.cancel()

    async def test_a_command_that_is_not_there_says_so_and_ends_with_127(
        self, harness: EngineHarness
    ) -> None:
        container = await running(harness)
        for name in ("no-such-command", "/no/such"):
            ran = await run(harness.engine, container, name, "-x")
            assert ran == Ran(127, b"", f"There is no command {name} in this session.\n".encode())

    async def test_a_file_that_is_no_program_says_so_and_ends_with_126(self, harness: EngineHarness) -> None:
        container = await running(harness)
        ran = await run(harness.engine, container, "/etc/passwd")
        assert ran == Ran(126, b"", b"/etc/passwd may not be run as a command in this session.\n")

    async def test_a_command_that_is_not_there_says_so_on_a_terminal(self, harness: EngineHarness) -> None:
        container = await running(harness)
        command, size = ("no-such-command",), TerminalSize()
        async with harness.engine.exec(container, command, env={}, terminal=size) as process:
            output = b"".join([chunk async for fd, chunk in process.output() if fd == 1])
            assert output == b"There is no command no-such-command in this session.\r\n"
            assert await process.exit_code() == 127

    async def test_a_terminal_has_its_size_and_can_be_resized(self, harness: EngineHarness) -> None:
        container = await running(harness)
        size = TerminalSize(cols=101, rows=33)
        async with harness.engine.exec(container, ("sh",), env={"TERM": "dumb"}, terminal=size) as process:
            screen = bytearray()

            async def read() -> None:
                async for fd, chunk in process.output():
                    assert fd == 1
                    screen.extend(chunk)

            async def shows(size: TerminalSize) -> bool:
                await process.write(b"stty size\r")
                return b"%d %d" % (size.rows, size.cols) in screen

            reading = asyncio.create_task(read())
            await eventually(harness, lambda: shows(size), "the first size")
            await process.resize(TerminalSize(cols=64, rows=20))
            await eventually(harness, lambda: shows(TerminalSize(cols=64, rows=20)), "the second size")
            await process.write(b"exit 5\r")
            assert await asyncio.wait_for(process.exit_code(), BOUND_S) == 5
            await asyncio.wait_for(reading, BOUND_S)

    async def test_a_terminal_has_its_environment_and_shows_nothing_of_it(
        self, harness: EngineHarness
    ) -> None:
        container = await running(harness)
        env = {"CONFORMANCE": "it's $HOME"}
        command, size = ("sh", "-c", "echo $CONFORMANCE"), TerminalSize()
        async with harness.engine.exec(container, command, env=env, terminal=size) as process:
            output = b"".join([chunk async for _, chunk in process.output()])
            assert output == b"it's $HOME\r\n"

    async def test_leaving_exec_leaves_the_container_alone(self, harness: EngineHarness) -> None:
        container = await running(harness)
        async with harness.engine.exec(container, ("cat",), env={}, terminal=None) as process:
            await process.write(b"x")
        assert (await listed(harness, container)).state is ObservedState.RUNNING

    async def test_exec_where_nothing_runs_says_gone(self, harness: EngineHarness) -> None:
        await refused(ContainerGone, run(harness.engine, new_id(), "true"))
        desired = spec(harness, "sh", "-c", "exit 0")
        await harness.engine.ensure(desired, ProgressLog())
        await exited(harness, desired.id)
        await refused(ContainerGone, run(harness.engine, desired.id, "true"))

    async def test_a_process_ends_with_its_container(self, harness: EngineHarness) -> None:
        container = await running(harness)
        command = ("sh", "-c", "echo up; sleep 1000")
        async with harness.engine.exec(container, command, env={}, terminal=None) as process:
            output = process.output()
            assert await anext(output) == (1, b"up\n")
            await harness.engine.remove(container, grace_s=0)
            await asyncio.wait_for(drain(output), BOUND_S)
            assert await asyncio.wait_for(process.exit_code(), BOUND_S) == 137
