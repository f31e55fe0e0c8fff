"""What the accelerators of a machine give to its node and to its containers, the same for every engine."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from carrel.accelerators.port import NOTHING, Accelerators, Attachment, attach, slots_of
from carrel.engines.port import ContainerSpec, EngineError, NodeInfo


def node_with(accelerators: Iterable[Accelerators], node: NodeInfo) -> NodeInfo:
    """The node with their devices, and with the slots that these make."""
    found = [(kind.discover(), kind.kinds()) for kind in accelerators]
    devices = tuple(device for mine, _ in found for device in mine)
    families = {device.family for device in devices}
    kinds = tuple(kind for _, mine in found for kind in mine if kind.family in families)
    return replace(node, devices=devices, slot_kinds=kinds, slots={**node.slots, **slots_of(devices, kinds)})


def attachment_of(accelerators: Sequence[Accelerators], spec: ContainerSpec) -> Attachment:
    """What the container gets with the devices that it holds. Raises: EngineError when no container can have that."""
    if not spec.devices:
        return NOTHING
    try:
        return attach(accelerators, spec.devices)
    except ValueError as error:
        raise cannot_attach(str(error)) from error


def cannot_attach(message: str) -> EngineError:
    """The refusal of an engine that cannot give what an attachment asks for."""
    return EngineError(message, retriable=False, code="attachment_unsupported")
