"""The engine port over one Kubernetes cluster."""

import asyncio
import re
import socket
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from heapq import nsmallest
from typing import Any

from carrel.core.slots import SlotKind
from carrel.engines import runtimes
from carrel.engines.kubernetes import (
    pod_answers,
    pod_end,
    pod_events,
    pod_ports,
    pod_start,
    runtime_classes,
)
from carrel.engines.kubernetes.claim_objects import ClaimObjects
from carrel.engines.kubernetes.claimed_devices import ClaimedDevices
from carrel.engines.kubernetes.cluster_devices import ClusterDevices
from carrel.engines.kubernetes.cluster_nodes import ClusterNodes, Responding, responding
from carrel.engines.kubernetes.cluster_watch import ClusterWatch
from carrel.engines.kubernetes.credentials import ClusterAccess
from carrel.engines.kubernetes.device_metrics import DeviceMetricsReader
from carrel.engines.kubernetes.isolation import ONLY_INTERNET, Isolation, Reachability
from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi, sentences
from carrel.engines.kubernetes.layer_trial import LayerTrial
from carrel.engines.kubernetes.pod_layers import MISSING
from carrel.engines.kubernetes.pod_logs import read_logs
from carrel.engines.kubernetes.pod_ports import PodPorts
from carrel.engines.kubernetes.pod_processes import run_process, run_quietly, send_input
from carrel.engines.kubernetes.pods import (
    DEFAULT_SANDBOX,
    PodNames,
    Sandbox,
    grace,
    node_of,
    require_supported,
)
from carrel.engines.kubernetes.runtime_classes import RuntimeClass, without_overhead
from carrel.engines.kubernetes.self_test import SelfTest
from carrel.engines.kubernetes.taints import Toleration
from carrel.engines.label_claim import LabelClaim
from carrel.engines.optional import FORWARDED, NETWORK_POLICY, USER_NAMESPACES, StoredImage
from carrel.engines.port import (
    Claimant,
    ContainerGone,
    ContainerSpec,
    ContainerUsage,
    EngineError,
    EngineUnavailable,
    ExecStream,
    LogRecord,
    MachineAwaited,
    NodeInfo,
    Observed,
    ObservedState,
    Permit,
    ProgressSink,
    PullCredentials,
    TerminalSize,
)
from carrel.engines.volumes import VolumeKind

SUMMARIES = 300
"""So that a thousand nodes are each read in less than a minute, and more of them do not cost more."""
NO_CLASSES: Mapping[str, SlotKind] = {}
_SUMMARIES_AT_ONCE = 32
_SUMMARY_S = 10.0


