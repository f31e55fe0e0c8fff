"""Builds of files of users by a real daemon: limited, without what others have, and gone when they are stopped."""

import asyncio
import io
import tarfile
from dataclasses import replace

import aiodocker
import pytest
from people import eventually
from tiny_image import ensure_tiny_image

from carrel.core.ids import new_id
from carrel.engines.conformance_kit import refused
from carrel.engines.docker import DockerEngine
from carrel.engines.optional import BuildLimits, BuildOutput, CommittedImage
from carrel.engines.port import EngineError

_LIMITS = BuildLimits(cpu_millis=500, mem_bytes=256 << 20, disk_bytes=1 << 30, time_s=120)


async def build(
    engine: DockerEngine,
    reference: str,
    key: str,
    group: str,
    *lines: str,
    limits: BuildLimits = _LIMITS,
    output: list[BuildOutput] | None = None,
) -> CommittedImage:
    marks = engine.build_marks(group, key)
    image = await ensure_tiny_image()
    text = "\n".join((f"FROM {image}", marks.stage, "USER root", *lines, marks.image)).encode()
    with io.BytesIO() as context:
        with tarfile.open(fileobj=context, mode="w") as archive:
            entry = tarfile.TarInfo("Dockerfile")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
        context.seek(0)
        sink = output.append if output is not None else _ignored
        return await engine.build(
            context, reference, key, group=group, arguments={}, limits=limits, output=sink
        )


def _ignored(_: BuildOutput) -> None: ...


async def of_group(docker: aiodocker.Docker, group: str) -> tuple[list[object], list[object]]:
    """Containers, and images without a reference."""
    chosen = {"label": [f"carrel.build={group}"]}
    containers = await docker.containers.list(all=True, filters=chosen)
    images = await docker.images.list(filters={**chosen, "dangling": ["true"]})
    return list(containers), list(images)


async def discarded(engine: DockerEngine, docker: aiodocker.Docker, group: str) -> None:
    """Discard what there is of the group, once the daemon has ended its build."""

    async def gone() -> bool:
        await engine.discard_builds(group)
        return await of_group(docker, group) == ([], []) and not await engine.builds()

    await eventually(gone)


async def test_a_build_is_limited_cached_for_its_group_and_discarded_as_a_commit(
    docker_engine: DockerEngine, docker: aiodocker.Docker
) -> None:
    group, key = new_id(), new_id()
    reference = f"localhost/carrel/environments/{key}:1"
    lines = (
        "RUN cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/cpu.max 2>/dev/null"
        " || cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/cpu/cpu.cfs_quota_us",
        "RUN head -c 100000 /dev/zero > /made",
    )
    output: list[BuildOutput] = []
    made = await build(docker_engine, reference, key, group, *lines, output=output)
    text = "\n".join(line.text for line in output)
    assert str(256 << 20) in text
    assert "50000" in text
    assert (
        await docker_engine.build_base(await ensure_tiny_image(), None, _ignored)
    ) + 100_000 == made.added_bytes
    assert made.image.labels["carrel.commit"] == key
    assert set(await docker_engine.commits()) == {key}
    assert group in await docker_engine.builds()

    output = []
    await build(docker_engine, reference, key, group, *lines, output=output)
    assert sum("Using cache" in line.text for line in output) >= 4
    output = []
    other = new_id()
    await build(
        docker_engine, f"localhost/carrel/environments/{other}:1", other, other, *lines, output=output
    )
    assert not any("Using cache" in line.text for line in output), "steps of others are not used"

    for one in (key, other):
        await docker_engine.discard_commit(one)
    assert not await docker_engine.commits()
    assert await of_group(docker, group) == ([], [])
    assert not await docker_engine.builds()


