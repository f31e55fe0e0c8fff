"""Sessions in a cluster that enforces network policies, with the gateway on this machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network

import cluster_images
from own_cluster import Cluster
from people import wait_until
from service_accounts import NAMESPACE, by_token
from test_kubernetes import KubernetesHarness

from carrel.engines.conformance_kit import ProgressLog, run, spec
from carrel.engines.kubernetes import KubernetesEngine
from carrel.engines.kubernetes.credentials import ClusterAccess
from carrel.engines.kubernetes.isolation import Reachability
from carrel.engines.kubernetes.kubernetes_api import KubernetesApi
from carrel.engines.kubernetes.pod_processes import output_of
from carrel.engines.port import Claimant, ContainerSpec, Observed, Permit, ProgressSink

LISTENS = ("nc", "-ll", "-p", "7000", "-e", "hostname")
_PODS = "api/v1/namespaces/default/pods"
_WITHIN_S = 60.0


class SpreadEngine(KubernetesEngine):
    """Places the containers of a private network on the cluster's nodes in turn."""

    nodes_in_turn: tuple[str, ...] = ()

    async def ensure(
        self, spec: ContainerSpec, progress: ProgressSink, permit: Permit | None = None
    ) -> Observed:
        if spec.network:
            turn = spec.network.hosts.index(spec.network.host)
            spec = replace(spec, node=self.nodes_in_turn[turn % len(self.nodes_in_turn)])
        return await super().ensure(spec, progress, permit)


class IsolatedHarness(KubernetesHarness):
    def _made(
        self, installation: str, claimant: Claimant | None = None, access: ClusterAccess | None = None
    ) -> KubernetesEngine:
        engine = SpreadEngine(
            access or by_token(self.cluster),
            installation,
            claimant=claimant,
            namespace=NAMESPACE,
            reachability=Reachability(gateway_networks=(ip_network(self.cluster.address),)),
            check_image=cluster_images.tiny("work"),
        )
        engine.nodes_in_turn = tuple(node.name for node in self.cluster.nodes)
        self.engines.append(engine)
        return engine

    async def session(self, *command: str, node: str = "") -> Observed:
        """A new container of a session of its own."""
        return await self.engine.ensure(replace(spec(self, *command), node=node), ProgressLog())

    async def reaches(self, session: Observed, *targets: tuple[str, int]) -> list[bool]:
        """Whether each target can be connected to from inside."""
        ran = await run(self.engine, session.id, "sh", "-c", _probes(targets))
        return [answer == b"REACHED" for answer in ran.stdout.split()]


@asynccontextmanager
async def isolated(cluster: Cluster) -> AsyncIterator[IsolatedHarness]:
    harness = IsolatedHarness(cluster)
    yield harness
    await harness.close()


class Bystander:
    """A pod of somebody else, to which no policy applies: the counterpart of probes."""

    def __init__(self, harness: IsolatedHarness, name: str) -> None:
        self._harness = harness
        self._path = f"{_PODS}/{name}"
        self.address = ""

    async def start(self) -> None:
        name = self._path.rsplit("/", 1)[1]
        container = {"name": "session", "image": cluster_images.tiny("work"), "command": list(LISTENS)}
        spec = {"containers": [container], "terminationGracePeriodSeconds": 1}
        body = {"metadata": {"name": name}, "spec": spec}
        await asyncio.to_thread(self._harness.cluster.call, "POST", f"/{_PODS}", body)
        self.address = await asyncio.to_thread(self._running)

    def _running(self) -> str:
        """Wait until it runs; its address."""

        def address() -> str | None:
            status = self._harness.cluster.call("GET", f"/{self._path}")["status"]
            return status["podIP"] if status.get("phase") == "Running" else None

        return wait_until(address, within_s=_WITHIN_S) or ""

    async def reaches(self, *targets: tuple[str, int]) -> list[bool]:
        api = KubernetesApi(ClusterAccess(kubeconfig=self._harness.cluster.kubeconfig.read_text()))
        answers = await output_of(api, self._path, ["sh", "-c", _probes(targets)])
        await api.close()
        return [answer == b"REACHED" for answer in answers.split()]

    async def delete(self) -> None:
        await asyncio.to_thread(self._harness.cluster.call, "DELETE", f"/{self._path}")


def _probes(targets: tuple[tuple[str, int], ...]) -> str:
    """A script that prints REACHED or REFUSED for each target, in their order."""
    lines = [
        f"if nc -w 2 {host} {port} -e true </dev/null 2>/dev/null; then echo REACHED; else echo REFUSED; fi"
        for host, port in targets
    ]
    return "\n".join(lines)
