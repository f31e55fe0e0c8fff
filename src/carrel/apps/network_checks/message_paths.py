"""The path of each message, from one participant to the next. Pure.

Source of the lines: NCCL 2.18 to 2.27, src/transport.cc, src/init.cc and src/transport/*.cc with NCCL_DEBUG=INFO; RCCL
prints the same.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

_VIA = re.compile(r"(\d+)\[\w+\] -> (\d+)\[\w+\](?: \[\w+\])? via (\S+)")
_USING = re.compile(r"NET/(\w+) : Using \[0\]([^\s:]+)(?::\d+)?(/RoCE)?")
_NETWORK = "NET"


class NetworkTransport(StrEnum):
    """What carries messages. p2p: one accelerator reads the other's memory, over NVLink, Infinity Fabric or PCI."""

    TCP = "tcp"
    SHARED_MEMORY = "shared_memory"
    P2P = "p2p"
    INFINIBAND = "infiniband"
    ROCE = "roce"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Path:
    """sender, receiver: ranks. interface: of the sender; empty: unknown, or none. detail: as the library prints it."""

    sender: int
    receiver: int
    transport: NetworkTransport
    interface: str = ""
    detail: str = ""


def over_tcp(interfaces: Sequence[str]) -> list[Path]:
    """The ring of all ranks, whose interfaces these are."""
    count = len(interfaces)
    return [
        Path(rank, (rank + 1) % count, NetworkTransport.TCP, interfaces[rank])
        for rank in range(count)
        if count > 1
    ]


def of_nccl(reports: Mapping[int, Iterable[str]]) -> list[Path]:
    """The connections that the ranks' lines of NCCL name, each once, by ranks. reports: rank -> its lines."""
    paths: dict[tuple[int, int], Path] = {}
    for rank, lines in sorted(reports.items()):
        lines = list(lines)
        networks = {match[1]: (match[2], bool(match[3])) for line in lines if (match := _USING.search(line))}
        for line in lines:
            match = _VIA.search(line)
            # Both ends of a connection print it; the sender knows its interface.
            if match and int(match[1]) == rank:
                between = (int(match[1]), int(match[2]))
                paths.setdefault(between, _path(*between, match[3], networks))
    return [paths[between] for between in sorted(paths)]


def _path(sender: int, receiver: int, via: str, networks: Mapping[str, tuple[str, bool]]) -> Path:
    kind, _, rest = via.partition("/")
    if kind != _NETWORK:
        transport = {"P2P": NetworkTransport.P2P, "SHM": NetworkTransport.SHARED_MEMORY}.get(
            kind, NetworkTransport.OTHER
        )
        return Path(sender, receiver, transport, detail=via)
    network = rest.partition("/")[0]
    interface, roce = networks.get(network, ("", False))
    if network == "Socket":
        return Path(sender, receiver, NetworkTransport.TCP, interface, via)
    if network.startswith("IB"):
        return Path(
            sender, receiver, NetworkTransport.ROCE if roce else NetworkTransport.INFINIBAND, interface, via
        )
    return Path(sender, receiver, NetworkTransport.OTHER, interface, via)
