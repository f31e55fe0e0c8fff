"""The app layer of pods: an image of a registry whose APP_LAYER the session has read-only at the same path.

How it gets there depends on the cluster; `layer_trial` finds out.

    image-volume   the node mounts the image; nothing is copied
    directory      the first pod on a node copies it to a directory of the node, which all pods mount
    copy           each pod copies it to a volume of its own, which is deleted with it
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

from carrel.engines.port import APP_LAYER, EngineError

MISSING = "app_layer_missing"
"""Code of the error for a layer that a pod cannot have."""
LAYER = "layer"
"""The volume, and the container that fills it."""
_PLACE = "/layer"
_PATH = f"PATH={APP_LAYER}/busybox"
_LEFT_MIN = 24 * 60
"""Age in minutes from which an unfinished copy was left by a pod that did not end it."""
_COPY = f"{_PATH}; cp -a {APP_LAYER}/. {_PLACE}/ 2>/dev/null"
# Renaming a directory is atomic, and fails where another pod was faster.
_KEEP = (
    f'{_PATH}; cd {_PLACE} || exit 1; find . -maxdepth 1 -name ".*-new" -mmin +{_LEFT_MIN} -exec rm -rf {{}} +; '
    '[ -d "$1" ] && exit; own=.$1-$POD-new; mkdir "$own" && '
    f'cp -a {APP_LAYER}/. "$own" 2>/dev/null && sync && {{ mv -T "$own" "$1" 2>/dev/null || rm -rf "$own"; }}; '
    '[ -d "$1" ]'
)


class LayerMount(StrEnum):
    IMAGE_VOLUME = "image-volume"
    DIRECTORY = "directory"
    COPY = "copy"


@dataclass(frozen=True, slots=True)
class PodLayer:
    """The layer of a pod. reference: of its image. directory: of the node, for DIRECTORY."""

    reference: str
    mount: LayerMount
    directory: str = ""

    def volume(self) -> Mapping[str, object]:
        if self.mount is LayerMount.IMAGE_VOLUME:
            return {"name": LAYER, "image": {"reference": self.reference, "pullPolicy": "IfNotPresent"}}
        if self.mount is LayerMount.DIRECTORY:
            return {"name": LAYER, "hostPath": {"path": self.directory, "type": "DirectoryOrCreate"}}
        return {"name": LAYER, "emptyDir": {}}

    def mounted(self) -> Mapping[str, object]:
        """The mount of the main container."""
        subpath = {
            LayerMount.IMAGE_VOLUME: str(PurePosixPath(APP_LAYER).relative_to("/")),
            LayerMount.DIRECTORY: self._version,
            LayerMount.COPY: "",
        }[self.mount]
        within = {"subPath": subpath} if subpath else {}
        return {"name": LAYER, "mountPath": APP_LAYER, "readOnly": True, **within}

    def filling(self, limits: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
        """The containers that fill the volume before the others begin. limits: their resources and restrictions."""
        if self.mount is LayerMount.IMAGE_VOLUME:
            return ()
        filling: dict[str, object] = {
            **limits,
            "name": LAYER,
            "image": self.reference,
            "imagePullPolicy": "IfNotPresent",
            "command": [f"{APP_LAYER}/bin/sh", "-c", _COPY],
            "volumeMounts": [{"name": LAYER, "mountPath": _PLACE}],
        }
        if self.mount is LayerMount.DIRECTORY:
            # The directory belongs to root: sessions of others read what is in it.
            restricted = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
            filling["securityContext"] = {
                **restricted,
                "runAsNonRoot": False,
                "runAsUser": 0,
                "runAsGroup": 0,
            }
            filling["command"] = [f"{APP_LAYER}/bin/sh", "-c", _KEEP, "sh", self._version]
            filling["env"] = [{"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}]
        return (filling,)

    @property
    def _version(self) -> str:
        return hashlib.sha256(self.reference.encode()).hexdigest()[:16]


NOT_PULLED = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName")
_FAILED = (*NOT_PULLED, "CreateContainerConfigError", "CreateContainerError", "RunContainerError")


def missing(reference: str, why: str) -> EngineError:
    """The error for a layer that a pod cannot have. why: a clause."""
    return EngineError(f"Pods cannot have the app layer {reference}: {why}.", retriable=True, code=MISSING)


def start_failure(pod: Mapping[str, Any], reference: str, reasons: Collection[str] = _FAILED) -> str:
    """Why a pod does not start because of its layer, as a clause; empty if it is not because of that, or if it is not
    one of these reasons of the kubelet.
    """
    status = pod["status"]
    for one in (*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())):
        failed = one["state"].get("terminated") or one["state"].get("waiting") or {}
        text = (failed.get("message") or failed.get("reason") or "").rstrip(".")
        if one["name"] == LAYER and failed.get("reason") in reasons:
            return text
        if one["name"] == LAYER and failed.get("exitCode"):
            return f"its copy failed with exit code {failed['exitCode']}; the disk of the node may be full"
        # Kubelets report an image volume that cannot be pulled like this.
        if failed.get("reason") in reasons and reference in text:
            return text
    return ""


_RUNTIMES = {"containerd": (2, 2), "cri-o": (1, 33)}
"""From these versions, runtimes mount a directory of an image.

Source: https://github.com/kubernetes/website/pull/56606
"""
_KUBELET = (1, 33)


def lacking(machines: Iterable[Mapping[str, Any]]) -> str:
    """Why the nodes have no image volumes, as a clause; empty if they may have them, which a trial shows."""
    for machine in machines:
        name, info = machine["metadata"]["name"], machine["status"]["nodeInfo"]
        if _version(info["kubeletVersion"]) < _KUBELET:
            return f"Kubernetes {info['kubeletVersion'].removeprefix('v')} on {name} has no image volumes"
        runtime, _, version = info.get("containerRuntimeVersion", "").partition("://")
        if runtime not in _RUNTIMES or _version(version) < _RUNTIMES[runtime]:
            return f"{runtime or 'the runtime'} {version} on {name} has no image volumes".replace("  ", " ")
    return ""


def _version(text: str) -> tuple[int, ...]:
    match = re.match(r"v?(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else ()
