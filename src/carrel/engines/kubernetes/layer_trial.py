"""How a cluster can mount the app layer, tried out with a pod of the layer's own image that runs a program of the
mounted layer.

Versions alone do not tell: features can be off, and some runtimes mount images so that their programs cannot run.
"""

import asyncio
import secrets
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from carrel.engines.kubernetes import pod_secrets
from carrel.engines.kubernetes.admission_errors import refusal
from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi
from carrel.engines.kubernetes.pod_layers import (
    NOT_PULLED,
    LayerMount,
    PodLayer,
    lacking,
    missing,
    start_failure,
)
from carrel.engines.kubernetes.pods import SESSION, PodNames
from carrel.engines.port import APP_LAYER, WORK_UID, EngineUnavailable, PullCredentials, QuotaExhausted

_TRIAL_S = 1800
"""Time for the pull and the copy."""
_LOOK_S = 0.5
_UNSCHEDULED_S = 60.0
_WAIT_S = 30.0
"""For the end of a trial that somebody else has begun."""
_OWNER = "carrel.check-owner"
"""Label of the trial pods of an installation, which others have in the same namespace too."""
_RESTRICTED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


class LayerTrial:
    """The layer of one engine. reference: of its image; empty: none. directory: of each node, to keep it in."""

    def __init__(self, api: KubernetesApi, names: PodNames, reference: str, directory: str) -> None:
        self._api = api
        self._names = names
        self.reference = reference
        self._directory = directory
        self._trying = asyncio.Lock()
        self._known: PodLayer | None = None
        self._versions = ""
        """What `lacking` said of the nodes at the trial."""
        self._reason = ""
        """Why it is no image volume."""

    async def layer(
        self, reference: str, credentials: PullCredentials | None, machines: Sequence[Any]
    ) -> PodLayer:
        """How pods have it; tried out on first use, and again once the nodes have other versions.

        Raises: ApiError; EngineUnavailable, also while it is being tried out; EngineError (app_layer_missing) if they
        cannot have it, or if that cannot be tried out now.
        """
        try:
            async with asyncio.timeout(_WAIT_S):
                await self._trying.acquire()
        except TimeoutError:
            raise EngineUnavailable("The cluster still tries out how pods have the app layer.") from None
        try:
            lacks = lacking(machines)
            known = self._known
            if known is None or known.reference != reference or bool(lacks) != bool(self._versions):
                self._known = None
                self._versions = lacks
                await self.clean()
                self._known = known = await self._tried(reference, credentials, lacks)
            return known
        finally:
            self._trying.release()

    async def clean(self) -> None:
        """Delete the pods of trials that were cut off; the cluster deletes their secrets. Raises: ApiError,
        EngineUnavailable.
        """
        pods, _ = await self._api.items(
            self._names.pods, {"labelSelector": f"{_OWNER}={self._names.installation}"}
        )
        for pod in pods:
            await self._delete(pod["metadata"]["name"])

    def forget(self) -> None:
        """Try it out again: a pod could not have it."""
        self._known = None

    def sentence(self) -> str:
        """How pods have it, and what that costs."""
        if self._known is None:
            return ""
        if self._known.mount is LayerMount.IMAGE_VOLUME:
            return "Mounted as an image volume."
        if self._known.mount is LayerMount.DIRECTORY:
            return f"Kept in {self._directory} on each node: {self._reason}."
        return f"Copied into each pod, which takes time and disk: {self._reason}."

    async def _tried(self, reference: str, credentials: PullCredentials | None, lacks: str) -> PodLayer:
        if not lacks:
            layer = PodLayer(reference, LayerMount.IMAGE_VOLUME)
            refused = await self._refused(layer, credentials)
            if not refused:
                return layer
            lacks = f"image volumes do not work ({refused})"
        self._reason = lacks
        mount = LayerMount.DIRECTORY if self._directory else LayerMount.COPY
        layer = PodLayer(reference, mount, self._directory)
        if refused := await self._refused(layer, credentials):
            raise missing(reference, refused)
        return layer

    async def _refused(self, layer: PodLayer, credentials: PullCredentials | None) -> str:
        """Why pods cannot have it, as a clause; empty if one has had it.

        Raises: ApiError, EngineUnavailable; EngineError if nothing is known, as another trial may end differently.
        """
        name = f"carrel-layer-{secrets.token_hex(4)}"
        manifest = _manifest(layer, name, self._names, credentials)
        try:
            try:
                pod = await self._api.create(self._names.namespace, "pods", manifest)
            except ApiError as error:
                if error.status not in (403, 422) or isinstance(refusal(error.message), QuotaExhausted):
                    raise
                return error.message.rstrip(".")
            if credentials:
                await self._api.create(self._names.namespace, "secrets", _secret(pod, name, credentials))
            async with asyncio.timeout(_TRIAL_S):
                return await self._ended(name, layer.reference)
        except TimeoutError:
            raise missing(layer.reference, "the pod that tries it out did not end in time") from None
        finally:
            with suppress(ApiError, EngineUnavailable):
                await self._delete(name)

    async def _ended(self, name: str, reference: str) -> str:
        waited_s = 0.0
        while True:
            pod = await self._api.call("GET", f"{self._names.pods}/{name}")
            if pod["status"].get("phase") == "Succeeded":
                return ""
            if obstacle := _obstacle(pod):
                raise missing(reference, obstacle)
            if failure := _failure(pod):
                return failure
            if not pod["spec"].get("nodeName") and waited_s > _UNSCHEDULED_S:
                raise missing(reference, "the cluster has no node for a pod that tries it out")
            await asyncio.sleep(_LOOK_S)
            waited_s += _LOOK_S

    async def _delete(self, name: str) -> None:
        try:
            await self._api.call("DELETE", f"{self._names.pods}/{name}", body={"gracePeriodSeconds": 1})
        except ApiError as error:
            if error.status != 404:
                raise


