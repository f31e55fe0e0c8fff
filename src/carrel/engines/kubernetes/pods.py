"""Conversion of a `ContainerSpec` to a pod: names and labels, manifest, and the secret with its variables and files.

A pod has two containers of the same image, both as the session's user, and perhaps one that copies the app layer
(`pod_layers`) before them:

    prepare   before the start: the home with what the image has in it, private files, links to folders
    session   the main process

They share the volume `session`, in which the home is: a session writes to its home, and not to a layer of the image,
because only a volume can have files of ours that belong to its user. Public files come from the secret itself, whose
files belong to root.
"""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import PurePosixPath
from typing import Any

from carrel.accelerators import visible_devices
from carrel.engines.accelerated import environment
from carrel.engines.kubernetes import device_classes, extended_resources, pod_folders, pod_secrets
from carrel.engines.kubernetes.pod_layers import PodLayer
from carrel.engines.kubernetes.taints import Toleration
from carrel.engines.port import (
    LOCAL_IMAGES,
    WORK_HOME,
    WORK_UID,
    ContainerSpec,
    EngineError,
    InitialFile,
    LabelRequirement,
)

LABEL_INSTALLATION = "carrel.installation"
LABEL_ID = "carrel.id"
LABEL_EPOCH = "carrel.epoch"
LABEL_NETWORK = "carrel.network"
SESSION = "session"
"""The container of the main process."""
PREPARE = "prepare"
GATE = "carrel.dev/start"
"""The scheduling gate of a pod that may not start yet."""
_SECRET = "carrel.dev/secret"
"""Annotation with the name of a pod's secret."""
_DEVICES = "carrel.dev/devices"
"""Annotation with the devices that it holds: units of extended resources, and devices of classes."""
_CLAIM = "devices"
"""Its name for its claim."""
OCCUPIED = 77
"""Exit code of `prepare` if the place of a folder is occupied."""

_NOT_MOVED = {
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    "karpenter.sh/do-not-disrupt": "true",
}
"""Autoscalers do not empty a node with such pods to save machines."""
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_HOME = PurePosixPath(WORK_HOME)
_VOLUME = PurePosixPath("/run/carrel/session")
_FILES = PurePosixPath("/run/carrel/files")
_MIB = 1 << 20
_SHM_MAX = 1024 * _MIB
_SHM_MIN = 64 * _MIB


@dataclass(frozen=True, slots=True)
class PodNames:
    """Names of this installation's objects in a namespace. domain: of the cluster's names. tolerations: of its pods."""

    installation: str
    namespace: str
    domain: str = "cluster.local"
    tolerations: tuple[Toleration, ...] = ()

    @property
    def labels(self) -> dict[str, str]:
        """Of all its objects."""
        return {LABEL_INSTALLATION: self.installation}

    @property
    def selector(self) -> str:
        """Selects the pods of its containers."""
        return f"{LABEL_INSTALLATION}={self.installation},{LABEL_ID}"

    @property
    def pods(self) -> str:
        """The path of all pods in the namespace."""
        return f"api/v1/namespaces/{self.namespace}/pods"

    @property
    def claims(self) -> str:
        """The path of all claims of devices in the namespace."""
        return f"apis/resource.k8s.io/v1/namespaces/{self.namespace}/resourceclaims"

    @property
    def events(self) -> str:
        """The path of all events in the namespace."""
        return f"api/v1/namespaces/{self.namespace}/events"

    def pod(self, container: str) -> str:
        return f"carrel-{self.installation}-{container}"

    def path(self, container: str) -> str:
        return f"{self.pods}/{self.pod(container)}"

    def network(self, private: str) -> str:
        """Of the service and the policy of a private network."""
        return f"carrel-{self.installation}-network-{private}"

    def service(self, name: str) -> str:
        """The path of a service."""
        return f"api/v1/namespaces/{self.namespace}/services/{name}"

    def policy(self, name: str) -> str:
        """The path of a network policy."""
        return f"apis/networking.k8s.io/v1/namespaces/{self.namespace}/networkpolicies/{name}"


