"""An API server that is busy, slow or half dead, that forgets old versions, or does not accept our credentials."""

import asyncio
import json
import shlex
import stat
import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import cluster_images
import pytest
from api_front import ApiFront, busy, events, gone, never, too_old
from own_cluster import Cluster
from people import eventually
from service_accounts import NAMESPACE, be_in_cluster, expired_token, token

from carrel.engines.conformance_kit import HarnessListener, ProgressLog
from carrel.engines.kubernetes import KubernetesEngine, kubernetes_api
from carrel.engines.kubernetes.credentials import ClusterAccess
from carrel.engines.port import ContainerSpec, EngineError, EngineUnavailable, ObservedState

Make = Callable[[ClusterAccess], KubernetesEngine]
_PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
_WATCH = "carrel.id&watch=true"
"""In the address of the watch of our pods."""


@pytest.fixture
async def make(cluster: Cluster) -> AsyncIterator[Make]:
    """Makes engines of one installation, with credentials of a test's choice."""
    label = f"test-{uuid.uuid4().hex[:8]}"
    engines = [KubernetesEngine(ClusterAccess(cluster.kubeconfig.read_text()), label, namespace=NAMESPACE)]

    def add(access: ClusterAccess) -> KubernetesEngine:
        engines.append(KubernetesEngine(access, label, namespace=NAMESPACE))
        return engines[-1]

    yield add
    await engines[0].purge()
    for engine in engines:
        await engine.close()


@pytest.fixture
async def front(cluster: Cluster) -> AsyncIterator[ApiFront]:
    async with ApiFront(cluster) as front:
        yield front


def idle(name: str = "abc") -> ContainerSpec:
    return ContainerSpec(name, cluster_images.tiny("work"), {"cpu": 100, "mem": 64 << 20})


# Busy, slow, half dead


@pytest.mark.parametrize("retry_after", ["0", "Wed, 21 Oct 2026 07:28:00 GMT"])
async def test_a_busy_server_is_asked_again(
    front: ApiFront, make: Make, monkeypatch: pytest.MonkeyPatch, retry_after: str
) -> None:
    monkeypatch.setattr(kubernetes_api, "_LONGEST_WAIT_S", 0.01)
    front.instead(_PODS, *[busy(retry_after)] * 4)
    assert await make(front.access()).list() == ()
    assert len([path for path in front.seen if path.startswith(_PODS)]) == 5


async def test_a_server_that_stays_busy_is_an_error_that_passes(
    front: ApiFront, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubernetes_api, "_LONGEST_WAIT_S", 0.01)
    front.instead(_PODS, *[busy("1")] * 5)
    with pytest.raises(EngineError, match="slow down") as refused:
        await make(front.access()).list()
    assert refused.value.retriable


async def test_a_server_that_does_not_answer_in_time_is_unavailable(
    front: ApiFront, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubernetes_api, "_ANSWER_S", 0.2)
    front.instead(_PODS, never)
    engine = make(front.access())
    with pytest.raises(EngineUnavailable, match="too long"):
        await engine.list()
    monkeypatch.undo()
    assert await engine.list() == ()


async def test_a_watch_of_a_server_that_fell_silent_ends(
    front: ApiFront, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubernetes_api, "_SILENT_S", 0.2)
    front.instead("watch=true", *[never] * 3)
    listener = HarnessListener(make(front.access()))
    await asyncio.wait_for(listener.task, 30)


# Versions


async def test_a_list_whose_version_is_compacted_between_pages_is_read_anew(
    cluster: Cluster, front: ApiFront, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubernetes_api, "_PAGE", 1)
    engine = make(front.access())
    names = {"a", "b", "c"}
    for name in names:
        await engine.ensure(idle(name), ProgressLog())
    front.instead("continue=", gone)
    assert {one.id for one in await engine.list()} == names


async def test_a_start_goes_on_where_its_watch_is_too_old(front: ApiFront, make: Make) -> None:
    front.instead("watch=true", *[too_old] * 2)
    made = await make(front.access()).ensure(idle(), ProgressLog())
    assert made.state is ObservedState.RUNNING


async def test_watchers_of_a_version_that_is_too_old_list_again(front: ApiFront, make: Make) -> None:
    front.instead("watch=true", too_old)
    await asyncio.wait_for(HarnessListener(make(front.access())).task, 30)


async def test_a_watch_goes_on_after_its_last_bookmark(front: ApiFront, make: Make) -> None:
    bookmark = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "12345"}}}
    front.instead(_WATCH, events(bookmark), never)
    listener = HarnessListener(make(front.access()))
    await eventually(lambda: sum(_WATCH in path for path in front.seen) == 2)
    listener.task.cancel()
    [_, second] = [path for path in front.seen if _WATCH in path]
    assert "resourceVersion=12345" in second
    assert "allowWatchBookmarks=true" in second


# Credentials


async def test_an_expired_token_is_read_anew_from_its_file(
    cluster: Cluster, make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = be_in_cluster(cluster, monkeypatch, tmp_path, expired_token(cluster))
    engine = make(ClusterAccess())
    with pytest.raises(EngineUnavailable, match="does not accept"):
        await engine.nodes()
    path.write_text(token(cluster))
    assert await engine.nodes()


async def test_an_exec_plug_in_is_run_again_when_its_token_has_expired(
    cluster: Cluster, make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CARREL_KUBECONFIG_COMMANDS", f"aws,{tmp_path}/plugin")
    engine = make(ClusterAccess(_by_plugin(cluster, tmp_path, expired_token(cluster))))
    with pytest.raises(EngineUnavailable, match="does not accept"):
        await engine.nodes()
    (tmp_path / "token").write_text(token(cluster))
    runs = len((tmp_path / "runs").read_text())
    assert await engine.nodes()
    assert await engine.list() == ()
    assert len((tmp_path / "runs").read_text()) == runs + 1


async def test_an_exec_plug_in_that_is_missing_is_reported(
    cluster: Cluster, make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CARREL_KUBECONFIG_COMMANDS", f"aws,{tmp_path}/plugin")
    kubeconfig = _by_plugin(cluster, tmp_path, "x")
    (tmp_path / "plugin").unlink()
    with pytest.raises(EngineUnavailable, match=r"credentials .* cannot be used.*plugin"):
        await make(ClusterAccess(kubeconfig)).nodes()


def _by_plugin(cluster: Cluster, folder: Path, content: str) -> str:
    """A kubeconfig with a program that prints the token in a file, and counts its runs."""
    (folder / "token").write_text(content)
    version = "client.authentication.k8s.io/v1"
    credential = {"apiVersion": version, "kind": "ExecCredential", "status": {"token": "TOKEN"}}
    printed = json.dumps(credential)
    (folder / "plugin").write_text(
        f"#!/bin/sh\nprintf x >>{folder}/runs\n"
        f'printf %s {shlex.quote(printed)} | sed "s/TOKEN/$(cat {folder}/token)/"\n'
    )
    (folder / "plugin").chmod(stat.S_IRWXU)
    kubeconfig = json.loads(cluster.kubeconfig.read_text())
    kubeconfig["users"][0]["user"] = {"exec": {"apiVersion": version, "command": str(folder / "plugin")}}
    return json.dumps(kubeconfig)
