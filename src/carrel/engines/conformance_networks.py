"""The conformance suite of containers that belong together, an extension of `conformance`."""

from collections.abc import Sequence
from dataclasses import replace

from carrel.core.ids import new_id
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
    IDLE,
    IN_PLACE_RESTART,
    ContainerGone,
    ContainerSpec,
    EngineError,
    InitialFile,
    ObservedState,
    PrivateNetwork,
)

LISTENS = ("nc", "-ll", "-p", "7000", "-e", "hostname")
"""Answers every connection with its host name."""


def together(
    harness: EngineHarness, *hosts: str, command: tuple[str, ...] = LISTENS, node: str = ""
) -> Sequence[ContainerSpec]:
    """A container for each host name, in one new network."""
    network = new_id()
    return [
        replace(
            spec(harness, *command),
            network=PrivateNetwork(network, host, hosts),
            hostname=host,
            node=node,
        )
        for host in hosts
    ]


def waiting(harness: EngineHarness, *command: str) -> ContainerSpec:
    """A container whose command waits behind the start barrier."""
    return replace(spec(harness, *barrier.behind(command)), stdin=True)


async def start(harness: EngineHarness, *members: ContainerSpec) -> None:
    for one in members:
        await harness.engine.ensure(one, ProgressLog())


async def reaches(harness: EngineHarness, container: str, host: str) -> bytes:
    """The answer of the host; b"" if it cannot be reached."""
    return (await run(harness.engine, container, "nc", "-w", "2", host, "7000")).stdout


async def reached(harness: EngineHarness, container: str, host: str) -> None:
    """Wait until the host listens and answers."""

    async def answers() -> bool:
        return await reaches(harness, container, host) == host.encode() + b"\n"

    await eventually(harness, answers, f"{host} answers")


class NetworkConformance:
    """One test per statement of `PrivateNetwork`."""

    async def test_members_reach_each_other_by_name(self, harness: EngineHarness) -> None:
        main, sub = members = together(harness, "main1", "sub1")
        await start(harness, *members)
        await reached(harness, main.id, "sub1")
        await reached(harness, sub.id, "main1")

    async def test_nobody_else_reaches_them(self, harness: EngineHarness) -> None:
        main, sub = members = together(harness, "main1", "sub1")
        stranger, other = strangers = together(harness, "main1", "worker1")
        single = spec(harness)
        await start(harness, *members, *strangers, single)
        await reached(harness, main.id, "sub1")
        await reached(harness, stranger.id, "worker1")
        there = (await listed(harness, sub.id)).address
        assert there
        assert await reaches(harness, stranger.id, "sub1") == b""
        assert await reaches(harness, main.id, "worker1") == b""
        assert await reaches(harness, single.id, "sub1") == b""
        for outsider in (stranger.id, other.id, single.id):
            assert await reaches(harness, outsider, there) == b""

    async def test_members_come_and_go_and_come_back(self, harness: EngineHarness) -> None:
        main, sub = members = together(harness, "main1", "sub1")
        await start(harness, *members)
        await harness.engine.remove(sub.id, grace_s=0)
        assert await reaches(harness, main.id, "sub1") == b""
        again = replace(sub, id=new_id())
        await start(harness, again)
        await reached(harness, main.id, "sub1")
        await harness.engine.remove(main.id, grace_s=0)
        await harness.engine.remove(again.id, grace_s=0)
        await start(harness, *members)
        await reached(harness, main.id, "sub1")

    async def test_a_second_control_plane_continues_with_the_same_network(
        self, harness: EngineHarness
    ) -> None:
        main, sub = together(harness, "main1", "sub1")
        await start(harness, main)
        await harness.another().nodes()
        await harness.another().ensure(sub, ProgressLog())
        await reached(harness, main.id, "sub1")


