"""API types of devices over all nodes."""

from pydantic import BaseModel, Field

from carrel.core.ids import NodeId
from carrel.nodes.groups.schemas import GroupRef
from carrel.tables.nodes import NodeState


class DeviceUse(BaseModel):
    """used: in thousandths."""

    id: str
    family: str
    used: int


class NodeDevices(BaseModel):
    """The devices of a node, near ones together. open: it accepts new sessions."""

    id: NodeId
    name: str
    group: GroupRef
    state: NodeState
    open: bool
    devices: list[DeviceUse]


class NodeDeviceList(BaseModel):
    """Nodes with devices, by group and name. families: of all nodes that you may see, whatever the filter."""

    items: list[NodeDevices]
    families: list[str]


class DeviceQuery(BaseModel):
    """Which devices to list."""

    family: str | None = Field(default=None, max_length=60, description="such as cuda")
    group: str | None = Field(default=None, max_length=64, description="id or name of a resource group")
