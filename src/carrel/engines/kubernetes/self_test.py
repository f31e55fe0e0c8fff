"""What the cluster's network plug-in enforces of the policy of sessions, tried out with two pods.

    plain  <-->  subject  -->  API server, nodes, metadata service

Both listen. The policy selects the subject once it has the label of sessions: what it reached before, and what reached
it, must be refused then.
"""

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi
from carrel.engines.kubernetes.pod_processes import output_of
from carrel.engines.kubernetes.pods import SESSION, PodNames
from carrel.engines.port import WORK_UID, EngineError, EngineUnavailable

_PORT, _KUBELET, _HTTP = 7000, 10250, 80
_METADATA = "169.254.169.254"
_START_S = 20.0
_ENFORCED_S = 10.0
"""Plug-ins take effect some time after a change."""
_LOOK_S = 0.5
_LIFE_S = 120


class _Target(NamedTuple):
    """what: for people."""

    what: str
    host: str
    port: int


class SelfTest:
    """One run. image: with BusyBox."""

    def __init__(self, api: KubernetesApi, names: PodNames, image: str) -> None:
        self._api = api
        self._names = names
        self._image = image
        self._label = {"carrel.check": secrets.token_hex(4)}

    async def not_refused(self) -> list[str]:
        """What a session reaches, or is reached by, although the policy refuses it; empty: all of it is enforced.

        Raises: ApiError, EngineUnavailable; EngineError if it cannot be tried out.
        """
        try:
            plain, subject = await asyncio.gather(self._started("plain"), self._started("subject"))
            # 1. Without the policy: what is not reached now is no news later.
            outgoing = await self._reached(subject, await self._targets(plain, subject))
            incoming = await self._reached(plain, [_Target("incoming connections", _address(subject), _PORT)])
            if not incoming or outgoing[:1] != [_Target("other sessions", _address(plain), _PORT)]:
                raise EngineError("Pods of the cluster do not reach each other.", retriable=True)
            # 2. With it.
            labels = [
                {"op": "add", "path": f"/metadata/labels/{name}", "value": value}
                for name, value in self._names.labels.items()
            ]
            await self._api.patch(self._path("subject"), *labels)
            with suppress(TimeoutError):
                async with asyncio.timeout(_ENFORCED_S):
                    while outgoing or incoming:
                        await asyncio.sleep(_LOOK_S)
                        outgoing = await self._reached(subject, outgoing)
                        incoming = await self._reached(plain, incoming)
            return list(dict.fromkeys(one.what for one in (*outgoing, *incoming)))
        finally:
            await asyncio.gather(*(self._delete(role) for role in ("plain", "subject")))

    async def _targets(self, plain: Any, subject: Any) -> Sequence[_Target]:
        servers = [_Target("the API server", host, port) for host, port in await self._api.servers()]
        nodes = [_Target("nodes", pod["status"]["hostIP"], _KUBELET) for pod in (plain, subject)]
        others = _Target("other sessions", _address(plain), _PORT)
        return [others, *servers, *nodes, _Target("the metadata service", _METADATA, _HTTP)]

    async def _reached(self, pod: Any, targets: Sequence[_Target]) -> list[_Target]:
        """Those of the targets that the pod connects to."""
        lines = [
            f"(nc -w 2 {one.host} {one.port} -e true </dev/null 2>/dev/null && echo {number}) &"
            for number, one in enumerate(targets)
        ]
        script = "\n".join([*lines, "wait"])
        out = await output_of(
            self._api, f"{self._names.pods}/{pod['metadata']['name']}", ["sh", "-c", script]
        )
        return [targets[number] for number in sorted(int(line) for line in out.split())]

    async def _started(self, role: str) -> Any:
        """A pod that listens."""
        await self._api.call("POST", self._names.pods, body=self._manifest(role))
        pod: Any = None
        with suppress(TimeoutError):
            async with asyncio.timeout(_START_S):
                while True:
                    pod = await self._api.call("GET", self._path(role))
                    if pod["status"].get("phase") == "Running":
                        return pod
                    await asyncio.sleep(_LOOK_S)
        raise EngineError(f"A pod of the image {self._image} does not start in the cluster.", retriable=True)

    async def _delete(self, role: str) -> None:
        with suppress(ApiError, EngineUnavailable):
            await self._api.call("DELETE", self._path(role), body={"gracePeriodSeconds": 1})

    def _path(self, role: str) -> str:
        return f"{self._names.pods}/{self._name(role)}"

    def _name(self, role: str) -> str:
        return f"carrel-check-{self._label['carrel.check']}-{role}"

    def _manifest(self, role: str) -> dict[str, object]:
        """Restricted, and on another node than the other one if there are several."""
        apart = {
            "weight": 1,
            "podAffinityTerm": {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchLabels": self._label},
            },
        }
        container = {
            "name": SESSION,
            "image": self._image,
            "command": ["nc", "-ll", "-p", str(_PORT), "-e", "true"],
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        }
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": self._name(role), "labels": self._label},
            "spec": {
                # Whoever deletes it may not be there any more.
                "activeDeadlineSeconds": _LIFE_S,
                "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [apart]}},
                "automountServiceAccountToken": False,
                "enableServiceLinks": False,
                "terminationGracePeriodSeconds": 1,
                "securityContext": {
                    "runAsNonRoot": True,
                    "runAsUser": WORK_UID,
                    "runAsGroup": WORK_UID,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containers": [container],
            },
        }


def _address(pod: Any) -> str:
    return str(pod["status"]["podIP"])
