"""The output of real containers is collected to the last line."""

import asyncio

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
from carrel.sessions.logs.records import decode
from carrel.sessions.logs.store import LogStore


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

            await eventually(has_read, within_s=10, every_s=0.05)
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
