"""The claim of a pod, and which devices are offered, against a small API server."""

import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from tiny_api_server import TinyApiServer, machine, status

from carrel.core.slots import WHOLE
from carrel.engines.conformance_kit import ProgressLog
from carrel.engines.kubernetes import KubernetesEngine
from carrel.engines.kubernetes.device_classes import parsed
from carrel.engines.port import ContainerSpec, EngineError

_DRIVER = "gpu.nvidia.com"
_GROUP = "apis/resource.k8s.io/v1"
_POD = "api/v1/namespaces/carrel/pods/carrel-lab-abc"
_DEVICE = f"{_DRIVER}/GPU-1"
_SPEC = ContainerSpec("abc", "python:3.12", {"cpu": 500}, node="a", devices={_DEVICE: WHOLE})


def slice_of(*uuids: str) -> Any:
    devices = [{"name": f"gpu-{one}", "attributes": {"uuid": {"string": f"GPU-{one}"}}} for one in uuids]
    pool = {"name": "a", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": _DRIVER, "nodeName": "a", "pool": pool, "devices": devices}
    return {"metadata": {"name": "a"}, "spec": spec}


@pytest.fixture
async def server() -> AsyncIterator[TinyApiServer]:
    selector = {"cel": {"expression": f"device.driver == '{_DRIVER}'"}}
    async with TinyApiServer() as server:
        server.objects |= {
            "api/v1/nodes/a": machine(),
            f"{_GROUP}/resourceslices/a": slice_of("1", "2"),
            f"{_GROUP}/deviceclasses/c": {
                "metadata": {"name": _DRIVER},
                "spec": {"selectors": [selector]},
            },
        }
        yield server


@pytest.fixture
async def engine(server: TinyApiServer) -> AsyncIterator[KubernetesEngine]:
    kinds = parsed([f"{_DRIVER}=cuda.device"])
    engine = KubernetesEngine(server.access(), "lab", device_classes=kinds)
    yield engine
    await engine.close()


async def attempt(engine: KubernetesEngine) -> None:
    """Everything before the pod may start."""

    async def refused() -> None:
        raise EngineError("Another leader starts it.", retriable=True)

    with pytest.raises(EngineError, match="Another leader"):
        await engine.ensure(_SPEC, ProgressLog(), refused)


async def offered(engine: KubernetesEngine) -> list[str]:
    [node] = await engine.nodes()
    return [device.id for device in node.devices]


async def test_a_claim_belongs_to_its_pod_which_names_it(
    server: TinyApiServer, engine: KubernetesEngine
) -> None:
    for _ in range(2):
        await attempt(engine)
        pod, [path] = server.objects[_POD], server.paths("resourceclaims")
        [named] = pod["spec"]["resourceClaims"]
        assert path == f"{_GROUP}/namespaces/carrel/resourceclaims/{named['resourceClaimName']}"
        [main] = pod["spec"]["containers"]
        assert main["resources"]["claims"] == [{"name": named["name"]}]
        assert "claims" not in pod["spec"]["initContainers"][0]["resources"]
    metadata = server.objects[path]["metadata"]
    assert metadata["labels"]["carrel.id"] == "abc"
    assert [owner["uid"] for owner in metadata["ownerReferences"]] == [pod["metadata"]["uid"]]


async def test_the_pod_is_there_before_its_claim(server: TinyApiServer, engine: KubernetesEngine) -> None:
    """Otherwise an interruption would leave a claim that nothing removes."""
    server.refuse = lambda request: (
        status(403, "Forbidden", "quota") if request.path.endswith("/resourceclaims") else None
    )
    with pytest.raises(EngineError, match="quota"):
        await engine.ensure(_SPEC, ProgressLog())
    assert server.objects[_POD]["spec"]["schedulingGates"]
    assert server.paths("resourceclaims") == []


async def test_a_removal_lasts_until_the_devices_are_free(
    server: TinyApiServer, engine: KubernetesEngine
) -> None:
    await attempt(engine)
    [path] = server.paths("resourceclaims")
    looks: list[str] = []

    def released_later(request: web.Request) -> web.StreamResponse | None:
        if request.method == "DELETE" and request.path == f"/{path}" and len(looks) < 3:
            looks.append(request.path)
            return web.json_response(server.objects[path])
        return None

    server.refuse = released_later
    await engine.remove("abc", grace_s=0)
    assert len(looks) == 3
    assert server.paths("resourceclaims") == []


async def test_a_claim_that_stays_is_looked_at_ever_less_often(
    server: TinyApiServer, engine: KubernetesEngine
) -> None:
    await attempt(engine)
    [path] = server.paths("resourceclaims")
    looks: list[float] = []

    def released_late(request: web.Request) -> web.StreamResponse | None:
        if request.method == "DELETE" and request.path == f"/{path}":
            looks.append(time.monotonic())
            if looks[-1] - looks[0] < 0.6:
                return web.json_response(server.objects[path])
        return None

    server.refuse = released_late
    await engine.remove("abc", grace_s=0)
    # After 0.1, 0.3, 0.7 and 1.5 s.
    assert len(looks) <= 5
    assert server.paths("resourceclaims") == []


async def test_a_device_that_is_gone_is_named(server: TinyApiServer, engine: KubernetesEngine) -> None:
    server.objects[f"{_GROUP}/resourceslices/a"] = slice_of("2")
    with pytest.raises(EngineError, match=f"The accelerator {_DEVICE} is not there") as refused:
        await engine.ensure(_SPEC, ProgressLog())
    assert (refused.value.code, refused.value.retriable) == ("accelerator_missing", True)


@pytest.mark.parametrize(
    ("namespace", "installation", "left"),
    [("carrel", "lab", ["1", "2"]), ("carrel", "other", ["2"]), ("default", "lab", ["2"])],
)
async def test_what_claims_of_others_have_is_not_offered(
    server: TinyApiServer, engine: KubernetesEngine, namespace: str, installation: str, left: list[str]
) -> None:
    result = {"driver": _DRIVER, "pool": "a", "device": "gpu-1", "request": "r"}
    server.objects[f"{_GROUP}/resourceclaims/x"] = {
        "metadata": {"name": "x", "namespace": namespace, "labels": {"carrel.installation": installation}},
        "status": {"allocation": {"devices": {"results": [result]}}},
    }
    assert await offered(engine) == [f"{_DRIVER}/GPU-{one}" for one in left]
    [node] = await engine.nodes()
    # It is not missing.
    assert len(node.device_states) == 2
    assert node.slots["cuda.device"] == len(left)


@pytest.mark.parametrize("refusal", [403, 404])
async def test_without_the_right_or_the_api_there_are_none(
    server: TinyApiServer, engine: KubernetesEngine, refusal: int
) -> None:
    server.refuse = lambda request: status(refusal) if request.path.startswith(f"/{_GROUP}") else None
    assert await offered(engine) == []


async def test_without_classes_nothing_is_asked_for(server: TinyApiServer) -> None:
    engine = KubernetesEngine(server.access(), "lab")
    assert await offered(engine) == []
    await engine.close()
    assert not [one for one in server.seen if "resource.k8s.io" in one]