def require_supported(spec: ContainerSpec) -> None:
    """Raises: EngineError for what a pod cannot have."""
    extended_resources.amounts(spec.devices)
    if spec.root:
        message = "A session in this cluster cannot have root."
        raise EngineError(message, retriable=False, code="root_unsupported")
    pod_secrets.require_room(spec)
    pod_folders.require_mountable(spec)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How a pod is separated from its node. runtime_class: of the cluster; empty: its default. user_namespaces: its
    users are others on the node, where that is possible. nvidia_by_cdi: NVIDIA's device plug-in gives devices by CDI.
    """

    runtime_class: str = ""
    user_namespaces: bool = False
    nvidia_by_cdi: bool = False


DEFAULT_SANDBOX = Sandbox()


def manifest(
    spec: ContainerSpec, names: PodNames, sandbox: Sandbox, secret: str, layer: PodLayer | None = None
) -> dict[str, object]:
    """The pod, with the gate that keeps it from starting. secret: its name, if there is one, and that of its claim; of
    no former pod, whose secret the cluster deletes some time after it.

    An unprivileged process as in Pod Security's `restricted`: user 1000, no capabilities and no way to gain them, the
    runtime's seccomp profile, no service account.
    """
    limited = {
        "resources": _resources(limits(spec.slots)),
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    common = {**limited, "image": spec.image, "imagePullPolicy": _pull_policy(spec)}
    preparing = {
        **common,
        "name": PREPARE,
        "command": ["/bin/sh", "-c", literal(_preparation(spec))],
        "env": [_value("HOME", str(_VOLUME)), *starmap(_value, visible_devices.NONE.items())],
        "workingDir": str(_VOLUME),
        "volumeMounts": [
            _mounted(SESSION, _VOLUME),
            *_secret_mounts(spec),
            *pod_folders.checked(spec.mounts),
        ],
    }
    claimed = any(map(device_classes.is_claimed, spec.devices))
    resources = _resources({**limits(spec.slots), **extended_resources.amounts(spec.devices)})
    main = {
        **common,
        "resources": {**resources, **({"claims": [{"name": _CLAIM}]} if claimed else {})},
        "name": SESSION,
        "command": [literal(word) for word in spec.command],
        "env": list(_variables(spec, secret, sandbox)),
        "workingDir": spec.workdir,
        "stdin": spec.stdin,
        "volumeMounts": [*_main_mounts(spec), *([layer.mounted()] if layer else ())],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": names.pod(spec.id),
            "labels": _labels(spec, names),
            "annotations": {_SECRET: secret, _DEVICES: ",".join(sorted(spec.devices)), **_NOT_MOVED},
        },
        "spec": {
            "schedulingGates": [{"name": GATE}],
            **_placement(spec, names),
            "restartPolicy": "Never",
            **_resolution(spec, names),
            **({"runtimeClassName": sandbox.runtime_class} if sandbox.runtime_class else {}),
            **({"hostUsers": False} if sandbox.user_namespaces else {}),
            **({"resourceClaims": [{"name": _CLAIM, "resourceClaimName": secret}]} if claimed else {}),
            **pod_secrets.pulling(spec, secret),
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": WORK_UID,
                "runAsGroup": WORK_UID,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "initContainers": [*(layer.filling(limited) if layer else ()), preparing],
            "containers": [main],
            "volumes": [*_volumes(spec, secret), *([layer.volume()] if layer else ())],
        },
    }


def _pull_policy(spec: ContainerSpec) -> str:
    if spec.image.startswith(LOCAL_IMAGES):
        return "Never"
    return "Always" if spec.pull_always else "IfNotPresent"


def secrets_of(spec: ContainerSpec, names: PodNames, pod: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Its secrets, deleted with the pod."""
    # A pod of a former version has no annotations.
    name = pod["metadata"].get("annotations", {}).get(_SECRET, names.pod(spec.id))
    for secret in pod_secrets.made(spec, name):
        metadata = {**secret["metadata"], **_owned(spec, names, pod)}
        yield {"apiVersion": "v1", "kind": "Secret", **secret, "metadata": metadata}


def claim_of(
    spec: ContainerSpec, names: PodNames, pod: Mapping[str, Any], requests: Sequence[Mapping[str, object]]
) -> dict[str, Any]:
    """Its claim of devices, deleted with the pod."""
    [name] = claim_names(pod)
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, **_owned(spec, names, pod)},
        "spec": {"devices": {"requests": requests}},
    }


def claim_names(pod: Mapping[str, Any]) -> Sequence[str]:
    """The names of the claims of one of our pods: one, or none."""
    return [one["resourceClaimName"] for one in pod["spec"].get("resourceClaims") or ()]


def _owned(spec: ContainerSpec, names: PodNames, pod: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata of what the cluster deletes with the pod."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": names.pod(spec.id), "uid": pod["metadata"]["uid"]}
    return {"labels": _labels(spec, names), "ownerReferences": [owner]}


