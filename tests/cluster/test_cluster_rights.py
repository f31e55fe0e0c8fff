"""The engine needs every right that rights.yaml has, and none that it has not."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import cluster_images
import pytest
from claim_plugin import ClaimPlugin
from own_cluster import Cluster
from service_accounts import ACCOUNT, NAMESPACE, by_token, create, documents, granted, used
from simulated_accelerators import driver, tree

from carrel.accelerators.nvidia import Nvidia
from carrel.core.slots import WHOLE
from carrel.engines import barrier, runtimes
from carrel.engines.conformance_kit import HarnessListener, ProgressLog, run
from carrel.engines.kubernetes import KubernetesEngine
from carrel.engines.kubernetes.device_classes import parsed
from carrel.engines.port import Claimant, ContainerSpec, EngineError, InitialFile, PrivateNetwork

_US = Claimant("1111", "/var/lib/carrel on alpha")
_BY_WEBSOCKET = {
    ("Role", ("create", resource)) for resource in ("pods/attach", "pods/exec", "pods/portforward")
}
"""Audited as GET; `test_a_websocket_needs_the_right_to_create` shows that they are needed."""

_BY_APPLY = {("Role", ("create", resource)) for resource in ("services", "networkpolicies")}
"""Audited as PATCH; `test_applying_needs_the_right_to_create` shows that they are needed."""


@asynccontextmanager
async def engine_of(cluster: Cluster, account: str = ACCOUNT) -> AsyncIterator[KubernetesEngine]:
    label = f"test-{uuid.uuid4().hex[:8]}"
    kinds = parsed(["gpu.example.com=cuda.device"])
    engine = KubernetesEngine(
        by_token(cluster, account), label, claimant=_US, namespace=NAMESPACE, device_classes=kinds
    )
    yield engine
    await engine.close()


async def live(engine: KubernetesEngine) -> None:
    """The life of a container with a private network and of its installation, with every method of the engine."""
    devices = {device.id: WHOLE for node in await engine.nodes() for device in node.devices}
    listener = HarnessListener(engine)
    spec = ContainerSpec(
        "abc",
        cluster_images.tiny("work"),
        {"cpu": 100, "mem": 64 << 20},
        files=(InitialFile("/etc/carrel/note", b"1"),),
        command=barrier.behind(("sleep", "1000")),
        stdin=True,
        network=PrivateNetwork("net", "main1", ("main1",)),
        node="node-a",
        devices=devices,
    )
    await engine.ensure(spec, ProgressLog())
    await engine.send("abc", barrier.OPEN)
    assert (await run(engine, "abc", "cat", "/etc/carrel/note")).stdout == b"1"
    (await engine.connect_port("abc", 8080)).close()
    assert [record async for record in engine.logs("abc", follow=False)] == []
    assert [one.id for one in await engine.list()] == ["abc"]
    await engine.nodes()
    assert len(await engine.usage()) <= 1
    assert await engine.reports(["abc"]) == {}
    await engine.remove("abc", grace_s=0)
    listener.task.cancel()
    await engine.claim.holder_answers(within_s=0)
    await engine.claim.others()
    assert await engine.release_if_idle() == 0
    await engine.purge()


async def test_every_right_is_used_and_no_other_is_asked_for(cluster: Cluster) -> None:
    since = cluster.audit_log.stat().st_size
    machine = driver(Nvidia(), tree(cluster.folder / "simulated", "h100x1"))
    with ClaimPlugin(cluster, cluster.nodes[0], "gpu.example.com", machine):
        async with engine_of(cluster) as engine:
            await live(engine)
    allowed, refused = used(cluster, since)
    assert allowed | _BY_WEBSOCKET | _BY_APPLY == granted()
    assert refused == set()


def account(cluster: Cluster, name: str, verb: str, resource: str) -> None:
    """Create an account with Carrel's rights but this one."""
    for one in documents():
        named = {**one, "metadata": {**one["metadata"], "name": f"{one['metadata']['name']}-{name}"}}
        if "rules" in one:
            named["rules"] = [
                {**rule, "resources": [kind], "verbs": verbs}
                for rule in one["rules"]
                for kind in rule["resources"]
                if (verbs := [each for each in rule["verbs"] if (each, kind) != (verb, resource)])
            ]
        if "roleRef" in one:
            named["roleRef"] = {**one["roleRef"], "name": f"{one['roleRef']['name']}-{name}"}
            named["subjects"] = [{**one["subjects"][0], "name": f"{ACCOUNT}-{name}"}]
        create(cluster, named)


