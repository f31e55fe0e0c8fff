"""A cluster whose nodes are simulated by KWOK: a real API server, etcd, scheduler and controllers, without kubelets.

Pods on its nodes run as soon as they have one, have an empty log, and use a little (`hollow_kubelet`).
"""

import asyncio
import json
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/cluster"))

import yaml
from go_programs import kwok, source_of_kwok
from own_cluster import Cluster
from people import eventually
from service_accounts import apply_rights, token

from bench import hollow_kubelet
from carrel.engines.kubernetes.credentials import ClusterAccess
from carrel.engines.kubernetes.kubernetes_api import KubernetesApi
from carrel.engines.kubernetes.pods import DEFAULT_SANDBOX, PodNames, manifest
from carrel.engines.port import ContainerSpec

_ROOT = Path(__file__).resolve().parent.parent
NAMESPACE = "carrel"
PODS = f"api/v1/namespaces/{NAMESPACE}/pods"
SLOTS = {"cpu": 100, "mem": 64 << 20}
IMAGE = "registry.invalid/hollow:1"
_AT_ONCE = 64
_READY_S = 900.0
_STAGES = ("node/fast", "node/heartbeat-with-lease", "pod/fast")
_LABEL = "bench.carrel.dev/managed"
_NODE = {"cpu": "64", "memory": "256Gi", "pods": "250"}


class HollowCluster:
    """api: as an administrator."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.api = KubernetesApi(ClusterAccess(cluster.kubeconfig.read_text()))
        self._nodes = self._pods = 0
        self._link = f"ccl{cluster.address.split('.')[1]}"

    def settings(self) -> dict[str, str]:
        """Of an engine, with the rights of Carrel."""
        authority = (self._cluster.folder / "ca.pem").read_text()
        return {
            "url": self._cluster.url,
            "token": token(self._cluster),
            "authority": authority,
            "namespace": NAMESPACE,
            "gateway_networks": f"{self._cluster.address}/32",
        }

    def traffic(self) -> int:
        """Bytes between this machine and the cluster so far, in both directions."""
        folder = Path(f"/sys/class/net/{self._link}/statistics")
        return sum(int((folder / name).read_text()) for name in ("rx_bytes", "tx_bytes"))

    def requests(self, since: int = 0) -> list[str]:
        """Verbs and resources of Carrel's requests, in order. since: a former size of the audit log."""
        lines = self._cluster.audit_log.read_bytes()[since:].splitlines()
        events = [json.loads(line) for line in lines if b"serviceaccount:carrel:carrel" in line]
        # Of a stream, the beginning and the end are logged.
        return list({one["auditID"]: _kind(one) for one in events if "objectRef" in one}.values())

    @property
    def audited(self) -> int:
        return self._cluster.audit_log.stat().st_size

    async def add_nodes(self, count: int) -> None:
        """Until there are so many."""
        bodies = [
            {"metadata": {"name": f"hollow-{number}", "labels": {_LABEL: "yes"}}, "status": _status()}
            for number in range(self._nodes, count)
        ]
        await _side_by_side(self.api.call("POST", "api/v1/nodes", body=body) for body in bodies)
        self._nodes = max(self._nodes, count)
        await self.until("api/v1/nodes", lambda one: _is_ready(one), count)

    async def add_pods(self, label: str, count: int) -> None:
        """Until there are so many of an installation, `r0` and up, on the nodes by turns."""
        bodies = [_running(label, number, self._nodes) for number in range(self._pods, count)]
        await _side_by_side(self.api.call("POST", PODS, body=body) for body in bodies)
        self._pods = max(self._pods, count)
        pods = await self.until(PODS, lambda one: one["status"]["phase"] == "Running", count)
        by_node: defaultdict[str, list[str]] = defaultdict(list)
        for pod in pods:
            by_node[pod["spec"]["nodeName"]].append(pod["metadata"]["uid"])
        (self._cluster.folder / hollow_kubelet.PODS).write_text(json.dumps(list(by_node.values())))

    async def start_pods(self, names: Sequence[str]) -> float:
        """Seconds until pods with these names run, each on its node, created and watched by the API alone."""
        bodies = [_bare(name, f"hollow-{number % self._nodes}") for number, name in enumerate(names)]
        chosen = {"labelSelector": "bench=bare"}
        _, version = await self.api.items(PODS, chosen)
        began = time.perf_counter()
        creating = asyncio.create_task(
            _side_by_side(self.api.call("POST", PODS, body=body) for body in bodies)
        )
        waited = set(names)
        async for event in self.api.changes(PODS, chosen, version):
            if event["type"] == "MODIFIED" and event["object"]["status"]["phase"] == "Running":
                waited.discard(event["object"]["metadata"]["name"])
                if not waited:
                    break
        took = time.perf_counter() - began
        await creating
        return took

    async def end_pods(self) -> None:
        """Delete those of `start_pods`."""
        await self.api.call("DELETE", PODS, params={"labelSelector": "bench=bare", "gracePeriodSeconds": "0"})
        await eventually(self._no_bare, every_s=0.2)

    async def _no_bare(self) -> bool:
        return not (await self.api.items(PODS, {"labelSelector": "bench=bare"}))[0]

    async def until(self, path: str, holds: Any, count: int) -> list[Any]:
        """All objects, once it holds for so many of them."""
        deadline = time.monotonic() + _READY_S
        while time.monotonic() < deadline:
            listed, _ = await self.api.items(path, {})
            if sum(bool(holds(one)) for one in listed) >= count:
                return listed
            await asyncio.sleep(1)
        raise TimeoutError(f"{path}: {count}")

    async def lose(self, node: str) -> None:
        """Let it be not ready, as its kubelet does not report any more."""
        gone = {"metadata": {"labels": {_LABEL: None}}}
        await self._merge(f"api/v1/nodes/{node}", gone)
        condition = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
        await self._merge(f"api/v1/nodes/{node}/status", {"status": {"conditions": [condition]}})

    async def _merge(self, path: str, body: object) -> None:
        await asyncio.to_thread(self._cluster.call, "PATCH", f"/{path}", body)


