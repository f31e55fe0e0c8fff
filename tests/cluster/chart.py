"""The Helm chart: rendering it, and sending what it renders to an API server."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from go_programs import helm
from kubernetes_programs import version
from own_cluster import Cluster

CHART = Path(__file__).parents[2] / "deploy/helm/carrel"
NAMESPACE = "carrel-system"
_PLURALS = {"Ingress": "ingresses", "NetworkPolicy": "networkpolicies"}
_CLUSTER_WIDE = (
    "Namespace",
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "PersistentVolume",
)


def run(*words: str, folder: Path = CHART, within_s: float = 600) -> "subprocess.CompletedProcess[str]":
    """A helm command in the chart's directory, to its end."""
    command = [str(helm()), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=within_s, check=False)


def template(*values: str) -> "subprocess.CompletedProcess[str]":
    """Render the chart with these options."""
    return run("template", "carrel", ".", "--namespace", NAMESPACE, "--kube-version", version(), *values)


def rendered(*values: str) -> list[Any]:
    """The objects that the chart makes of these options."""
    done = template(*values)
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def path_of(manifest: dict[str, Any]) -> str:
    """Where its API server keeps objects of this kind, in this one's namespace."""
    group = manifest["apiVersion"]
    kind = manifest["kind"]
    plural = _PLURALS.get(kind, f"{kind.lower()}s")
    root = f"/api/{group}" if "/" not in group else f"/apis/{group}"
    if kind in _CLUSTER_WIDE:
        return f"{root}/{plural}"
    return f"{root}/namespaces/{manifest['metadata'].get('namespace', NAMESPACE)}/{plural}"


def definitions(folder: Path, pattern: str) -> Iterator[dict[str, Any]]:
    """Definitions of custom resources in the files of a module."""
    for file in sorted(folder.glob(pattern)):
        for one in yaml.load_all(file.read_text(), yaml.CSafeLoader):
            if one and one["kind"] == "CustomResourceDefinition":
                yield json.loads(json.dumps(one, default=str))


def make_namespace(cluster: Cluster, name: str, security: str = "privileged") -> None:
    """security: the Pod Security level that it enforces. Twice: no-op."""
    if not cluster.call("GET", f"/api/v1/namespaces/{name}"):
        labels = {"pod-security.kubernetes.io/enforce": security}
        cluster.call("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
