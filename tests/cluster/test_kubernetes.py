"""The Kubernetes engine does what every engine does, against a real cluster."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import cluster_images
import pytest
from own_cluster import Cluster
from service_accounts import NAMESPACE, be_in_cluster, by_token
from tiny_registry import TinyRegistry

from carrel.engines.conformance import EngineConformance, EngineFaultConformance
from carrel.engines.conformance_claim import ClaimConformance
from carrel.engines.conformance_kit import EngineHarness, ProgressLog, refused, run, spec
from carrel.engines.conformance_mounts import MountConformance
from carrel.engines.conformance_networks import BarrierConformance, FileConformance
from carrel.engines.conformance_start import StartConformance
from carrel.engines.kubernetes import KubernetesEngine
from carrel.engines.kubernetes.credentials import ClusterAccess
from carrel.engines.port import (
    IN_PLACE_RESTART,
    LOG_STREAMS,
    OOM_EVENTS,
    Claimant,
    Engine,
    EngineError,
    PullCredentials,
)

_IN_POD = ClusterAccess()


class KubernetesHarness:
    """With Carrel's own rights: the engine has a token, and others are in a pod, as it seems."""

    measures_disk = True
    lacks = frozenset({IN_PLACE_RESTART, LOG_STREAMS, OOM_EVENTS})

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.installation = f"test-{uuid.uuid4().hex[:8]}"
        self.engines: list[KubernetesEngine] = []
        self.engine: Engine = self._made(self.installation, access=by_token(cluster))
        self.image = cluster_images.tiny("work")
        self.shellless_image = cluster_images.tiny("shellless")
        self.pullable_image = self.unknown_image = ""

    def another(self) -> Engine:
        return self._made(self.installation)

    def claiming(self, claimant: Claimant) -> KubernetesEngine:
        return self._made(self.installation, claimant)

    def neighbour(self) -> KubernetesEngine:
        return self._made(f"{self.installation}-next")

    def _made(
        self, installation: str, claimant: Claimant | None = None, access: ClusterAccess = _IN_POD
    ) -> KubernetesEngine:
        self.engines.append(KubernetesEngine(access, installation, claimant=claimant, namespace=NAMESPACE))
        return self.engines[-1]

    async def pass_time(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def vanish(self, container: str) -> None:
        path = f"/api/v1/namespaces/{NAMESPACE}/pods/carrel-{self.installation}-{container}"
        await asyncio.to_thread(self.cluster.call, "DELETE", path, {"gracePeriodSeconds": 0})

    async def exhaust_memory(self, container: str) -> None:
        # tail keeps its input in memory until it knows how much of it is needed.
        await run(self.engine, container, "tail", "-c", "99999998", "/dev/zero")

    async def transfer(self, container: str) -> None:
        written = "dd if=/dev/zero of=written bs=1048576 count=4 conv=fsync"
        # Nobody listens there, but the attempt is sent.
        sent = "nc -w 1 $(ip route | head -n 1 | cut -d ' ' -f 3) 9"
        await run(self.engine, container, "sh", "-c", f"{written}; {sent}")

    async def go_away(self) -> None:
        await asyncio.to_thread(self.cluster.stop_api_server)

    async def come_back(self) -> None:
        await asyncio.to_thread(self.cluster.start_api_server)

    async def close(self) -> None:
        await self.engines[0].purge()
        for engine in self.engines:
            await engine.close()


@pytest.fixture
async def harness(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncIterator[EngineHarness]:
    be_in_cluster(cluster, monkeypatch, tmp_path)
    harness = KubernetesHarness(cluster)
    async with TinyRegistry(cluster.address) as registry:
        for node in cluster.nodes:
            node.trust(registry.address)
        harness.pullable_image = registry.add("pullable")
        harness.unknown_image = f"{registry.address}/nowhere:1"
        yield harness
        await harness.close()


class TestKubernetesEngine(EngineConformance):
    pass


class TestKubernetesEngineStart(StartConformance, BarrierConformance, FileConformance):
    pass


class TestKubernetesClaim(ClaimConformance):
    pass


class TestKubernetesEngineMounts(MountConformance):
    pass


class TestKubernetesEngineFaults(EngineFaultConformance):
    pass


async def test_a_private_image_is_pulled_with_the_credentials_of_its_container(
    cluster: Cluster, harness: KubernetesHarness
) -> None:
    async with TinyRegistry(cluster.address, credentials=("robot$carrel", "correct horse")) as registry:
        for node in cluster.nodes:
            node.trust(registry.address)
        desired = spec(harness, image=registry.add("private"))
        wrong = PullCredentials(registry.address, "robot$carrel", "wrong")
        right = PullCredentials(registry.address, "robot$carrel", "correct horse")
        await refused(EngineError, harness.engine.ensure(replace(desired, pull=wrong), ProgressLog()))
        await harness.engine.remove(desired.id, grace_s=0)
        await harness.engine.ensure(replace(desired, pull=right), ProgressLog())
        # Now the node has it, and others do not get it there without credentials.
        other = replace(desired, id=f"{desired.id}-2", pull=wrong, pull_always=True)
        await refused(EngineError, harness.engine.ensure(other, ProgressLog()))