def _obstacle(pod: Mapping[str, Any]) -> str:
    """Why it does not show how pods have the layer, as a clause; empty: it may still."""
    status = pod["status"]
    if status.get("phase") == "Failed" and status.get("reason"):
        # Evicted, preempted, or too long on its way.
        return str(status.get("message") or f"the cluster ended the pod ({status['reason']})").rstrip(".")
    # Both the main container and the volume are of the same image.
    return start_failure(pod, "", NOT_PULLED)


def _failure(pod: Mapping[str, Any]) -> str:
    if failure := start_failure(pod, ""):
        return failure
    if pod["status"].get("phase") != "Failed":
        return ""
    for one in pod["status"].get("containerStatuses", ()):
        ended = one["state"].get("terminated") or {}
        if ended.get("reason") == "StartError":
            return str(ended.get("message") or "its programs cannot be started").rstrip(".")
        if ended.get("exitCode"):
            return f"its shell ended with exit code {ended['exitCode']}"
    return str(pod["status"].get("message") or "the cluster ended the pod").rstrip(".")


def _manifest(
    layer: PodLayer, name: str, names: PodNames, credentials: PullCredentials | None
) -> dict[str, object]:
    """A pod whose main process is a program of the mounted layer."""
    resources = {"resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
    limits: dict[str, object] = {**resources, "securityContext": _RESTRICTED}
    container = {
        **limits,
        "name": SESSION,
        "image": layer.reference,
        "imagePullPolicy": "IfNotPresent",
        "command": [f"{APP_LAYER}/bin/sh", "-c", f"{APP_LAYER}/busybox/true"],
        "volumeMounts": [layer.mounted()],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"carrel.check": "layer", _OWNER: names.installation}},
        "spec": {
            # Whoever deletes it may not be there any more.
            "activeDeadlineSeconds": _TRIAL_S,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 1,
            "tolerations": [one.as_object() for one in names.tolerations],
            **({"imagePullSecrets": [{"name": name}]} if credentials else {}),
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": WORK_UID,
                "runAsGroup": WORK_UID,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "initContainers": list(layer.filling(limits)),
            "containers": [container],
            "volumes": [layer.volume()],
        },
    }


def _secret(pod: Mapping[str, Any], name: str, credentials: PullCredentials) -> dict[str, object]:
    """Deleted with the pod."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": pod["metadata"]["uid"]}
    content = b64encode(pod_secrets.docker_config(credentials)).decode()
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "ownerReferences": [owner]},
        "type": pod_secrets.PULL_TYPE,
        "data": {".dockerconfigjson": content},
    }
