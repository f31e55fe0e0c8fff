"""The conformance suite of engines whose nodes have DISK_LIMIT."""

from dataclasses import replace
from typing import Protocol

from carrel.engines.conformance_kit import MIB, EngineHarness, ProgressLog, eventually, run, running, spec
from carrel.engines.port import DISK_LIMIT, ContainerSpec

LIMIT = 64 * MIB


class DiskHarness(EngineHarness, Protocol):
    async def write(self, container: str, size_bytes: int) -> bool:
        """Write a new file of that size outside of any folder, until it is on disk; False if it did not fit."""
        ...

    async def delete_written(self, container: str) -> None:
        """Delete these files."""
        ...


def limited(harness: EngineHarness) -> ContainerSpec:
    """A small container that may write LIMIT."""
    return replace(spec(harness), disk_bytes=LIMIT)


class DiskLimitConformance:
    """One test per statement of `ContainerSpec.disk_bytes`."""

    async def test_the_node_claims_it(self, harness: DiskHarness) -> None:
        assert all(DISK_LIMIT in node.capabilities for node in await harness.engine.nodes())

    async def test_more_than_the_limit_does_not_fit(self, harness: DiskHarness) -> None:
        desired = limited(harness)
        await harness.engine.ensure(desired, ProgressLog())
        assert await harness.write(desired.id, LIMIT // 2)
        assert not await harness.write(desired.id, LIMIT)
        # It goes on, and has room again once it deletes something.
        assert (await run(harness.engine, desired.id, "true")).exit_code == 0
        await harness.delete_written(desired.id)

        async def fits() -> bool:
            return await harness.write(desired.id, LIMIT // 2)

        await eventually(harness, fits, "there was room again")

    async def test_the_limit_is_also_that_of_a_control_plane_that_has_just_begun(
        self, harness: DiskHarness
    ) -> None:
        desired = limited(harness)
        await harness.another().ensure(desired, ProgressLog())
        assert not await harness.write(desired.id, 2 * LIMIT)

    async def test_containers_have_their_limits_to_themselves(self, harness: DiskHarness) -> None:
        desired, free = limited(harness), await running(harness)
        await harness.engine.ensure(desired, ProgressLog())
        assert not await harness.write(desired.id, 2 * LIMIT)
        assert await harness.write(free, 2 * LIMIT)
