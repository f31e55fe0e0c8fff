"""Accelerator support for nodes and containers, shared by all engines."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from carrel.accelerators import visible_devices
from carrel.accelerators.port import (
    NOTHING,
    Accelerators,
    Attachment,
    Dividing,
    Sharing,
    attach,
    slots_of,
    states_of,
)
from carrel.engines.port import WORK_HOME, ContainerSpec, EngineError, NodeInfo


def node_with(
    accelerators: Iterable[Accelerators], node: NodeInfo, *, without: Collection[str] = ()
) -> NodeInfo:
    """The node with its devices, their condition and their slots. without: ids of those that are not offered now,
    although they are healthy. May block.
    """
    accelerators = tuple(accelerators)
    states = tuple(states_of(accelerators))
    devices = tuple(state.device for state in states if state.healthy and state.device.id not in without)
    families = {state.device.family for state in states}
    kinds = tuple(kind for each in accelerators for kind in each.kinds() if kind.family in families)
    return replace(
        node,
        devices=devices,
        device_states=states,
        slot_kinds=kinds,
        slots={**node.slots, **slots_of(devices, kinds)},
        sharing=next(filter(None, map(_sharing, accelerators)), None),
    )


def _sharing(accelerators: Accelerators) -> Sharing | None:
    return accelerators.sharing() if isinstance(accelerators, Dividing) else None


def attachment_of(
    accelerators: Sequence[Accelerators], spec: ContainerSpec, *, has_cdi: bool = True
) -> Attachment:
    """The attachment of the container's devices. Raises: EngineError if they cannot be attached."""
    if not spec.devices:
        return NOTHING
    present = {state.device.id for state in states_of(accelerators)}
    if missing := sorted(spec.devices.keys() - present):
        # It may be known by another name until its tool answers, or was removed.
        message = f"The accelerators {', '.join(missing)} are not there."
        raise EngineError(message, retriable=True, code="accelerator_missing")
    try:
        return attach(accelerators, spec.devices, has_cdi=has_cdi)
    except ValueError as error:
        raise cannot_attach(str(error)) from error


def numa_of(accelerators: Iterable[Accelerators], held: Collection[str]) -> frozenset[int]:
    """The NUMA nodes of these devices; empty if that of one of them is not known."""
    numbers = {state.device.numa for state in states_of(accelerators) if state.device.id in held}
    known = frozenset(number for number in numbers if number is not None)
    return frozenset() if None in numbers else known


def environment(spec: ContainerSpec, attachment: Attachment = NOTHING) -> Mapping[str, str]:
    """All variables of a container that engines add to those of its image: which devices it sees is not its choice."""
    own = {"HOME": WORK_HOME, "USER": "work", "LOGNAME": "work"}
    return {**own, **visible_devices.environment(attachment.env, spec.env)}


def cannot_attach(message: str) -> EngineError:
    """The error of an engine that does not support an attachment."""
    return EngineError(message, retriable=False, code="attachment_unsupported")
