"""Logs of pods that are followed while the kubelet rotates them."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from own_cluster import Cluster
from people import eventually
from test_kubernetes import KubernetesHarness

from carrel.engines.conformance_kit import ProgressLog, exited, run, spec

# Numbered lines of 1,000 characters, more than connections buffer; the last one after a file is there.
WRITES = f"seq -w 0 39999 | sed 's/^/{'0' * 995}/'; while [ ! -e /tmp/enough ]; do sleep 0.1; done; echo last"


@pytest.fixture
async def harness(cluster: Cluster) -> AsyncIterator[KubernetesHarness]:
    harness = KubernetesHarness(cluster)
    yield harness
    await harness.close()


def is_rotated(cluster: Cluster, container: str) -> bool:
    """True once the kubelet has put a part of the container's log aside."""
    logs: list[Path] = list(cluster.folder.glob(f"node-*/var/log/pods/*{container}*/session/0.log.*"))
    return any(path.suffix != ".tmp" for path in logs)


async def test_a_log_that_is_followed_slowly_has_its_end_after_a_rotation(harness: KubernetesHarness) -> None:
    desired = replace(
        spec(harness, "sh", "-c", WRITES, mem_bytes=64 << 20), node=harness.cluster.nodes[0].name
    )
    await harness.engine.ensure(desired, ProgressLog())
    lines: list[bytes] = []
    began, goes_on = asyncio.Event(), asyncio.Event()

    async def follow() -> None:
        async for records in harness.engine.logs(desired.id, follow=True):
            lines.extend(record.content for record in records)
            began.set()
            await goes_on.wait()

    following = asyncio.create_task(follow())
    await asyncio.wait_for(began.wait(), 120)
    await eventually(lambda: is_rotated(harness.cluster, desired.id), within_s=240, every_s=0.2)
    await run(harness.engine, desired.id, "touch", "/tmp/enough")
    await exited(harness, desired.id)
    goes_on.set()
    await asyncio.wait_for(following, 240)
    assert lines[-1] == b"last\n"
    # A kubelet that rotates twice meanwhile loses what is between; nothing is there twice.
    numbers = [int(line) for line in lines[:-1]]
    assert numbers == sorted(set(numbers))
