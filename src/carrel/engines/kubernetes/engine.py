"""The engine port over one Kubernetes cluster."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from carrel.engines.kubernetes import pod_answers, pod_start
from carrel.engines.kubernetes.cluster_access import ClusterAccess
from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi, sentences
from carrel.engines.kubernetes.pod_changes import PodChanges
from carrel.engines.kubernetes.pod_logs import read_logs
from carrel.engines.kubernetes.pod_processes import run_process, run_quietly
from carrel.engines.kubernetes.pods import LABEL_ID, LABEL_INSTALLATION, PodNames, grace, require_supported
from carrel.engines.port import (
    ContainerGone,
    ContainerSpec,
    ContainerUsage,
    EngineError,
    EngineUnavailable,
    ExecStream,
    LogRecord,
    NodeInfo,
    Observed,
    ObservedState,
    Permit,
    ProgressSink,
    TerminalSize,
)

_UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed"
_SUMMARIES_AT_ONCE = 32


class KubernetesEngine:
    """One cluster; a pod per container, in one namespace, which is created if it is missing.

    installation: label that distinguishes our pods from those of other installations; a-z, 0-9 and -.

    A container that has ended is started again as a new pod: only its folders are kept.
    Capabilities of its nodes: `cpu-limit`, `memory-limit`, `seccomp`.
    """

    def __init__(self, access: ClusterAccess, installation: str, *, namespace: str = "carrel") -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,30}", installation):
            raise ValueError(f"{installation!r} cannot name an installation: use a-z, 0-9 and -, at most 31.")
        self._api = KubernetesApi(access)
        self._names = PodNames(installation, namespace)
        self._changes = PodChanges(self._api, self._names)

    async def nodes(self) -> Sequence[NodeInfo]:
        with sentences():
            machines, _ = await self._api.items("api/v1/nodes", {})
            chosen = {
                "fieldSelector": _UNFINISHED,
                "labelSelector": f"{LABEL_INSTALLATION}!={self._names.installation}",
            }
            foreign, _ = await self._api.items("api/v1/pods", chosen)
        return pod_answers.nodes(machines, foreign)

    async def ensure(
        self, spec: ContainerSpec, progress: ProgressSink, permit: Permit | None = None
    ) -> Observed:
        require_supported(spec)
        with sentences():
            # 1. Create it behind its gate, or adopt it; one that has ended makes room for another.
            pod = await pod_start.create(self._api, self._names, spec)
            while (seen := pod_answers.observed(pod)).state is ObservedState.EXITED and not spec.once:
                await self._delete(pod, seconds=1)
                pod = await pod_start.create(self._api, self._names, spec)
            if seen.state is not ObservedState.STARTING:
                return seen
            # 2. Let it go to its node.
            if pod_start.is_gated(pod):
                if permit:
                    await permit()
                await pod_start.open_gate(self._api, self._names, spec.id)
            # 3. Wait for its main process.
            try:
                return pod_answers.observed(
                    await pod_start.started(self._api, self._names, spec, pod, progress)
                )
            except EngineUnavailable:
                raise
            except EngineError:
                # The next attempt begins anew, instead of when the kubelet tries again.
                with suppress(EngineError, ApiError):
                    await self._delete(pod, seconds=1)
                raise

    async def remove(self, container: str, *, grace_s: float, signal: str = "SIGTERM") -> None:
        with sentences():
            try:
                pod = await self._api.call("GET", self._names.path(container))
            except ApiError as error:
                if error.status != 404:
                    raise
                return
            if grace_s > 0 and signal != "SIGTERM":
                await self._signal(pod, signal, grace_s)
                grace_s = 0
            await self._delete(pod, seconds=grace(grace_s))

    async def list(self) -> Sequence[Observed]:
        with sentences():
            pods, _ = await self._api.items(self._names.pods, {"labelSelector": self._names.selector})
        return tuple(pod_answers.observed(pod) for pod in pods)

    def watch(self) -> AsyncIterator[str]:
        return self._changes.watch()

    @asynccontextmanager
    async def exec(
        self, container: str, command: Sequence[str], *, env: Mapping[str, str], terminal: TerminalSize | None
    ) -> AsyncIterator[ExecStream]:
        path = self._names.path(container)
        with sentences():
            async with run_process(self._api, path, command, env, terminal) as process:
                yield process

    async def logs(
        self, container: str, *, follow: bool, tail: int | None = None, since: bytes | None = None
    ) -> AsyncIterator[Sequence[LogRecord]]:
        path = self._names.path(container)
        with sentences():
            async for records in read_logs(self._api, path, follow=follow, tail=tail, since=since):
                yield records

    async def usage(self) -> Sequence[ContainerUsage]:
        with sentences():
            pods, _ = await self._api.items(
                self._names.pods,
                {"labelSelector": self._names.selector, "fieldSelector": "status.phase=Running"},
            )
        running = [pod for pod in pods if pod_answers.observed(pod).state is ObservedState.RUNNING]
        ours = {pod["metadata"]["uid"]: pod["metadata"]["labels"][LABEL_ID] for pod in running}
        at_once = asyncio.Semaphore(_SUMMARIES_AT_ONCE)
        names = {pod["spec"]["nodeName"] for pod in running}
        summaries = await asyncio.gather(*(self._summary(name, at_once) for name in names))
        return tuple(usage for one in summaries for usage in pod_answers.usages(one, ours))

    # Beyond the port: administration of the installation.

    async def purge(self) -> None:
        """Delete all pods of this installation, and their files. Twice: no-op."""
        with sentences():
            pods, _ = await self._api.items(self._names.pods, {"labelSelector": self._names.selector})
            await asyncio.gather(*(self._delete(pod, seconds=1) for pod in pods))

    async def release_if_idle(self) -> int:
        """The number of containers; without them, nothing of an installation remains."""
        return len(await self.list())

    async def close(self) -> None:
        """Close connections; containers are unaffected. Twice: no-op."""
        await self._changes.close()
        await self._api.close()

    async def _delete(self, pod: Mapping[str, Any], *, seconds: int) -> None:
        """Delete the pod and wait for its end; the cluster deletes its files with it."""
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        body = {"gracePeriodSeconds": seconds, "preconditions": {"uid": uid}}
        try:
            deleted = await self._api.call("DELETE", f"{self._names.pods}/{name}", body=body)
            if deleted["kind"] == "Pod":
                await pod_start.absent(self._api, self._names, deleted)
        except ApiError as error:
            # 409: another pod has its name since.
            if error.status not in (404, 409):
                raise

    async def _signal(self, pod: Mapping[str, Any], signal: str, grace_s: float) -> None:
        """Send the signal to the main process, and wait for its end, at most for the grace period."""
        path = f"{self._names.pods}/{pod['metadata']['name']}"
        words = ["/bin/sh", "-c", f"kill -{signal.removeprefix('SIG')} 1"]
        with suppress(TimeoutError, ContainerGone):
            async with asyncio.timeout(grace_s):
                await run_quietly(self._api, path, words)
                await pod_start.ended(self._api, self._names, pod)

    async def _summary(self, node: str, at_once: asyncio.Semaphore) -> Any:
        """A node's readings; empty if it does not answer."""
        async with at_once:
            try:
                return await self._api.call("GET", f"api/v1/nodes/{node}/proxy/stats/summary")
            except (ApiError, EngineUnavailable) as error:
                if isinstance(error, EngineUnavailable):
                    raise
                return {}
