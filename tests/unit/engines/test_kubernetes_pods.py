"""What the engine leaves in the cluster, against a small API server."""

from collections.abc import AsyncIterator, Collection
from dataclasses import replace

import pytest
from aiohttp import web
from tiny_api_server import TinyApiServer, machine, running, status

from carrel.engines.conformance_kit import ProgressLog
from carrel.engines.kubernetes import KubernetesEngine, self_test
from carrel.engines.kubernetes.pod_answers import Reservation
from carrel.engines.kubernetes.pods import Sandbox
from carrel.engines.kubernetes.quantities import quantity
from carrel.engines.port import Claimant, ContainerSpec, EngineError, ObservedState

_POD = "api/v1/namespaces/carrel/pods/carrel-lab-abc"
_SPEC = ContainerSpec("abc", "python:3.12", {"cpu": 500, "mem": 64 << 20}, env={"TOKEN": "s3cret"})


@pytest.fixture
async def server() -> AsyncIterator[TinyApiServer]:
    async with TinyApiServer() as server:
        server.objects["api/v1/nodes/a"] = machine()
        yield server


@pytest.fixture
async def engine(server: TinyApiServer) -> AsyncIterator[KubernetesEngine]:
    engine = KubernetesEngine(server.access(), "lab")
    yield engine
    await engine.close()


async def refuses_to_start() -> None:
    raise EngineError("Another leader starts it.", retriable=True)


async def attempt(engine: KubernetesEngine) -> None:
    """Everything before the pod may start."""
    with pytest.raises(EngineError, match="Another leader"):
        await engine.ensure(_SPEC, ProgressLog(), refuses_to_start)


def named(server: TinyApiServer) -> str:
    """The secret that the pod needs."""
    [main] = server.objects[_POD]["spec"]["containers"]
    [token] = [one for one in main["env"] if one["name"] == "TOKEN"]
    return str(token["valueFrom"]["secretKeyRef"]["name"])


async def test_a_secret_belongs_to_its_pod(server: TinyApiServer, engine: KubernetesEngine) -> None:
    await attempt(engine)
    [path] = server.paths("secrets")
    assert path.endswith(f"/{named(server)}")
    [owner] = server.objects[path]["metadata"]["ownerReferences"]
    assert owner["uid"] == server.objects[_POD]["metadata"]["uid"]


async def test_another_attempt_continues_with_the_pod_and_its_secret(
    server: TinyApiServer, engine: KubernetesEngine
) -> None:
    def full(request: web.Request) -> web.StreamResponse | None:
        return status(403, "Forbidden", "quota") if request.path.endswith("/secrets") else None

    server.refuse = full
    with pytest.raises(EngineError, match="quota"):
        await engine.ensure(_SPEC, ProgressLog(), refuses_to_start)
    assert server.paths("secrets") == []
    server.refuse = lambda request: None
    for _ in range(2):
        await attempt(engine)
        [path] = server.paths("secrets")
        assert path.endswith(f"/{named(server)}")


async def test_the_secret_of_a_former_pod_is_not_used(
    server: TinyApiServer, engine: KubernetesEngine
) -> None:
    await attempt(engine)
    # The cluster deletes it some time after the pod.
    [former] = server.paths("secrets")
    del server.objects[_POD]
    await attempt(engine)
    assert not former.endswith(f"/{named(server)}")
    assert len(server.paths("secrets")) == 2


async def test_a_namespace_that_is_ending_is_waited_for(server: TinyApiServer) -> None:
    refused = []

    def ending(request: web.Request) -> web.StreamResponse | None:
        if not request.path.endswith("/configmaps") or request.method != "POST" or refused:
            return None
        refused.append(request.path)
        return status(403, "Forbidden", "unable to create new content because it is being terminated")

    server.refuse = ending
    engine = KubernetesEngine(server.access(), "lab", claimant=Claimant("1111", "here"))
    await engine.nodes()
    assert refused
    assert server.paths("configmaps")
    await engine.purge()
    assert set(server.objects) == {"api", "api/v1/nodes/a"}
    await engine.close()


async def test_pods_of_a_self_test_end_by_themselves_if_they_cannot_be_deleted(
    server: TinyApiServer, engine: KubernetesEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_test, "_START_S", 0.1)
    server.refuse = lambda request: status(503) if request.method == "DELETE" else None
    with pytest.raises(EngineError, match="does not start in the cluster"):
        await engine.self_test()
    pods = server.paths("pods")
    assert len(pods) == 2
    assert all(server.objects[path]["spec"]["activeDeadlineSeconds"] <= 120 for path in pods)


async def test_nodes_that_vanish_during_another_call_are_still_listed_by_this_one(
    server: TinyApiServer, engine: KubernetesEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = engine._watch.foreign
    read = foreign.read

    async def read_after_another_call() -> Collection[Reservation]:
        if server.objects.pop("api/v1/nodes/a", None):
            assert not await engine.nodes()
        return await read()

    monkeypatch.setattr(foreign, "read", read_after_another_call)
    assert [node.name for node in await engine.nodes()] == ["a"]


@pytest.fixture
async def kata(server: TinyApiServer) -> AsyncIterator[KubernetesEngine]:
    """An engine whose runtime class takes more than all slots of the container."""
    server.objects["apis/node.k8s.io/v1/runtimeclasses/kata"] = {
        "metadata": {"name": "kata", "uid": "kata", "resourceVersion": "1"},
        "handler": "kata",
        "overhead": {"podFixed": {"cpu": "600m", "memory": "160Mi"}},
    }
    engine = KubernetesEngine(server.access(), "lab", sandbox=Sandbox("kata"))
    yield engine
    await engine.close()


async def test_a_pod_that_runs_is_adopted_even_if_its_runtime_class_would_leave_nothing_now(
    server: TinyApiServer, kata: KubernetesEngine
) -> None:
    with pytest.raises(EngineError, match="runtime class kata needs"):
        await kata.ensure(_SPEC, ProgressLog())
    server.objects[_POD] = running("abc")
    assert (await kata.ensure(_SPEC, ProgressLog())).state is ObservedState.RUNNING
    # Nor if the cluster does not have it any more.
    gone = replace(_SPEC, runtime="gone")
    assert (await kata.ensure(gone, ProgressLog())).state is ObservedState.RUNNING
    server.objects[_POD]["spec"]["schedulingGates"] = [{"name": "carrel"}]
    with pytest.raises(EngineError, match="does not have the runtime gone"):
        await kata.ensure(gone, ProgressLog())


async def test_the_overhead_of_a_runtime_class_comes_on_top_of_the_slots_of_a_check(
    server: TinyApiServer, kata: KubernetesEngine
) -> None:
    with pytest.raises(EngineError, match="Another leader"):
        await kata.ensure(replace(_SPEC, helper=True), ProgressLog(), refuses_to_start)
    [main] = server.objects[_POD]["spec"]["containers"]
    assert quantity(main["resources"]["limits"]["cpu"], 1000) == 500
