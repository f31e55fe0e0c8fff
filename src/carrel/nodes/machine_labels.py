"""What well-known labels say about a machine, whichever engine or administrator set them.

Source: https://kubernetes.io/docs/reference/labels-annotations-taints/ and the documentation of Karpenter, EKS, GKE and
AKS; for drivers see `core.cuda`.
"""

from collections.abc import Mapping, Sequence

from carrel.core.cuda import driver_of, text_of
from carrel.nodes.schemas import MachineView

_POOL = (
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
)
_ZONE = ("topology.kubernetes.io/zone",)
_INSTANCE_TYPE = ("node.kubernetes.io/instance-type",)
_CAPACITY_TYPE = (
    "karpenter.sh/capacity-type",
    "eks.amazonaws.com/capacityType",
    "kubernetes.azure.com/scalesetpriority",
)
_SPOT = ("cloud.google.com/gke-spot", "cloud.google.com/gke-preemptible")
_CAPACITY_TYPES = {"regular": "on-demand"}


def machine(labels: Mapping[str, str]) -> MachineView:
    """The facts that its labels give."""
    capacity_type = _first(labels, _CAPACITY_TYPE).lower().replace("_", "-")
    if any(labels.get(name) == "true" for name in _SPOT):
        capacity_type = "spot"
    driver = driver_of(labels)
    return MachineView(
        pool=_first(labels, _POOL),
        zone=_first(labels, _ZONE),
        instance_type=_first(labels, _INSTANCE_TYPE),
        capacity_type=_CAPACITY_TYPES.get(capacity_type, capacity_type),
        nvidia_driver=text_of(driver.version) if driver else "",
        cuda=text_of(driver.cuda) if driver else "",
    )


def _first(labels: Mapping[str, str], names: Sequence[str]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")
