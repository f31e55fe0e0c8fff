"""Private networks: a headless service, which gives containers their names, and a policy, which lets them reach each
other.

Both belong to the pods of the network: each pod makes itself an owner, with a field manager of its own, and the cluster
deletes them with the last owner. So containers may start at the same time, from any control plane.
"""

from collections.abc import Mapping
from typing import Any

from carrel.engines.kubernetes.kubernetes_api import KubernetesApi
from carrel.engines.kubernetes.pods import LABEL_NETWORK, PodNames
from carrel.engines.port import ContainerSpec


async def join(api: KubernetesApi, names: PodNames, spec: ContainerSpec, pod: Mapping[str, Any]) -> None:
    """Create the private network of this pod, or make it an owner of the existing one. Twice: no-op.

    Raises: ApiError, EngineUnavailable.
    """
    if spec.network is None:
        return
    name = names.pod(spec.id)
    labels = {**names.labels, LABEL_NETWORK: spec.network.id}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": pod["metadata"]["uid"]}
    metadata = {"labels": labels, "ownerReferences": [owner]}
    network = names.network(spec.network.id)
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        # Containers look each other up before they are ready.
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": labels},
    }
    members = [{"podSelector": {"matchLabels": labels}}]
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata,
        "spec": {
            "podSelector": {"matchLabels": labels},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": members}],
            "egress": [{"to": members}],
        },
    }
    await api.apply(names.service(network), service, manager=name)
    await api.apply(names.policy(network), policy, manager=name)
