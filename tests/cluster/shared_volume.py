"""A PersistentVolume that every node has: a directory of this machine, claimed by name."""

from pathlib import Path

from own_cluster import Cluster
from people import wait_until


def shared_volume(cluster: Cluster, directory: Path, name: str, namespace: str) -> str:
    """The name of a bound claim on the directory; both are deleted with the cluster."""
    claims = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"
    if cluster.call("GET", f"/api/v1/namespaces/{namespace}") is None:
        cluster.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    access = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
    volume = {
        **access,
        "capacity": {"storage": "1Gi"},
        "claimRef": {"name": name, "namespace": namespace},
        "hostPath": {"path": str(directory), "type": "Directory"},
        "persistentVolumeReclaimPolicy": "Retain",
    }
    cluster.call("POST", "/api/v1/persistentvolumes", {"metadata": {"name": name}, "spec": volume})
    claim = {**access, "volumeName": name, "resources": {"requests": {"storage": "1Gi"}}}
    cluster.call("POST", claims, {"metadata": {"name": name}, "spec": claim})
    wait_until(lambda: cluster.call("GET", f"{claims}/{name}")["status"].get("phase") == "Bound", within_s=60)
    return name