def devices_of(pod: Mapping[str, Any]) -> frozenset[str]:
    """The devices that one of our pods holds."""
    listed = (pod["metadata"].get("annotations") or {}).get(_DEVICES, "")
    return frozenset(filter(None, listed.split(",")))


def _resources(amounts: Mapping[str, str]) -> Mapping[str, Mapping[str, str]]:
    return {"limits": amounts, "requests": amounts}


def limits(slots: Mapping[str, int]) -> dict[str, str]:
    """Resources for these slots, which are guaranteed and enforced; omitted slots set nothing."""
    resources = {}
    if millis := slots.get("cpu", 0):
        resources["cpu"] = f"{millis}m"
    if mem_bytes := slots.get("mem", 0):
        resources["memory"] = str(mem_bytes)
    return resources


def literal(text: str) -> str:
    """The text, protected from Kubernetes, which replaces $(NAME) in commands and variables."""
    return text.replace("$", "$$")


def _labels(spec: ContainerSpec, names: PodNames) -> dict[str, str]:
    labels = {**names.labels, LABEL_ID: spec.id, LABEL_EPOCH: str(spec.epoch)}
    return labels | ({LABEL_NETWORK: spec.network.id} if spec.network else {})


def _variables(spec: ContainerSpec, secret: str, sandbox: Sandbox) -> Iterator[dict[str, object]]:
    """Values that people have set are in no manifest: whoever may see pods would read them."""
    visible = extended_resources.visible(spec.devices, by_cdi=sandbox.nvidia_by_cdi)
    for name, value in environment(spec).items():
        if spec.env.get(name) == value:
            key = {"name": secret, "key": pod_secrets.variable_key(name)}
            yield {"name": name, "valueFrom": {"secretKeyRef": key}}
        elif name in visible or name not in visible_devices.NONE:
            yield _value(name, value)


def _value(name: str, value: str) -> dict[str, object]:
    return {"name": name, "value": value}


def _resolution(spec: ContainerSpec, names: PodNames) -> dict[str, object]:
    """How a pod finds names, and its own name."""
    if spec.network is None:
        return {"hostname": spec.hostname, "dnsPolicy": "Default"}
    service = names.network(spec.network.id)
    return {
        "hostname": spec.network.host,
        "subdomain": service,
        "dnsPolicy": "ClusterFirst",
        "dnsConfig": {
            "searches": [f"{service}.{names.namespace}.svc.{names.domain}"],
            # Only names without a dot are searched for: by default, all with less than five dots are, several times.
            "options": [{"name": "ndots", "value": "1"}],
        },
    }