async def test_nothing_goes_on_of_a_build_that_is_cancelled(
    docker_engine: DockerEngine, docker: aiodocker.Docker
) -> None:
    group, key = new_id(), new_id()
    output: list[BuildOutput] = []
    lines = ("RUN echo a > /a", "RUN echo started && sleep 300")
    building = asyncio.create_task(
        build(docker_engine, f"localhost/x/{key}:1", key, group, *lines, output=output)
    )

    async def started() -> bool:
        return any(line.text == "started" for line in output)

    await eventually(started)
    assert (await of_group(docker, group))[0]
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building
    await discarded(docker_engine, docker, group)
    assert not await docker_engine.commits()


async def test_a_step_that_fails_takes_too_long_or_too_much_memory_ends_the_build(
    docker_engine: DockerEngine, docker: aiodocker.Docker
) -> None:
    group, key = new_id(), new_id()
    reference = f"localhost/x/{key}:1"
    output: list[BuildOutput] = []
    failing = build(
        docker_engine, reference, key, group, "RUN echo reason-$((3+4)) >&2 && exit 3", output=output
    )
    error = await refused(EngineError, failing)
    assert error.code == "build_failed"
    assert "returned a non-zero code: 3" in error.message
    assert any("reason-7" in line.text for line in output)
    brief = BuildLimits(cpu_millis=500, mem_bytes=64 << 20, disk_bytes=1 << 30, time_s=2)
    error = await refused(
        EngineError, build(docker_engine, reference, key, group, "RUN sleep 60", limits=brief)
    )
    assert "longer than" in error.message
    much = build(docker_engine, reference, key, group, "RUN head -c 900m /dev/zero | tail", limits=_LIMITS)
    error = await refused(EngineError, much)
    assert error.code == "build_failed"
    await docker_engine.discard_builds(group)
    assert await of_group(docker, group) == ([], [])


async def test_what_a_build_writes_is_limited_also_between_stages(
    docker_engine: DockerEngine, docker: aiodocker.Docker
) -> None:
    group, key = new_id(), new_id()
    reference = f"localhost/x/{key}:1"
    image, marks = await ensure_tiny_image(), docker_engine.build_marks(group, key)
    small = replace(_LIMITS, disk_bytes=80 << 20)
    first = "RUN head -c 30m /dev/zero >/big"
    copies = [f"COPY --from=0 /big /{number}" for number in range(2)]
    stages = (first, f"FROM {image}", marks.stage, "USER root", *copies)
    error = await refused(EngineError, build(docker_engine, reference, key, group, *stages, limits=small))
    assert (error.code, error.retriable) == ("build_failed", False)
    assert "The build wrote more than" in error.message
    await docker_engine.discard_commit(key)
    await discarded(docker_engine, docker, group)

    await build(docker_engine, reference, key, group, *stages[:-1], limits=small)
    # Steps of an image that is kept count in the quota, so not here too.
    other = new_id()
    again = f"localhost/x/{other}:1"
    await build(docker_engine, again, other, group, *stages[:-1], first, limits=small)
    for one in (key, other):
        await docker_engine.discard_commit(one)
    await docker_engine.discard_builds(group)
    assert await of_group(docker, group) == ([], [])


async def test_copies_are_stopped_while_a_later_step_runs(
    docker_engine: DockerEngine, docker: aiodocker.Docker
) -> None:
    group, key = new_id(), new_id()
    image, marks = await ensure_tiny_image(), docker_engine.build_marks(group, key)
    small = replace(_LIMITS, disk_bytes=40 << 20)
    stages = ("RUN head -c 30m /dev/zero >/big", f"FROM {image}", marks.stage, "USER root")
    steps = (*stages, "COPY --from=0 /big /one", "RUN sleep 100", "RUN exit 1")
    error = await refused(
        EngineError, build(docker_engine, f"localhost/x/{key}:1", key, group, *steps, limits=small)
    )
    assert "The build wrote more than" in error.message
    await discarded(docker_engine, docker, group)


async def test_a_step_has_the_network_of_a_session(docker_engine: DockerEngine) -> None:
    group, key = new_id(), new_id()
    output: list[BuildOutput] = []
    await build(docker_engine, f"localhost/x/{key}:1", key, group, "RUN ip addr show eth0", output=output)
    assert any("10.213." in line.text for line in output), output
    await docker_engine.discard_commit(key)
