"""API types of checks of the network."""

from datetime import datetime

from pydantic import BaseModel, Field

from carrel.apps.network_checks.all_reduce import AllReduceMethod, Lack
from carrel.apps.network_checks.message_paths import NetworkTransport

MEASURED = "network.measured"


class NetworkPath(BaseModel):
    """A connection between two participants. sender, receiver: host names; with a number, as main1:0, where a container
    has several. interface: of the sender; null: unknown, or the transport has none. detail: as NCCL prints it.
    """

    sender: str
    receiver: str
    transport: NetworkTransport
    interface: str | None
    detail: str


class NetworkMessage(BaseModel):
    """All-reduces of one size. seconds: of one, on average. bytes_per_s: size / seconds. bus_bytes_per_s: what each
    participant sends at the same time, 2 (n - 1) / n times as much; it compares with the speed of the hardware for any
    number of participants.
    """

    size_bytes: int
    count: int
    seconds: float
    bytes_per_s: float
    bus_bytes_per_s: float


class NetworkCheck(BaseModel):
    """code: network.measured, or why it failed, as in the error. latency_s: of an all-reduce of 8 bytes. method: null
    if it failed. lack: why not a better method: of PyTorch in the containers.
    """

    code: str
    message: str = ""
    hint: str = ""
    at: datetime
    took_s: float
    method: AllReduceMethod | None = None
    lack: Lack | None = None
    participants: int = 0
    latency_s: float | None = None
    paths: list[NetworkPath] = Field(default=[])
    messages: list[NetworkMessage] = Field(default=[])


class NetworkCheckState(BaseModel):
    """The last check of a session; null: there was none. running: another one goes on."""

    running: bool
    last: NetworkCheck | None