class BarrierConformance:
    """One test per statement of `barrier` and `Engine.send`."""

    async def test_the_barrier_holds_the_command_until_it_is_opened(self, harness: EngineHarness) -> None:
        desired = waiting(harness, "sh", "-c", "echo began; exit 3")
        made = await harness.engine.ensure(desired, ProgressLog())
        assert made.state is ObservedState.RUNNING
        await harness.pass_time(1)
        assert (await listed(harness, desired.id)).state is ObservedState.RUNNING
        assert await whole_log(harness.engine, desired.id) == b""
        await harness.engine.send(desired.id, barrier.OPEN)

        async def ended() -> bool:
            return (await listed(harness, desired.id)).exit_code == 3

        await eventually(harness, ended, "the command ended with its exit code")
        assert await whole_log(harness.engine, desired.id) == b"began\n"

    async def test_opening_twice_begins_once_and_a_restart_waits_again(self, harness: EngineHarness) -> None:
        desired = waiting(harness, "sh", "-c", "echo began; sleep 2")
        await start(harness, desired)
        for _ in range(2):
            await harness.engine.send(desired.id, barrier.OPEN)

        async def ended() -> bool:
            return (await listed(harness, desired.id)).state is ObservedState.EXITED

        await eventually(harness, ended, "the command ended")
        assert await whole_log(harness.engine, desired.id) == b"began\n"
        await start(harness, desired)
        await harness.pass_time(1)
        assert (await listed(harness, desired.id)).state is ObservedState.RUNNING
        assert (await whole_log(harness.engine, desired.id)).count(b"began") <= 1

    async def test_a_closed_barrier_stays_closed_and_an_open_one_open(self, harness: EngineHarness) -> None:
        closed, opened = (waiting(harness, "sh", "-c", "echo began; sleep 1000") for _ in range(2))
        await start(harness, closed, opened)
        assert (await run(harness.engine, closed.id, *barrier.CLOSE)).exit_code == 0
        for one in (closed, opened):
            await harness.engine.send(one.id, barrier.OPEN)

        async def began() -> bool:
            return await whole_log(harness.engine, opened.id) == b"began\n"

        await eventually(harness, began, "the command began")
        assert (await run(harness.engine, opened.id, *barrier.CLOSE)).exit_code != 0
        assert await whole_log(harness.engine, closed.id) == b""

    async def test_nothing_is_sent_to_a_container_that_does_not_run(self, harness: EngineHarness) -> None:
        desired = waiting(harness, "sh", "-c", "echo began")
        await refused(ContainerGone, harness.engine.send(desired.id, barrier.OPEN))
        await start(harness, desired)
        await harness.engine.send(desired.id, barrier.OPEN)

        async def ended() -> bool:
            return (await listed(harness, desired.id)).state is ObservedState.EXITED

        await eventually(harness, ended, "the command ended")
        await refused(ContainerGone, harness.engine.send(desired.id, barrier.OPEN))

    async def test_nothing_is_sent_to_a_container_without_standard_input(
        self, harness: EngineHarness
    ) -> None:
        desired = spec(harness)
        await start(harness, desired)
        await refused(EngineError, harness.engine.send(desired.id, barrier.OPEN))

    async def test_a_shell_behind_the_barrier_idles(self, harness: EngineHarness) -> None:
        desired = waiting(harness, *IDLE)
        await start(harness, desired)
        await harness.engine.send(desired.id, barrier.OPEN)
        await harness.pass_time(1)
        assert (await listed(harness, desired.id)).state is ObservedState.RUNNING


class FileConformance:
    """For engines that have files."""

    async def test_files_are_there_before_the_command_and_private_ones_are_the_users(
        self, harness: EngineHarness
    ) -> None:
        files = (
            InitialFile("/etc/carrel/key", b"secret\n", private=True),
            InitialFile("/etc/carrel/hosts", b"main1\n"),
        )
        desired = replace(
            spec(harness, "sh", "-c", "cat /etc/carrel/key /etc/carrel/hosts; sleep 1000"), files=files
        )
        assert "secret" not in repr(desired)
        await start(harness, desired)

        async def printed() -> bool:
            return await whole_log(harness.engine, desired.id) == b"secret\nmain1\n"

        await eventually(harness, printed, "its command read the files")
        ran = await run(
            harness.engine,
            desired.id,
            "sh",
            "-c",
            "stat -c '%u %a' /etc/carrel /etc/carrel/key /etc/carrel/hosts",
        )
        assert ran.stdout == b"0 755\n1000 600\n0 644\n"

    async def test_a_restart_keeps_what_the_session_made_of_them(self, harness: EngineHarness) -> None:
        require(harness, IN_PLACE_RESTART)
        file = InitialFile("/etc/carrel/key", b"secret\n", private=True)
        desired = replace(spec(harness), files=(file,))
        await start(harness, desired)
        await run(harness.engine, desired.id, "sh", "-c", "echo mine > /etc/carrel/key; kill -TERM 1")

        async def ended() -> bool:
            return (await listed(harness, desired.id)).state is ObservedState.EXITED

        await eventually(harness, ended, "it stopped")
        await start(harness, desired)
        assert (await run(harness.engine, desired.id, "cat", "/etc/carrel/key")).stdout == b"mine\n"