def _placement(spec: ContainerSpec, names: PodNames) -> dict[str, object]:
    """The node that we chose, which the cluster's scheduler confirms, or what the one that it chooses must have. We
    decide what happens if the node is lost.
    """
    stay = [
        {"key": f"node.kubernetes.io/{state}", "operator": "Exists", "effect": "NoExecute"}
        for state in ("not-ready", "unreachable")
    ]
    tolerations = [*stay, *(one.as_object() for one in names.tolerations)]
    term: dict[str, object]
    if spec.node:
        term = {"matchFields": [_named("In", spec.node)]}
    elif spec.elastic or spec.avoided:
        term = {"matchExpressions": [_expression(one) for one in spec.elastic or ()]}
        if spec.avoided:
            # The API server takes one name per requirement.
            term["matchFields"] = [_named("NotIn", name) for name in sorted(spec.avoided)]
    else:
        return {"tolerations": tolerations}
    affinity: dict[str, object] = {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": [term]}}}
    if spec.elastic and spec.together and spec.network:
        same = {"labelSelector": {"matchLabels": {LABEL_NETWORK: spec.network.id}}}
        affinity["podAffinity"] = {_REQUIRED: [{**same, "topologyKey": "kubernetes.io/hostname"}]}
    return {"tolerations": tolerations, "affinity": affinity}


def _named(operator: str, node: str) -> dict[str, object]:
    return {"key": "metadata.name", "operator": operator, "values": [node]}


def _expression(one: LabelRequirement) -> dict[str, object]:
    if one.values is None:
        return {"key": one.key, "operator": "DoesNotExist" if one.negated else "Exists"}
    return {"key": one.key, "operator": "NotIn" if one.negated else "In", "values": sorted(one.values)}


def node_of(pod: Mapping[str, Any]) -> str:
    """The node of a pod, or the one that we chose for it; "" if we chose none and it has none yet."""
    spec = pod["spec"]
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get(_REQUIRED) or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field["operator"] == "In":
                return str(spec.get("nodeName") or field["values"][0])
    return str(spec.get("nodeName") or "")


def _volumes(spec: ContainerSpec, secret: str) -> Iterator[Mapping[str, object]]:
    yield {"name": SESSION, "emptyDir": {}}
    if shm_bytes := _shm_bytes(spec):
        yield {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": str(shm_bytes)}}
    if spec.files:
        items = [
            {"key": str(number), "path": str(number), "mode": 0o755 if file.executable else 0o644}
            for number, file in enumerate(spec.files)
        ]
        yield {"name": "files", "secret": {"secretName": secret, "items": items}}
    yield from pod_folders.volumes(spec.mounts)


def _shm_bytes(spec: ContainerSpec) -> int:
    if spec.shm_bytes:
        return spec.shm_bytes
    mem_bytes = spec.slots.get("mem", 0)
    return min(max(mem_bytes // 2, _SHM_MIN), _SHM_MAX) if mem_bytes else 0


def _secret_mounts(spec: ContainerSpec) -> list[dict[str, object]]:
    return [_mounted("files", _FILES, read_only=True)] if spec.files else []


def _main_mounts(spec: ContainerSpec) -> Iterator[Mapping[str, object]]:
    yield _mounted(SESSION, _HOME, subpath="home")
    yield _mounted(SESSION, PurePosixPath("/etc/passwd"), subpath="passwd", read_only=True)
    if _shm_bytes(spec):
        yield _mounted("shm", PurePosixPath("/dev/shm"))
    for number, file in enumerate(spec.files):
        path = PurePosixPath(file.path)
        if not file.private:
            yield _mounted("files", path, subpath=str(number), read_only=True)
        elif _HOME not in path.parents:
            yield _mounted(SESSION, path, subpath=f"private/{number}")
    yield from pod_folders.mounted(spec.mounts)


def _mounted(
    volume: str, path: PurePosixPath, *, subpath: str = "", read_only: bool = False
) -> dict[str, object]:
    return {
        "name": volume,
        "mountPath": str(path),
        **({"subPath": subpath} if subpath else {}),
        **({"readOnly": True} if read_only else {}),
    }


_BEGIN = f"""umask 022
mkdir -p home private
if [ -d {WORK_HOME} ]; then cp -a {WORK_HOME}/. home/ 2>/dev/null || :; fi
cat /etc/passwd >passwd 2>/dev/null || : >passwd
known=
while IFS=: read -r name _ number rest; do
  if [ "$name" = work ] || [ "$number" = {WORK_UID} ]; then known=1; fi
done <passwd
if [ ! "$known" ]; then echo 'work:x:{WORK_UID}:{WORK_UID}:work:{WORK_HOME}:/bin/sh' >>passwd; fi
set -e
"""


def _preparation(spec: ContainerSpec) -> str:
    """The script of `prepare`, in the volume."""
    lines = [*pod_folders.preparation(spec.mounts)]
    workdir = PurePosixPath(spec.workdir)
    if _HOME in workdir.parents and not any(workdir.is_relative_to(one.target) for one in spec.mounts):
        lines.append(f"mkdir -p {_in_volume(workdir)}")
    for number, file in enumerate(spec.files):
        lines += _file_lines(number, file)
    for number, mount in enumerate(spec.mounts):
        if pod_folders.is_linked(mount):
            lines += _link_lines(
                PurePosixPath(mount.target), pod_folders.PLACES / str(number) / mount.subpath
            )
    return _BEGIN + "\n".join(lines)


def _file_lines(number: int, file: InitialFile) -> Sequence[str]:
    path = PurePosixPath(file.path)
    in_home = _HOME in path.parents
    made = _in_volume(path) if in_home else f"private/{number}"
    ways = [f"mkdir -p {_in_volume(path.parent)}"] if in_home else []
    if not file.private:
        return ways
    mode = "700" if file.executable else "600"
    return [*ways, f"cp {_FILES}/{number} {made}", f"chmod {mode} {made}"]


def _link_lines(target: PurePosixPath, place: PurePosixPath) -> Sequence[str]:
    made = _in_volume(target)
    return [
        f"mkdir -p {_in_volume(target.parent)}",
        f"if [ -e {made} ] || [ -h {made} ]; then exit {OCCUPIED}; fi",
        f"ln -s {shlex.quote(str(place))} {made}",
    ]


def _in_volume(path: PurePosixPath) -> str:
    """The place of a path below the home, quoted for the shell."""
    return shlex.quote(str("home" / path.relative_to(_HOME)))


def grace(seconds: float) -> int:
    """Kubernetes counts whole seconds, and forgets a pod at once if they are 0."""
    return max(math.ceil(seconds), 1)
