"""The conformance suite of optional capabilities.

Tests of protocols that the engine lacks are skipped, and so reported. See `conformance`.
"""

import io
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from typing import NoReturn, Protocol, runtime_checkable
from unittest import SkipTest

from carrel.core.ids import new_id
from carrel.engines.conformance_kit import (
    MIB,
    EngineHarness,
    ProgressLog,
    exited,
    refused,
    run,
    running,
    spec,
)
from carrel.engines.optional import (
    BuildOutput,
    Committing,
    HostMetering,
    ImageBuilding,
    ImageInfo,
    ImageListing,
    ImageStore,
    LiveLimits,
    Pausing,
    Reporting,
)
from carrel.engines.port import (
    WORK_HOME,
    ContainerGone,
    EngineError,
    ImageUnusable,
    InitialFile,
    ObservedState,
)
from carrel.engines.references import canonical


@runtime_checkable
class LimitsHarness(Protocol):
    """A harness that can read the enforced limits of a container."""

    async def limits(self, container: str) -> Mapping[str, int]:
        """The enforced limits: cpu in millicores, mem in bytes."""
        ...


def images_of(harness: EngineHarness) -> ImageStore:
    """The engine as an image store. Raises: SkipTest if it is not; so do the other functions."""
    return harness.engine if isinstance(harness.engine, ImageStore) else _skip("ImageStore")


def building(harness: EngineHarness) -> ImageBuilding:
    return harness.engine if isinstance(harness.engine, ImageBuilding) else _skip("ImageBuilding")


def committing(harness: EngineHarness) -> Committing:
    return harness.engine if isinstance(harness.engine, Committing) else _skip("Committing")


def limiting(harness: EngineHarness) -> LiveLimits:
    return harness.engine if isinstance(harness.engine, LiveLimits) else _skip("LiveLimits")


def pausing(harness: EngineHarness) -> Pausing:
    return harness.engine if isinstance(harness.engine, Pausing) else _skip("Pausing")


def metering(harness: EngineHarness) -> HostMetering:
    return harness.engine if isinstance(harness.engine, HostMetering) else _skip("HostMetering")


def reporting(harness: EngineHarness) -> Reporting:
    return harness.engine if isinstance(harness.engine, Reporting) else _skip("Reporting")


def _skip(protocol: str) -> NoReturn:
    raise SkipTest(f"this engine has no {protocol}")


