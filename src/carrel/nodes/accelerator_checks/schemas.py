"""API types of checks of accelerators."""

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, Field

from carrel.core.ids import AcceleratorCheckId, NodeId
from carrel.http.paging import PageQuery
from carrel.tables.accelerator_checks import CheckedOutcome, CheckState
from carrel.tenancy.schemas import UserRef


class CheckedAspect(StrEnum):
    """GRANTED: a container with the device has something that one without devices has not. ISOLATED: no container of
    another device sees its device files. NUMBERED: variables number its device from zero. COUNTED: the vendor's tool
    or driver in the container sees one device.
    """

    GRANTED = "granted"
    ISOLATED = "isolated"
    NUMBERED = "numbered"
    COUNTED = "counted"


class CheckedAspectView(BaseModel):
    """text: what was seen, or why it was not measured, as a sentence."""

    name: CheckedAspect
    outcome: CheckedOutcome
    text: str


class ShareResult(BaseModel):
    """A container with a share of an NVIDIA GPU beside another one with the rest. thousandths: of the device. outcome:
    of the memory limit: passed if the driver refused memory beyond the share. limit_bytes: memory of the share.
    allocated_bytes: what it got before the driver refused. neighbour_loss_percent: by how much the other one computed
    slower while this one computed too. null: not measured. text: why not, or what exceeds the share, as a sentence.
    """

    thousandths: int
    outcome: CheckedOutcome
    limit_bytes: int | None
    allocated_bytes: int | None
    neighbour_loss_percent: float | None
    text: str


class DeviceResult(BaseModel):
    """outcome: failed if one of its measures is; not_measured if it is not known what a container gets. files,
    variables: what a container with the whole device has beyond one without devices. shares: of GPUs of which sessions
    may have shares.
    """

    device: str
    model: str
    family: str
    outcome: CheckedOutcome
    measures: list[CheckedAspectView]
    files: list[str]
    variables: dict[str, str]
    shares: list[ShareResult]


class CheckedNodeRef(BaseModel):
    id: NodeId
    name: str


class AcceleratorCheckCreate(BaseModel):
    """node: an id or a name. device: only this one; omitted: all that no session holds. image: of the containers,
    with a shell, and with Python 3 to measure shares; omitted: one of the catalogue.
    """

    model_config = {"extra": "forbid"}

    node: str = Field(min_length=1, max_length=253)
    device: str | None = Field(default=None, min_length=1, max_length=300)
    image: str | None = Field(default=None, min_length=1, max_length=512)


class AcceleratorCheckQuery(PageQuery):
    """Which checks to list, the latest first."""

    node: str | None = Field(default=None, max_length=253, description="only of this node, by id or name")


class AcceleratorCheckView(BaseModel):
    """outcome: of all devices together; null: it has no results. requested_by: null: Carrel itself, before it puts a
    device back. taken: devices that no session gets until it has ended. progress: 0..1. step: what it does now.
    problem: why it failed or waits. driver: of the vendor, if the node tells. cancel: it was requested.
    """

    id: AcceleratorCheckId
    node: CheckedNodeRef
    device: str | None
    image: str | None
    requested_by: UserRef | None
    state: CheckState
    outcome: CheckedOutcome | None
    cancel: bool
    taken: list[str]
    progress: float
    step: str
    problem: str
    driver: str
    results: list[DeviceResult]
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class AcceleratorCheckList(BaseModel):
    items: list[AcceleratorCheckView]
    next_cursor: str | None


class PutBackRequest(BaseModel):
    """device: one that is out of order and has no problem any more."""

    model_config = {"extra": "forbid"}

    device: str = Field(min_length=1, max_length=300)


class PutBack(BaseModel):
    """A device that sessions get again from now on."""

    node: CheckedNodeRef
    device: str
