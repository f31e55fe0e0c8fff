"""The output of real containers is collected to the last line."""

import asyncio
import re
from datetime import UTC, datetime

import pytest
from controller_kit import tools
from people import eventually
from tiny_image import docker_url, ensure_tiny_image

from carrel.controllers.log_collection import LogBatch, LogCollection
from carrel.core.ids import ContainerId, new_id
from carrel.db.database import Database
from carrel.db.leader import lead
from carrel.engines.conformance_kit import ProgressLog
from carrel.engines.docker import DockerEngine
from carrel.engines.docker.logs import split
from carrel.engines.port import ContainerSpec, LogRecord
from carrel.sessions.logs.blocks import unpack
from carrel.sessions.logs.following import MISSING
from carrel.sessions.logs.records import decode
from carrel.sessions.logs.store import LogStore

FLOOD = 1_500_000


def stored(logs: LogStore, container: ContainerId) -> bytes:
    members = [member for parts in logs.index(container) for member in parts]
    return b"".join(record.content for one in members for record in decode(unpack(one)))


@pytest.mark.parametrize("followed", [False, True])
async def test_what_a_container_prints_while_it_is_stopped_is_stored(
    database: Database, followed: bool
) -> None:
    leader = await lead(database.url)
    own = tools(database, leader)
    collection = LogCollection(own)
    engine = DockerEngine(docker_url(), f"logs-{new_id()}")
    container = ContainerId(new_id())
    command = (
        "sh",
        "-c",
        "trap 'i=0; while [ $i -lt 5000 ]; do echo last word $i; i=$((i+1)); done; exit 0' TERM; echo first;"
        " while :; do sleep 0.1; done",
    )
    try:
        await engine.ensure(
            ContainerSpec(container, await ensure_tiny_image(), {}, command=command), ProgressLog()
        )
        if followed:
            batch = LogBatch(own.logs, container, None)
            following = asyncio.create_task(batch.read(engine, follow=True))

            async def has_read() -> bool:
                return batch.age_s > 0

            await eventually(has_read, every_s=0.05)
            following.cancel()
        async with collection.until_gone(container, engine, exited=False):
            await engine.remove(container, grace_s=10)
        words = b"".join(b"last word %d\n" % number for number in range(5000))
        assert stored(own.logs, container) == b"first\n" + words
        assert own.logs.current_attempt(container) == 2
    finally:
        await engine.purge()
        await engine.close()
        await leader.resign()


async def test_a_flood_that_outruns_the_collector_leaves_a_notice_wherever_lines_are_missing(
    database: Database,
) -> None:
    """Docker keeps 32 to 64 MiB of it. The collector is kept from reading twice."""
    leader = await lead(database.url)
    own = tools(database, leader)
    engine = DockerEngine(docker_url(), f"logs-{new_id()}")
    container = ContainerId(new_id())
    command = ("sh", "-c", f"seq {FLOOD}; sleep 1; echo the end")
    # After so many batches the collector stands still until so much is printed.
    stalls = {20: FLOOD // 2, 200: FLOOD}
    stored_batches = 0

    async def printed() -> int:
        async for records in engine.logs(container, follow=False, tail=1):
            last = records[-1].content.strip()
            return int(last) if last.isdigit() else FLOOD
        return 0

    class Stalled(LogBatch):
        async def store(self) -> None:
            nonlocal stored_batches
            await super().store()
            stored_batches += 1
            if enough := stalls.get(stored_batches):

                async def is_printed() -> bool:
                    return await printed() >= enough

                await eventually(is_printed, within_s=60, every_s=0.1)

    try:
        image = await ensure_tiny_image()
        await engine.ensure(ContainerSpec(container, image, {}, command=command), ProgressLog())
        batch = Stalled(own.logs, container, None, datetime.now(UTC))
        async with asyncio.timeout(100):
            # The stream may end early; the controller then begins again.
            while not stored(own.logs, container).endswith(b"the end\n"):
                await batch.read(engine, follow=True)
                await batch.store()
    finally:
        await engine.purge()
        await engine.close()
        await leader.resign()
    lines = stored(own.logs, container).splitlines(keepends=True)
    assert lines[-1] == b"the end\n"
    numbers, missing_before, notices = [0], set[int](), dict[int, bytes]()
    for line in lines[:-1]:
        if line.startswith(MISSING):
            missing_before.add(len(numbers))
            notices[len(numbers)] = line
        else:
            numbers.append(int(line))
    jumps = {at for at in range(1, len(numbers)) if numbers[at] != numbers[at - 1] + 1}
    assert jumps, "nothing was lost, so nothing was tested"
    assert jumps <= missing_before
    assert all(numbers[at] > numbers[at - 1] for at in jumps), "lines were repeated"
    assert len(missing_before) <= len(jumps) + 1
    # The printer does not always run at the same speed.
    for at in jumps:
        missing = numbers[at] - numbers[at - 1] - 1
        estimate = re.search(rb"about ([\d,]+) lines \([\d.]+ [KM]iB\)", notices[at])
        assert estimate, notices[at]
        assert missing / 5 < int(estimate[1].replace(b",", b"")) < missing * 5


def test_frames_are_records_wherever_the_stream_is_cut() -> None:
    def frame(stream: int, body: bytes) -> bytes:
        return bytes([stream, 0, 0, 0]) + len(body).to_bytes(4, "big") + body

    at = b"2026-01-02T03:04:05.123456789Z"
    content = frame(1, at + b" out\n") + frame(2, at + b" err") + frame(1, at + b" \n")
    expected = [LogRecord(at, 1, b"out\n"), LogRecord(at, 2, b"err"), LogRecord(at, 1, b"\n")]
    for cut in range(len(content)):
        before, rest = split(content[:cut])
        after, left = split(rest + content[cut:])
        assert (before + after, left) == (expected, b"")
    # Podman: the time zone of its machine, without zeros at the end.
    [record] = split(frame(1, b"2026-01-02T04:04:05.5+01:00 text\n"))[0]
    assert record == LogRecord(b"2026-01-02T03:04:05.500000000Z", 1, b"text\n")