@asynccontextmanager
async def hollow_cluster() -> AsyncIterator[HollowCluster]:
    """A cluster without nodes yet, with Carrel's rights."""
    cluster = Cluster(nodes=0, loss_s=86_400)
    await asyncio.to_thread(cluster.__enter__)
    try:
        await asyncio.to_thread(_start_kwok, cluster)
        await asyncio.to_thread(apply_rights, cluster)
        own = HollowCluster(cluster)
        try:
            yield own
        finally:
            await own.api.close()
    finally:
        await asyncio.to_thread(cluster.close)


def _start_kwok(cluster: Cluster) -> None:
    folder, address = cluster.folder, cluster.url.removeprefix("https://").partition(":")[0]
    (folder / hollow_kubelet.PODS).write_text("[]")
    kubelet = "env", f"PYTHONPATH={_ROOT}", sys.executable, "-m", hollow_kubelet.__name__
    cluster.hub.start("kubelet", *kubelet, str(folder), address)
    options = {
        "cidr": "10.200.0.0/16",
        "nodeIP": address,
        "nodePort": hollow_kubelet.PORT,
        "serverAddress": "127.0.0.1:10247",
        "manageNodesWithLabelSelector": f"{_LABEL}=yes",
        "nodeLeaseDurationSeconds": 0,
        "podPlayStageParallelism": 16,
        "nodePlayStageParallelism": 16,
        "podsOnNodeSyncParallelism": 16,
    }
    version = "config.kwok.x-k8s.io/v1alpha1"
    parts = [yaml.safe_dump({"apiVersion": version, "kind": "KwokConfiguration", "options": options})]
    stages = source_of_kwok() / "kustomize/stage"
    parts += [
        path.read_text()
        for name in _STAGES
        for path in sorted((stages / name).glob("*.yaml"))
        if path.name != "kustomization.yaml"
    ]
    config = folder / "kwok.yaml"
    config.write_text("\n---\n".join(parts))
    cluster.hub.start("kwok", str(kwok()), f"--config={config}", f"--kubeconfig={cluster.kubeconfig}")


def _kind(event: Any) -> str:
    of = event["objectRef"]
    return f"{event['verb']} {'/'.join(filter(None, (of['resource'], of.get('subresource'))))}"


def _status() -> dict[str, Any]:
    return {"allocatable": _NODE, "capacity": _NODE}


def _running(label: str, number: int, nodes: int) -> Any:
    spec = ContainerSpec(f"r{number}", IMAGE, SLOTS, node=f"hollow-{number % nodes}")
    return _ungated(manifest(spec, PodNames(label, NAMESPACE), DEFAULT_SANDBOX, ""))


def _bare(name: str, node: str) -> Any:
    spec = ContainerSpec(name, IMAGE, SLOTS, node=node)
    pod: Any = _ungated(manifest(spec, PodNames("bare", NAMESPACE), DEFAULT_SANDBOX, ""))
    pod["metadata"] = {"name": name, "labels": {"bench": "bare"}}
    return pod


def _ungated(pod: Any) -> Any:
    del pod["spec"]["schedulingGates"]
    return pod


def _is_ready(node: Any) -> bool:
    return any(
        one["type"] == "Ready" and one["status"] == "True" for one in node["status"].get("conditions") or ()
    )


async def _side_by_side(calls: Iterable[Any]) -> None:
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(call: Any) -> None:
        async with room:
            await call

    async with asyncio.TaskGroup() as group:
        for call in calls:
            group.create_task(one(call))