class KubernetesEngine:
    """One cluster; a pod per container, in one namespace, which is created if it is missing.

    installation: label that distinguishes our pods from those of other installations; a-z, 0-9 and -.
    claimant: the database that the label must be bound to; None: not checked.

    A container that has ended is started again as a new pod: only its folders are kept.
    extended_resources: of device plug-ins, offered besides those of known vendors. device_classes: slot kinds of the
    classes whose devices are offered, by claims. device_metrics_url: see `DeviceMetricsReader`.
    at_once: of containers that start; of each, the API server has a few requests and a watch.
    layer: the image of the app layer, in a registry that the nodes reach. layer_directory: of each node, where it is
    kept if there are no image volumes; empty: each pod has a copy.
    Capabilities of its nodes: `cpu-limit`, `memory-limit`, `seccomp`, `elastic`; its runtime classes (`runtimes`);
    `user-namespaces` where pods have them; `network-policy` since a self-test has found that the cluster enforces
    network policies; with forwards_ports, `forwarded-ports`, and containers have no address.
    """

    volume_kinds = frozenset(VolumeKind)
    at_once = 128

    def __init__(
        self,
        access: ClusterAccess,
        installation: str,
        *,
        claimant: Claimant | None = None,
        namespace: str = "carrel",
        domain: str = "cluster.local",
        reachability: Reachability = ONLY_INTERNET,
        sandbox: Sandbox = DEFAULT_SANDBOX,
        check_image: str = "",
        tolerations: Sequence[Toleration] = (),
        extended_resources: Collection[str] = (),
        device_classes: Mapping[str, SlotKind] = NO_CLASSES,
        device_metrics_url: str = "",
        forwards_ports: bool = False,
        layer: str = "",
        layer_directory: str = "",
    ) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,30}", installation):
            raise ValueError(f"{installation!r} cannot name an installation: use a-z, 0-9 and -, at most 31.")
        self._api = KubernetesApi(access)
        self._names = PodNames(installation, namespace, domain, tuple(tolerations))
        self.claim = LabelClaim(ClaimObjects(self._api, self._names), installation, claimant)
        self._claimed = ClaimedDevices(self._api, self._names, device_classes)
        self._device_metrics = DeviceMetricsReader(self._api, device_metrics_url)
        self._devices = ClusterDevices(self._names, self._claimed, self._device_metrics)
        self._watch = ClusterWatch(self._api, self._names, self._claimed.lists)
        self._nodes = ClusterNodes(self._api, self._watch.machines)
        self._place = self._api, self._names, self._nodes
        self._isolation = Isolation(self._api, self._names, reachability)
        self._layers = LayerTrial(self._api, self._names, layer, layer_directory)
        self._check_image = check_image
        self._extended_resources = frozenset(extended_resources)
        self._sandbox = sandbox
        self._ready: Mapping[str, Mapping[str, Any]] = {}
        """The nodes that are ready, by name."""
        self._runtimes: Mapping[str, RuntimeClass] = {}
        """The runtime classes by name."""
        self._ports = PodPorts(self._api, self._nodes)
        self._forwards_ports = forwards_ports
        self._summarized: dict[str, float] = {}
        """When the summary of a node was read, by the monotonic clock."""

    async def nodes(self) -> Sequence[NodeInfo]:
        with sentences():
            await self.claim.require()
            await self.claim.answer()
            machines = await self._isolated()
            foreign = await self._watch.foreign.read()
            ours = await self._watch.pods.read()
            nodes = await self._devices.added(
                pod_answers.nodes(
                    machines, foreign, self._names.tolerations, ours=ours, extended=self._extended_resources
                ),
                machines,
                ours,
            )
        shared = {NETWORK_POLICY} if self._isolation.enforced else set[str]()
        if self._forwards_ports:
            shared.add(FORWARDED)
        return tuple(
            replace(node, capabilities=node.capabilities | shared | self._of_runtimes(machine))
            for node, machine in zip(nodes, machines, strict=True)
        )

    async def images_by_node(self) -> Mapping[str, Sequence[StoredImage]]:
        """Each kubelet reports its largest images, 50 by default."""
        with sentences():
            machines = await self._nodes.all()
        return {one["metadata"]["name"]: pod_answers.images(one) for one in machines}

    async def ensure(
        self, spec: ContainerSpec, progress: ProgressSink, permit: Permit | None = None
    ) -> Observed:
        require_supported(spec)
        with sentences():
            await self.claim.require()
            if not self._isolation.applied or (spec.runtime and spec.runtime not in self._runtimes):
                await self._isolated()
            # 1. Create it behind its gate, or adopt it; one that has ended makes room for another.
            pod = await self._pod(spec)
            while (seen := self._observed(pod)).state is ObservedState.EXITED and not spec.once:
                await self._delete(pod)
                pod = await self._pod(spec)
            self._watch.pods.put(pod)
            if node := pod["spec"].get("nodeName"):
                await self._nodes.require(node)
            if seen.state is not ObservedState.STARTING:
                return _with_image(seen, pod)
            # 2. Let it go to its node.
            if pod_start.is_gated(pod):
                if permit:
                    await permit()
                await pod_start.open_gate(self._api, self._names, spec.id)
            # 3. Wait for its main process.
            try:
                pod = await pod_start.started(*self._place, spec, pod, progress)
            except (EngineUnavailable, MachineAwaited):
                raise
            except EngineError as error:
                if error.code == MISSING:
                    self._layers.forget()
                # The next attempt begins anew, instead of when the kubelet tries again.
                with suppress(EngineError, ApiError):
                    await self._delete(pod)
                raise
            self._watch.pods.put(pod)
            return _with_image(self._observed(pod), pod)

    async def remove(self, container: str, *, grace_s: float, signal: str = "SIGTERM") -> None:
        with sentences():
            await self.claim.require()
            try:
                pod = await self._api.call("GET", self._names.path(container))
            except ApiError as error:
                if error.status != 404:
                    raise
                return
            if grace_s > 0 and signal != "SIGTERM":
                if await self._nodes.are_ready([node_of(pod)]):
                    await self._signal(pod, signal, grace_s)
                grace_s = 0
            await self._delete(pod, seconds=grace(grace_s))

    async def list(self) -> Sequence[Observed]:
        with sentences():
            await self.claim.require()
            pods = await self._watch.pods.read()
            ready = await self._nodes.are_ready({pod.node for pod in pods if pod.node})
        return tuple(self._reached(pod.observed) for pod in pods if pod.node in {"", *ready})

    def watch(self) -> AsyncIterator[str]:
        return self._watch.watch()

    @asynccontextmanager
    async def exec(
        self, container: str, command: Sequence[str], *, env: Mapping[str, str], terminal: TerminalSize | None
    ) -> AsyncIterator[ExecStream]:
        path = self._names.path(container)
        with sentences():
            await self.claim.require()
            async with run_process(self._api, self._nodes, path, command, env, terminal) as process:
                yield process

    async def send(self, container: str, content: bytes) -> None:
        with sentences():
            await self.claim.require()
            await send_input(self._api, self._nodes, self._names.path(container), content)

    async def logs(
        self, container: str, *, follow: bool, tail: int | None = None, since: bytes | None = None
    ) -> AsyncIterator[Sequence[LogRecord]]:
        path = self._names.path(container)
        with sentences():
            await self.claim.require()
            async for records in read_logs(self._api, path, follow=follow, tail=tail, since=since):
                yield records

    async def usage(self) -> Sequence[ContainerUsage]:
        with sentences():
            await self.claim.require()
            running = [
                pod for pod in await self._watch.pods.read() if pod.observed.state is ObservedState.RUNNING
            ]
            names = self._to_summarize(await self._nodes.are_ready({pod.node for pod in running}))
        ours = {pod.uid: pod.observed.id for pod in running}
        at_once = asyncio.Semaphore(_SUMMARIES_AT_ONCE)
        summaries = await asyncio.gather(*(self._summary(name, at_once) for name in names))
        usages = tuple(usage for one in summaries for usage in pod_answers.usages(one, ours))
        return self._devices.used(usages, self._ready.values(), running)

    def _to_summarize(self, names: Collection[str]) -> Collection[str]:
        """As many of these nodes as are read at a time, those first that have waited longest."""
        self._summarized = {name: at for name, at in self._summarized.items() if name in names}
        chosen = nsmallest(SUMMARIES, names, key=lambda name: self._summarized.get(name, 0.0))
        self._summarized |= dict.fromkeys(chosen, time.monotonic())
        return chosen

    async def connect_port(self, container: str, port: int) -> socket.socket:
        with sentences():
            await self.claim.require()
            return await self._ports.connect(self._names.path(container), port)

    async def reachable(self) -> bool | None:
        with sentences():
            answer = await self._api.call(
                "GET", "api/v1/pods", params={"fieldSelector": "status.phase=Running", "limit": "50"}
            )
        return await pod_ports.reachable(answer["items"])

    # Beyond the port: reports, checks, and administration of the installation.

    async def reports(self, containers: Collection[str]) -> Mapping[str, Sequence[str]]:
        with sentences():
            await self.claim.require()
            known = await pod_events.reports(self._api, self._names, containers)
        ends = {one: [why] for one in containers if (why := self._watch.ends.get(one))}
        return {one: [*known.get(one, ()), *ends.get(one, ())] for one in {**known, **ends}}

    @property
    def layer(self) -> str:
        return self._layers.reference

    async def try_layer(self, reference: str, credentials: PullCredentials | None) -> str:
        with sentences():
            await self.claim.require()
            await self._layers.layer(reference, credentials, await self._isolated())
        return self._layers.sentence()

    @property
    def protected(self) -> bool:
        return self._api.protected

    async def self_test(self) -> str:
        with sentences():
            await self.claim.require()
            await self._isolated()
            not_refused = await SelfTest(self._api, self._names, self._check_image).not_refused()
            await self._isolation.record(enforced=not not_refused)
        if not_refused:
            return f"It does not enforce network policies: not refused are {', '.join(not_refused)}."
        return "It enforces network policies."

    async def purge(self) -> None:
        """Delete all pods of this installation with their files, its network policy, the claim of its label, and the
        namespace if this connection has created it. Twice: no-op.

        Raises: ClaimedElsewhere.
        """
        with sentences():
            await self.claim.require()
            pods, _ = await self._api.items(self._names.pods, {"labelSelector": self._names.selector})
            await asyncio.gather(*(self._delete(pod) for pod in pods))
            await self._layers.clean()
            await self._isolation.purge()
            await self.claim.release()
            if not await self.claim.others():
                await self._api.delete_created_namespaces()

    async def release_if_idle(self) -> int:
        """The number of containers. Without them, only the claim of the label remains: otherwise a copy of the database
        could take it.
        """
        return len(await self.list())

    async def close(self) -> None:
        """Close connections; containers are unaffected. Twice: no-op."""
        await self._device_metrics.close()
        await self._watch.close()
        await self._ports.close()
        await self._api.close()

    def _of_runtimes(self, machine: Mapping[str, Any]) -> frozenset[str]:
        """Capabilities of a node by its runtimes."""
        there = [one for one in self._runtimes.values() if one.runs_on(machine)]
        known = {runtimes.capability(one.name) for one in there}
        if self._sandbox.user_namespaces:
            remapped = {USER_NAMESPACES: self._handler(self._sandbox.runtime_class)}
            remapped |= {runtimes.user_namespaces(one.name): one.handler for one in there}
            known |= {
                capability
                for capability, handler in remapped.items()
                if pod_answers.has_user_namespaces(machine, handler)
            }
        return frozenset(known)

    async def _pod(self, spec: ContainerSpec) -> Any:
        """The pod of the container: the existing one, or a new one behind its gate.

        One that has been permitted to start is adopted even if its runtime class has changed since.
        Raises: EngineError, ApiError.
        """
        try:
            sandboxed, sandbox = self._sandboxed(spec)
        except EngineError:
            if adopted := await pod_start.permitted(self._api, self._names, spec):
                return adopted
            raise
        layer = None
        if spec.layer:
            layer = await self._layers.layer(spec.layer, spec.layer_pull, tuple(self._ready.values()))
        pod = await pod_start.create(*self._place, sandboxed, sandbox, layer)
        if pod_start.is_gated(pod):
            await self._claimed.claim(spec, pod)
        return pod

    def _sandboxed(self, spec: ContainerSpec) -> tuple[ContainerSpec, Sandbox]:
        """The container with what its runtime class leaves of its slots, and its sandbox. Raises: EngineError."""
        if spec.runtime and spec.runtime not in self._runtimes:
            raise runtimes.missing(spec.runtime, self._runtimes)
        name = spec.runtime or self._sandbox.runtime_class
        if not spec.helper and (runtime := self._runtimes.get(name)):
            spec = replace(spec, slots=without_overhead(spec.slots, runtime))
        remapped = self._sandbox.user_namespaces and pod_answers.remapped_everywhere(
            spec, self._ready, self._handler(name)
        )
        return spec, Sandbox(name, remapped)

    def _handler(self, runtime_class: str) -> str:
        """Without the right to list runtime classes, the usual one: that of the same name."""
        known = self._runtimes.get(runtime_class)
        return known.handler if known else runtime_class

    async def _isolated(self) -> Sequence[Any]:
        """The nodes that are ready, and the runtime classes. Afterwards the network policy of the installation is in
        place.
        """
        machines = await self._nodes.all()
        await self._isolation.apply(machines)
        ready = [one for one in machines if responding(one) is Responding.READY]
        self._ready = {one["metadata"]["name"]: one for one in ready}
        self._runtimes = {one.name: one for one in await runtime_classes.read(self._watch.runtime_classes)}
        return ready

    def _observed(self, pod: Mapping[str, Any]) -> Observed:
        return self._reached(pod_answers.observed(pod))

    def _reached(self, seen: Observed) -> Observed:
        return replace(seen, address=None) if self._forwards_ports else seen

    async def _delete(self, pod: Mapping[str, Any], *, seconds: int = 1) -> None:
        await pod_end.delete(*self._place, pod, seconds=seconds)
        self._watch.pods.drop(pod)

    async def _signal(self, pod: Mapping[str, Any], signal: str, grace_s: float) -> None:
        """Send the signal to the main process, and wait for its end, at most for the grace period."""
        path = f"{self._names.pods}/{pod['metadata']['name']}"
        words = ["/bin/sh", "-c", f"kill -{signal.removeprefix('SIG')} 1"]
        with suppress(TimeoutError, ContainerGone):
            async with asyncio.timeout(grace_s):
                await run_quietly(self._api, path, words)
                await pod_start.ended(self._api, self._names, pod)

    async def _summary(self, node: str, at_once: asyncio.Semaphore) -> Any:
        """A node's readings; empty if it does not answer, or if they may not be read."""
        async with at_once:
            with suppress(ApiError, EngineUnavailable):
                path = f"api/v1/nodes/{node}/proxy/stats/summary"
                return await self._api.call("GET", path, timeout_s=_SUMMARY_S)
            return {}


def _with_image(seen: Observed, pod: Mapping[str, Any]) -> Observed:
    digest, image_id = pod_answers.image_identity(pod)
    return replace(seen, image_digest=digest, image_id=image_id)