class OptionalConformance:
    """One test per statement of `optional`'s table and docstrings."""

    # images

    async def test_an_image_that_is_there_tells_what_it_is(self, harness: EngineHarness) -> None:
        images = images_of(harness)
        image = await images.image(harness.image)
        assert image.id
        assert image.architecture
        assert image.size_bytes > 0
        assert await images.image(harness.image) == image

    async def test_an_image_that_is_not_there_is_not_looked_for_elsewhere(
        self, harness: EngineHarness
    ) -> None:
        images = images_of(harness)
        for missing in (harness.pullable_image, harness.unknown_image):
            error = await refused(ImageUnusable, images.image(missing))
            assert missing in error.message

    async def test_a_pulled_image_is_there_and_a_removed_one_is_not(self, harness: EngineHarness) -> None:
        images, progress = images_of(harness), ProgressLog()
        pulled = await images.pull_image(harness.pullable_image, progress)
        assert {one.phase for one in progress.seen} == {"pull"}
        assert await images.image(harness.pullable_image) == pulled
        await images.remove_image(harness.pullable_image)
        await refused(ImageUnusable, images.image(harness.pullable_image))
        await images.remove_image(harness.pullable_image)

    async def test_an_unknown_image_cannot_be_pulled(self, harness: EngineHarness) -> None:
        images = images_of(harness)
        await refused(ImageUnusable, images.pull_image(harness.unknown_image, ProgressLog()))

    async def test_an_image_that_a_container_needs_is_kept(self, harness: EngineHarness) -> None:
        images = images_of(harness)
        desired = spec(harness, image=harness.pullable_image)
        await harness.engine.ensure(desired, ProgressLog())
        error = await refused(EngineError, images.remove_image(harness.pullable_image))
        assert error.code == "image_in_use"
        await images.image(harness.pullable_image)
        await harness.engine.remove(desired.id, grace_s=0)
        await images.remove_image(harness.pullable_image)

    # build

    async def test_an_image_is_built_of_a_context_with_its_arguments(self, harness: EngineHarness) -> None:
        engine, output = building(harness), list[BuildOutput]()
        reference = f"localhost/conformance/{new_id()}:1"
        built = await _build(engine, harness, reference, "COPY greeting /greeting", output)
        assert built.labels["carrel.conformance"] == "blue"
        assert await engine.image(reference) == built
        steps = [(line.step, line.steps) for line in output if line.step]
        assert steps == [(number, len(steps)) for number in range(1, len(steps) + 1)]
        assert len(steps) == 5
        assert await _build(engine, harness, reference, "COPY greeting /greeting", output) == built
        desired = spec(harness, image=reference)
        await harness.engine.ensure(desired, ProgressLog())
        await harness.engine.remove(desired.id, grace_s=0)
        await engine.remove_image(reference)

    async def test_nothing_gets_the_reference_of_a_build_that_fails(self, harness: EngineHarness) -> None:
        engine, output = building(harness), list[BuildOutput]()
        reference = f"localhost/conformance/{new_id()}:1"
        building_it = _build(engine, harness, reference, "COPY missing /missing", output)
        error = await refused(EngineError, building_it)
        assert error.code == "build_failed"
        assert not error.retriable
        assert "missing" in error.message
        assert output
        await refused(ImageUnusable, engine.image(reference))

    async def test_an_image_is_listed_once_with_all_its_references(self, harness: EngineHarness) -> None:
        engine = building(harness)
        first, second = (f"localhost/conformance/{new_id()}:{number}" for number in (1, 2))
        built = await _build(engine, harness, first, "COPY greeting /greeting", [])
        for _ in range(2):
            await engine.tag_image(first, second)
        [listed] = [one for one in await engine.images() if one.id == built.id]
        assert {first, second} <= set(listed.references)
        assert listed.size_bytes > 0
        assert listed.labels == built.labels
        await engine.remove_image(first)
        assert (await engine.image(second)).id == built.id
        await engine.remove_image(second)
        assert not any({first, second} & {*one.references} for one in await engine.images())

    async def test_the_images_of_the_machine_are_listed_by_its_name(self, harness: EngineHarness) -> None:
        engine = harness.engine if isinstance(harness.engine, ImageListing) else _skip("ImageListing")
        by_node = await engine.images_by_node()
        assert by_node.keys() == {node.name for node in await harness.engine.nodes()}
        sizes = {
            canonical(name): one.size_bytes
            for images in by_node.values()
            for one in images
            for name in one.references
        }
        assert sizes[canonical(harness.image)] > 0

    async def test_an_image_that_is_not_there_gets_no_reference(self, harness: EngineHarness) -> None:
        engine = building(harness)
        await refused(ImageUnusable, engine.tag_image(harness.unknown_image, "localhost/conformance/none:1"))

    # commit

    async def test_an_image_of_a_container_has_its_files_and_nothing_that_it_was_given(
        self, harness: EngineHarness
    ) -> None:
        engine, images, progress = committing(harness), images_of(harness), ProgressLog()
        given = InitialFile(f"{WORK_HOME}/given", b"hunter2", private=True)
        desired = replace(spec(harness), env={"SECRET": "hunter2"}, files=(given,))
        await harness.engine.ensure(desired, ProgressLog())
        await run(
            harness.engine, desired.id, "sh", "-c", f"echo kept > {WORK_HOME}/file; echo no > /tmp/left"
        )
        reference, key = f"localhost/conformance/{new_id()}:1", new_id()
        made = await engine.commit(desired.id, reference, key, left_out=("/tmp",), progress=progress)
        assert await images.image(reference) == made.image
        assert 0 < made.added_bytes < made.image.size_bytes
        assert progress.phases[0] == "copy"
        assert set(await engine.commits()) == {key}
        copy = spec(harness, image=reference)
        await harness.engine.ensure(copy, ProgressLog())
        for path, code in ((f"{WORK_HOME}/file", 0), ("/tmp/left", 1), (given.path, 1)):
            ran = await run(harness.engine, copy.id, "cat", path)
            assert ran.exit_code == code, path
        ran = await run(harness.engine, copy.id, "sh", "-c", "echo secret=$SECRET")
        assert ran.stdout == b"secret=\n"
        assert {one.id for one in await harness.engine.list()} == {desired.id, copy.id}
        error = await refused(EngineError, engine.discard_commit(key))
        assert error.code == "image_in_use"
        for one in (copy.id, desired.id):
            await harness.engine.remove(one, grace_s=0)
        for _ in range(2):
            await engine.discard_commit(key)
        await refused(ImageUnusable, images.image(reference))
        assert not await engine.commits()

    async def test_nothing_is_committed_of_a_container_that_is_not_there(
        self, harness: EngineHarness
    ) -> None:
        engine = committing(harness)
        reference = "localhost/conformance/none:1"
        committed = engine.commit(new_id(), reference, new_id(), left_out=(), progress=ProgressLog())
        await refused(ContainerGone, committed)
        assert not await engine.commits()

    # limits

    async def test_limits_change_while_a_container_runs(self, harness: EngineHarness) -> None:
        engine = limiting(harness)
        assert isinstance(harness, LimitsHarness)
        container = await running(harness)
        await engine.set_limits(container, {"cpu": 750, "mem": 96 * MIB})
        assert await harness.limits(container) == {"cpu": 750, "mem": 96 * MIB}
        await engine.set_limits(container, {"mem": 80 * MIB})
        assert await harness.limits(container) == {"cpu": 750, "mem": 80 * MIB}
        [seen] = await harness.engine.list()
        assert seen.state is ObservedState.RUNNING

    async def test_a_container_that_is_not_there_has_no_limits(self, harness: EngineHarness) -> None:
        engine = limiting(harness)
        await refused(ContainerGone, engine.set_limits(new_id(), {"cpu": 100}))

    # pause

    async def test_nothing_runs_while_a_container_is_paused(self, harness: EngineHarness) -> None:
        engine = pausing(harness)
        desired = spec(harness, "sh", "-c", "sleep 0.5; exit 3")
        await harness.engine.ensure(desired, ProgressLog())
        for _ in range(2):
            await engine.pause(desired.id)
        await harness.pass_time(1.0)
        [seen] = await harness.engine.list()
        assert seen.state is ObservedState.RUNNING
        await engine.resume(desired.id)
        await exited(harness, desired.id)
        [seen] = await harness.engine.list()
        assert seen.exit_code == 3

    async def test_a_paused_container_is_removed_like_any_other(self, harness: EngineHarness) -> None:
        engine = pausing(harness)
        container = await running(harness)
        for again in (engine.resume, engine.pause, engine.resume, engine.resume, engine.pause):
            await again(container)
        await harness.engine.remove(container, grace_s=1)
        assert await harness.engine.list() == ()
        await refused(ContainerGone, engine.pause(container))
        await refused(ContainerGone, engine.resume(container))

    # host_usage

    async def test_machines_are_measured_and_their_counters_never_go_back(
        self, harness: EngineHarness
    ) -> None:
        nodes = {node.name: node for node in await harness.engine.nodes()}
        first = await metering(harness).host_usage()
        second = await metering(harness).host_usage()
        assert {usage.node for usage in first} == {usage.node for usage in second} <= nodes.keys()
        assert first
        for before, after in zip(first, second, strict=True):
            assert 0 < after.mem_bytes <= nodes[after.node].slots["mem"]
            assert 0 < after.disk_used_bytes <= after.disk_size_bytes
            for counter in ("cpu_ns", "received_bytes", "sent_bytes", "read_bytes", "written_bytes"):
                assert 0 <= getattr(before, counter) <= getattr(after, counter)

    # reports

    async def test_nothing_is_reported_about_a_container_without_incident(
        self, harness: EngineHarness
    ) -> None:
        reports = reporting(harness)
        made = await running(harness)
        assert await reports.reports([made, new_id()]) == {}


async def _build(
    engine: ImageBuilding, harness: EngineHarness, reference: str, last: str, output: list[BuildOutput]
) -> ImageInfo:
    lines = ("ARG BASE", "FROM ${BASE}", "ARG COLOUR", "LABEL carrel.conformance=${COLOUR}", last)
    with io.BytesIO() as context:
        with tarfile.open(fileobj=context, mode="w") as archive:
            for name, text in {"Dockerfile": "\n".join(lines), "greeting": "hello\n"}.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))
        context.seek(0)
        arguments = {"BASE": harness.image, "COLOUR": "blue"}
        return await engine.build_image(context, reference, arguments=arguments, output=output.append)
