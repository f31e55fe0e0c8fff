"""How pods have the app layer, without a cluster."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web
from tiny_api_server import TinyApiServer, machine, status

from carrel.engines.conformance_kit import ProgressLog
from carrel.engines.kubernetes import KubernetesEngine, layer_trial
from carrel.engines.kubernetes.pod_answers import start_error
from carrel.engines.kubernetes.pod_layers import LayerMount, PodLayer, lacking
from carrel.engines.kubernetes.pods import DEFAULT_SANDBOX, PodNames, manifest, secrets_of
from carrel.engines.port import (
    ContainerSpec,
    EngineError,
    EngineUnavailable,
    PullCredentials,
    QuotaExhausted,
)

_IMAGE = "registry.example.org/carrel/app-layer:1"
_NAMES = PodNames("lab", "carrel")
_PULL = PullCredentials("registry.example.org", "robot", "s3cret")


def spec(**more: Any) -> ContainerSpec:
    return ContainerSpec("abc", "busybox:1", {"cpu": 500, "mem": 64 << 20}, layer=_IMAGE, **more)


def pod_with(mount: LayerMount, directory: str = "") -> Any:
    layer = PodLayer(_IMAGE, mount, directory)
    return manifest(spec(), _NAMES, DEFAULT_SANDBOX, "its-secret", layer)["spec"]


def volume_of(pod: Any) -> Any:
    [volume] = [one for one in pod["volumes"] if one["name"] == "layer"]
    return volume


def mount_of(pod: Any) -> Any:
    [main] = pod["containers"]
    [mount] = [one for one in main["volumeMounts"] if one["name"] == "layer"]
    return mount


def test_an_image_volume_is_mounted_read_only_and_nothing_is_copied() -> None:
    pod = pod_with(LayerMount.IMAGE_VOLUME)
    assert volume_of(pod)["image"] == {"reference": _IMAGE, "pullPolicy": "IfNotPresent"}
    assert mount_of(pod) == {
        "name": "layer",
        "mountPath": "/opt/carrel",
        "subPath": "opt/carrel",
        "readOnly": True,
    }
    assert [one["name"] for one in pod["initContainers"]] == ["prepare"]


def test_without_image_volumes_a_container_of_the_layer_fills_a_volume_first() -> None:
    pod = pod_with(LayerMount.COPY)
    assert volume_of(pod)["emptyDir"] == {}
    assert mount_of(pod) == {"name": "layer", "mountPath": "/opt/carrel", "readOnly": True}
    filling, preparing = pod["initContainers"]
    assert (filling["name"], filling["image"]) == ("layer", _IMAGE)
    for part in ("resources", "securityContext"):
        assert filling[part] == preparing[part]


def test_a_directory_of_the_node_is_filled_by_root_and_mounted_by_version() -> None:
    pod = pod_with(LayerMount.DIRECTORY, "/var/lib/layers")
    assert volume_of(pod)["hostPath"] == {"path": "/var/lib/layers", "type": "DirectoryOrCreate"}
    filling = pod["initContainers"][0]
    assert filling["securityContext"]["runAsUser"] == 0
    assert filling["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    version = mount_of(pod)["subPath"]
    assert filling["command"][-1] == version
    assert mount_of(pod)["readOnly"]
    other = manifest(spec(), _NAMES, DEFAULT_SANDBOX, "s", PodLayer(f"{_IMAGE}2", LayerMount.DIRECTORY, "/l"))
    assert mount_of(other["spec"])["subPath"] != version


def test_the_layers_image_is_pulled_with_credentials_of_its_own() -> None:
    own = spec(layer_pull=_PULL, pull=PullCredentials("docker.io", "me", "x"))
    pod: Any = manifest(own, _NAMES, DEFAULT_SANDBOX, "s", PodLayer(_IMAGE, LayerMount.IMAGE_VOLUME))
    named = [one["name"] for one in pod["spec"]["imagePullSecrets"]]
    pod["metadata"]["uid"] = "u"
    made = [one["metadata"]["name"] for one in secrets_of(own, _NAMES, pod)]
    assert named == made == ["s-pull", "s-layer"]


def node(kubelet: str, runtime: str) -> Any:
    info = {"kubeletVersion": kubelet, "containerRuntimeVersion": runtime}
    return {"metadata": {"name": "a"}, "status": {"nodeInfo": info}}


@pytest.mark.parametrize(
    ("kubelet", "runtime", "why"),
    [
        ("v1.36.3", "containerd://2.2.0", ""),
        ("v1.33.1+k3s1", "cri-o://1.33.4", ""),
        ("v1.36.3", "containerd://1.6.20~ds1", "containerd 1.6.20~ds1 on a has no image volumes"),
        ("v1.32.9", "containerd://2.4.1", "Kubernetes 1.32.9 on a has no image volumes"),
        ("v1.36.3", "", "the runtime on a has no image volumes"),
    ],
)
def test_versions_tell_which_nodes_have_no_image_volumes(kubelet: str, runtime: str, why: str) -> None:
    assert lacking([node("v1.40.0", "cri-o://1.40.0"), node(kubelet, runtime)]) == why


def test_a_start_that_fails_because_of_the_layer_says_so() -> None:
    waiting = {"reason": "ErrImagePull", "message": "not found"}
    pod = {"status": {"initContainerStatuses": [{"name": "layer", "state": {"waiting": waiting}}]}}
    error = start_error(spec(), pod)
    assert error is not None
    assert (error.code, error.retriable) == ("app_layer_missing", True)
    ended = {"terminated": {"exitCode": 1}}
    pod = {"status": {"initContainerStatuses": [{"name": "layer", "state": ended}]}}
    assert "exit code 1" in str(start_error(spec(), pod))
    waiting = {"reason": "CreateContainerError", "message": f'failed to pull image "{_IMAGE}"'}
    pod = {"status": {"containerStatuses": [{"name": "session", "state": {"waiting": waiting}}]}}
    error = start_error(spec(), pod)
    assert error is not None
    assert error.code == "app_layer_missing"


class Cluster:
    """An API server whose trial pods end as a test says. end: of a pod, by whether it has an image volume."""

    def __init__(self, server: TinyApiServer, engine: KubernetesEngine) -> None:
        self.server = server
        self.engine = engine
        self.end: Callable[[bool], dict[str, Any]] = lambda volume: {"phase": "Succeeded"}
        self.trials: list[bool] = []
        """Those that began, with whether they had an image volume."""
        self.begun = asyncio.Event()
        self.has_room = True
        create = server._create

        def created(path: str, body: Any) -> web.Response:
            if body["metadata"].get("labels", {}).get("carrel.check") == "layer":
                [volume] = body["spec"]["volumes"]
                self.trials.append("image" in volume)
                self.begun.set()
                body["status"] = self.end("image" in volume)
                if self.has_room:
                    body["spec"]["nodeName"] = "a"
            return create(path, body)

        server._create = created  # type: ignore[method-assign]

    def trial_pods(self) -> list[str]:
        return [path for path in self.server.paths("pods") if "carrel-layer-" in path]

    def set_runtime(self, version: str) -> None:
        one = machine()
        one["status"]["nodeInfo"]["containerRuntimeVersion"] = version
        self.server.objects["api/v1/nodes/a"] = one


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with TinyApiServer() as server:
        engine = KubernetesEngine(server.access(), "lab", layer=_IMAGE)
        made = Cluster(server, engine)
        made.set_runtime("containerd://2.3.1")
        yield made
        await engine.close()


async def test_a_cluster_whose_nodes_mount_images_is_tried_out_once(cluster: Cluster) -> None:
    for _ in range(2):
        assert await cluster.engine.try_layer(_IMAGE, _PULL) == "Mounted as an image volume."
    assert cluster.trials == [True]
    assert cluster.trial_pods() == []


async def test_image_volumes_that_do_not_run_programs_are_not_used(cluster: Cluster) -> None:
    denied = {"terminated": {"exitCode": 128, "reason": "StartError", "message": "permission denied"}}
    failed = {"phase": "Failed", "containerStatuses": [{"name": "session", "state": denied}]}
    cluster.end = lambda volume: failed if volume else {"phase": "Succeeded"}
    for _ in range(2):
        how = await cluster.engine.try_layer(_IMAGE, None)
        assert how.startswith("Copied into each pod")
        assert "permission denied" in how
    assert cluster.trials == [True, False]


async def test_an_api_server_without_image_volumes_is_named_as_the_reason(cluster: Cluster) -> None:
    def refuse(request: web.Request) -> web.StreamResponse | None:
        first = not cluster.trials and request.method == "POST" and request.path.endswith("/pods")
        if first:
            cluster.trials.append(True)
            return status(422, "Invalid", "must specify a volume type")
        return None

    cluster.server.refuse = refuse
    assert "must specify a volume type" in await cluster.engine.try_layer(_IMAGE, None)
    assert cluster.trials == [True, False]


async def test_a_runtime_without_image_volumes_is_named_as_the_reason(cluster: Cluster) -> None:
    cluster.set_runtime("containerd://1.6.20")
    assert "containerd 1.6.20 on a has no image volumes" in await cluster.engine.try_layer(_IMAGE, None)
    assert cluster.trials == [False]


async def test_a_layer_that_cannot_be_pulled_is_an_error_with_the_clusters_words(cluster: Cluster) -> None:
    waiting = {"waiting": {"reason": "ErrImagePull", "message": "no such host"}}
    cluster.end = lambda volume: {
        "phase": "Pending",
        "initContainerStatuses": [] if volume else [{"name": "layer", "state": waiting}],
        "containerStatuses": [{"name": "session", "state": waiting}] if volume else [],
    }
    with pytest.raises(EngineError, match="no such host") as refused:
        await cluster.engine.try_layer(_IMAGE, None)
    assert refused.value.code == "app_layer_missing"


_PULL_FAILED = {"waiting": {"reason": "ImagePullBackOff", "message": "429 Too Many Requests"}}
_NO_TRIALS = [
    ({"phase": "Pending", "containerStatuses": [{"name": "session", "state": _PULL_FAILED}]}, "429 Too Many"),
    ({"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory."}, "low on memory"),
    ({"phase": "Failed", "reason": "Shutdown"}, "Shutdown"),
]


@pytest.mark.parametrize(("end", "why"), _NO_TRIALS)
async def test_what_is_no_fault_of_image_volumes_says_nothing_about_them(
    cluster: Cluster, end: dict[str, Any], why: str
) -> None:
    cluster.end = lambda volume: end
    with pytest.raises(EngineError, match=why) as failed:
        await cluster.engine.try_layer(_IMAGE, None)
    assert failed.value.code == "app_layer_missing"
    cluster.end = lambda volume: {"phase": "Succeeded"}
    assert await cluster.engine.try_layer(_IMAGE, None) == "Mounted as an image volume."
    assert cluster.trials == [True, True]


@pytest.mark.parametrize(
    ("limit", "has_room", "why"),
    [("_UNSCHEDULED_S", False, "no node"), ("_TRIAL_S", True, "did not end in time")],
)
async def test_a_cluster_without_room_or_in_a_hurry_is_asked_again(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, limit: str, has_room: bool, why: str
) -> None:
    monkeypatch.setattr(layer_trial, limit, 0.1)
    monkeypatch.setattr(layer_trial, "_LOOK_S", 0.2)
    cluster.has_room = has_room
    cluster.end = lambda volume: {"phase": "Pending" if volume else "Succeeded"}
    with pytest.raises(EngineError, match=why):
        await cluster.engine.try_layer(_IMAGE, None)
    cluster.end = lambda volume: {"phase": "Succeeded"}
    assert await cluster.engine.try_layer(_IMAGE, None) == "Mounted as an image volume."


async def test_an_exhausted_quota_says_nothing_about_image_volumes(cluster: Cluster) -> None:
    full = "exceeded quota: all, requested: pods=1, used: pods=9, limited: pods=9"

    def refuse(request: web.Request) -> web.StreamResponse | None:
        creates = request.method == "POST" and request.path.endswith("/pods")
        return status(403, "Forbidden", full) if creates else None

    cluster.server.refuse = refuse
    with pytest.raises(QuotaExhausted):
        await cluster.engine.try_layer(_IMAGE, None)
    cluster.server.refuse = lambda request: None
    assert await cluster.engine.try_layer(_IMAGE, None) == "Mounted as an image volume."


async def test_starts_do_not_wait_for_the_end_of_a_long_trial(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layer_trial, "_WAIT_S", 0.1)
    cluster.end = lambda volume: {"phase": "Pending"}
    trial = asyncio.create_task(cluster.engine.try_layer(_IMAGE, None))
    await cluster.begun.wait()
    async with asyncio.timeout(5):
        with pytest.raises(EngineUnavailable, match="tries out"):
            await cluster.engine.ensure(spec(), ProgressLog())
    trial.cancel()
    await asyncio.wait([trial])
    assert cluster.trial_pods() == []


async def test_pods_that_a_killed_process_left_are_deleted_by_the_next_trial(cluster: Cluster) -> None:
    cluster.end = lambda volume: {"phase": "Pending"}
    for installation in ("lab", "other"):
        left = KubernetesEngine(cluster.server.access(), installation, layer=_IMAGE)
        trial = asyncio.create_task(left.try_layer(_IMAGE, None))
        await cluster.begun.wait()
        cluster.begun.clear()
        cluster.server.refuse = lambda request: status(500) if request.method == "DELETE" else None
        trial.cancel()
        await asyncio.wait([trial])
        cluster.server.refuse = lambda request: None
        await left.close()
    mine, others = cluster.trial_pods()
    cluster.end = lambda volume: {"phase": "Succeeded"}
    await cluster.engine.try_layer(_IMAGE, None)
    assert cluster.trial_pods() == [others]
    assert mine != others


async def test_pods_of_sessions_have_what_was_tried_out(cluster: Cluster) -> None:
    async def stop() -> None:
        raise EngineError("Another leader starts it.", retriable=True)

    with pytest.raises(EngineError, match="Another leader"):
        await cluster.engine.ensure(spec(layer_pull=_PULL), ProgressLog(), stop)
    pod = cluster.server.objects["api/v1/namespaces/carrel/pods/carrel-lab-abc"]
    assert volume_of(pod["spec"])["image"]["reference"] == _IMAGE
    assert cluster.trials == [True]