@pytest.mark.parametrize("resource", ["exec", "portforward"])
async def test_a_websocket_needs_the_right_to_create(cluster: Cluster, resource: str) -> None:
    account(cluster, resource, "create", f"pods/{resource}")
    async with engine_of(cluster, f"{ACCOUNT}-{resource}") as engine:
        with pytest.raises(EngineError, match="Forbidden"):
            await live(engine)
        await engine.purge()


async def test_applying_needs_the_right_to_create(cluster: Cluster) -> None:
    account(cluster, "patches", "create", "services")
    async with engine_of(cluster, f"{ACCOUNT}-patches") as engine:
        with pytest.raises(EngineError, match="cannot create resource"):
            await live(engine)
        await engine.purge()


async def test_without_the_right_to_network_policies_there_are_none(cluster: Cluster) -> None:
    account(cluster, "open", "create", "networkpolicies")
    async with engine_of(cluster, f"{ACCOUNT}-open") as engine:
        await engine.nodes()
        spec = ContainerSpec("abc", cluster_images.tiny("work"), {"cpu": 100, "mem": 64 << 20})
        assert (await engine.ensure(spec, ProgressLog())).address
        await engine.purge()


async def test_without_the_right_to_watch_nodes_they_are_listed(cluster: Cluster) -> None:
    account(cluster, "lists", "watch", "nodes")
    async with engine_of(cluster, f"{ACCOUNT}-lists") as engine:
        await live(engine)
        assert len(await engine.nodes()) == 2


async def test_without_the_right_to_read_usage_it_is_not_known(cluster: Cluster) -> None:
    account(cluster, "unmetered", "get", "nodes/proxy")
    async with engine_of(cluster, f"{ACCOUNT}-unmetered") as engine:
        await engine.nodes()
        spec = ContainerSpec("abc", cluster_images.tiny("work"), {"cpu": 100, "mem": 64 << 20})
        await engine.ensure(spec, ProgressLog())
        assert await engine.usage() == ()
        await engine.purge()


async def test_without_the_right_to_read_devices_there_are_none(cluster: Cluster) -> None:
    account(cluster, "unclaimed", "list", "resourceslices")
    machine = driver(Nvidia(), tree(cluster.folder / "simulated", "h100x1"))
    with ClaimPlugin(cluster, cluster.nodes[0], "gpu.example.com", machine):
        async with engine_of(cluster, f"{ACCOUNT}-unclaimed") as engine:
            assert not any(node.devices for node in await engine.nodes())
            await live(engine)


async def test_without_the_right_to_list_runtime_classes_there_are_none(cluster: Cluster) -> None:
    classes = "/apis/node.k8s.io/v1/runtimeclasses"
    cluster.call("POST", classes, {"metadata": {"name": "unseen"}, "handler": "runc"})
    account(cluster, "classless", "list", "runtimeclasses")
    try:
        async with engine_of(cluster, f"{ACCOUNT}-classless") as engine:
            assert not any(runtimes.names(node.capabilities) for node in await engine.nodes())
            slots = {"cpu": 100, "mem": 64 << 20}
            spec = ContainerSpec("abc", cluster_images.tiny("work"), slots, runtime="unseen")
            with pytest.raises(EngineError, match="does not have the runtime unseen"):
                await engine.ensure(spec, ProgressLog())
            await engine.purge()
    finally:
        cluster.call("DELETE", f"{classes}/unseen")
