"""API types of the fragmentation of devices."""

from pydantic import BaseModel

from carrel.core.ids import NodeId, SessionId
from carrel.nodes.groups.schemas import GroupRef
from carrel.tenancy.schemas import UserRef


class DeviceRef(BaseModel):
    """A device on a node."""

    node: NodeId
    node_name: str
    device: str


class DeviceMove(BaseModel):
    """A session that would move to another device. amount: thousandths of a device."""

    session: SessionId
    name: str
    owner: UserRef
    amount: int
    to: DeviceRef


class FreedDeviceView(BaseModel):
    """A device that is free as a whole once these sessions have moved."""

    device: DeviceRef
    moves: list[DeviceMove]


class FragmentationView(BaseModel):
    """Devices of a family in a group, on the nodes that accept sessions. free, broken, full: how many are free,
    allocated in part, and completely. smallest: what a container gets at least, in thousandths. stranded: the sum of
    what is left of broken devices, where that is less. freed: steps that free one device each, by as few sessions as
    possible; each assumes those before it.
    """

    group: GroupRef
    family: str
    devices: int
    free: int
    broken: int
    full: int
    smallest: int
    stranded: int
    freed: list[FreedDeviceView]


class FragmentationList(BaseModel):
    items: list[FragmentationView]
