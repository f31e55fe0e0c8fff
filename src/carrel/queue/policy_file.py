"""Policy file for replays: nodes, groups and limits of an installation. Exported by the API, editable by hand."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from carrel.core.device_blocks import Block
from carrel.core.ids import DEFAULT_GROUP, GroupId, NodeId
from carrel.core.slots import WHOLE
from carrel.core.units import parse_slots
from carrel.scheduling import devices
from carrel.scheduling.snapshot import DeviceSnapshot, GroupSnapshot, NodeSnapshot, QueueOrder, Strategy
from carrel.simulator.installation import SimulatedInstallation


def _amounts(value: Any) -> Any:
    """The amounts in base units, if the value looks like slots."""
    if isinstance(value, dict) and all(isinstance(amount, int | str) for amount in value.values()):
        return parse_slots(value)
    return value


Amounts = Annotated[dict[str, Annotated[int, Field(ge=0)]], BeforeValidator(_amounts)]
Weights = dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]]
_MOST_S = 100 * 365 * 24 * 3600


class _Part(BaseModel):
    model_config = {"extra": "forbid"}


class BlockOfDevices(_Part):
    """size: of all its devices. whole: given as a whole, or devices of one narrower block."""

    name: str
    size: int = Field(ge=1, le=1000)
    whole: bool = False


class DevicesOfNode(_Part):
    """A number of accelerators in one set (near each other).

    slots: slot names with the thousandths of a device that one takes; default: FAMILY.device and FAMILY.shares.
    blocks: sets in which a container may get them with others.
    """

    family: str
    count: int = Field(ge=1, le=1000)
    set: int = 0
    slots: dict[str, Annotated[int, Field(ge=1, le=WHOLE)]] | None = None
    blocks: list[BlockOfDevices] = []

    @property
    def served(self) -> dict[str, int]:
        """`slots`, or the default."""
        return usual_slots(self.family) if self.slots is None else self.slots


def usual_slots(family: str) -> dict[str, int]:
    """Slots for whole devices and for thousandths."""
    return {f"{family}.device": WHOLE, f"{family}.shares": 1}


class NodesOfPolicy(_Part):
    """One node, or `count` identical ones named name-1, name-2 ...

    slots: capacity for sessions, without accelerators, which follow from devices. closed: why nothing is placed
    there; empty: open.
    """

    name: str
    count: int = Field(default=1, ge=1, le=100_000)
    group: str = DEFAULT_GROUP
    slots: Amounts
    devices: list[DevicesOfNode] = []
    architecture: str = ""
    closed: str = ""


class WeightsOfGroup(_Part):
    """Weights by id; default 1."""

    domains: Weights = {}
    projects: Weights = {}
    users: Weights = {}


class GroupOfPolicy(_Part):
    """pending_timeout_s: sessions pending longer are cancelled; null: never."""

    id: str = DEFAULT_GROUP
    name: str = ""
    scheduler: QueueOrder = QueueOrder.FIFO
    placement: Strategy = Strategy.DISPERSED
    slot_priority: list[str] = []
    patience_s: float = Field(default=300, ge=0, le=_MOST_S)
    half_life_s: float = Field(default=604800, gt=0, le=_MOST_S)
    pending_timeout_s: float | None = Field(default=None, ge=0, le=_MOST_S)
    weights: WeightsOfGroup = WeightsOfGroup()


class CeilingsOfPolicy(_Part):
    """Ceilings by id; "*" applies to all others. "sessions" counts sessions. Unnamed slots are not limited."""

    domains: dict[str, Amounts] = {}
    projects: dict[str, Amounts] = {}
    users: dict[str, Amounts] = {}


class SchedulerPolicy(_Part):
    """names: of domains, projects and groups by id, for output only."""

    nodes: list[NodesOfPolicy]
    groups: list[GroupOfPolicy] = [GroupOfPolicy()]
    ceilings: CeilingsOfPolicy = CeilingsOfPolicy()
    names: dict[str, str] = {}

    @model_validator(mode="after")
    def _nobody_is_named_twice(self) -> Self:
        for what, names in (
            ("groups", (group.id for group in self.groups)),
            ("nodes", (name for nodes in self.nodes for name in _names(nodes))),
        ):
            if (twice := _twice(names)) is not None:
                raise ValueError(f"there are two {what} {twice}")
        return self


def _twice(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def installation(policy: SchedulerPolicy) -> SimulatedInstallation:
    """Build the simulator's input from the policy."""
    groups = {GroupId(one.id): one for one in policy.groups}
    return SimulatedInstallation(
        nodes=tuple(node for each in policy.nodes for node in _nodes(each)),
        groups=tuple(_group(id_, one) for id_, one in groups.items()),
        weights={id_: _by_kind(one.weights) for id_, one in groups.items()},
        ceilings=_by_kind(policy.ceilings),
        pending={
            id_: timedelta(seconds=one.pending_timeout_s)
            for id_, one in groups.items()
            if one.pending_timeout_s is not None
        },
        names={**{one.id: one.name for one in policy.groups if one.name}, **policy.names},
    )


def _by_kind(section: WeightsOfGroup | CeilingsOfPolicy) -> dict[tuple[str, str], Any]:
    kinds = {"domain": section.domains, "project": section.projects, "user": section.users}
    return {(kind, name): value for kind, named in kinds.items() for name, value in named.items()}


def _group(id_: GroupId, section: GroupOfPolicy) -> GroupSnapshot:
    return GroupSnapshot(
        id=id_,
        name=section.name or id_,
        order=section.scheduler,
        strategy=section.placement,
        slot_priority=tuple(section.slot_priority),
        patience=timedelta(seconds=section.patience_s),
        half_life=timedelta(seconds=section.half_life_s),
    )


def _nodes(section: NodesOfPolicy) -> list[NodeSnapshot]:
    there = tuple(
        DeviceSnapshot(
            f"{of.family}{number}",
            of.family,
            set=of.set,
            slots=of.served,
            blocks=tuple([Block(one.name, one.size, one.whole) for one in of.blocks]),
        )
        for number, of in enumerate(of for of in section.devices for _ in range(of.count))
    )
    slots = dict(section.slots)
    for slot in devices.families(there):
        slots[slot] = devices.capacity(there, slot)
    return [
        NodeSnapshot(
            NodeId(name),
            name,
            slots,
            group=GroupId(section.group),
            closed=section.closed,
            architecture=section.architecture,
            devices=there,
        )
        for name in _names(section)
    ]


def _names(section: NodesOfPolicy) -> list[str]:
    return (
        [section.name] if section.count == 1 else [f"{section.name}-{n}" for n in range(1, section.count + 1)]
    )
