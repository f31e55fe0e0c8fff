"""The path of messages, from what NCCL prints."""

import pytest

from carrel.apps.network_checks.message_paths import NetworkTransport, Path, of_nccl, over_tcp

SOCKET = [
    "node:12:40 [0] NCCL INFO NET/Socket : Using [0]eth0:10.213.16.2<0>",
    "node:12:40 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0",
    "node:12:40 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[0] [send] via NET/Socket/0",
    "node:12:40 [0] NCCL INFO Channel 02/0 : 0[0] -> 1[0] [send] via NET/Socket/0",
]


def test_the_ring_over_tcp_names_the_interface_of_each_sender() -> None:
    assert over_tcp(["eth0", "", "lo"]) == [
        Path(0, 1, NetworkTransport.TCP, "eth0"),
        Path(1, 2, NetworkTransport.TCP, ""),
        Path(2, 0, NetworkTransport.TCP, "lo"),
    ]
    assert over_tcp(["eth0"]) == []


def test_a_connection_is_of_its_sender_and_appears_once() -> None:
    assert of_nccl({0: SOCKET}) == [Path(0, 1, NetworkTransport.TCP, "eth0", "NET/Socket/0")]


@pytest.mark.parametrize(
    ("using", "via", "transport", "interface"),
    [
        ("", "P2P/CUMEM/read", NetworkTransport.P2P, ""),
        ("", "P2P/IPC", NetworkTransport.P2P, ""),
        ("", "SHM/direct/direct", NetworkTransport.SHARED_MEMORY, ""),
        (
            "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.2<0>",
            "NET/IB/0/GDRDMA",
            NetworkTransport.INFINIBAND,
            "mlx5_0",
        ),
        (
            "NET/IB : Using [0]mlx5_2:1/RoCE [RO]; OOB eth0:10.0.0.2<0>",
            "NET/IB/0",
            NetworkTransport.ROCE,
            "mlx5_2",
        ),
        ("", "COLLNET/0", NetworkTransport.OTHER, ""),
        ("NET/OFI : Using [0]efa", "NET/OFI/0", NetworkTransport.OTHER, "efa"),
    ],
)
def test_what_nccl_prints_is_a_transport(
    using: str, via: str, transport: NetworkTransport, interface: str
) -> None:
    lines = [using, f"host:1:2 [1] NCCL INFO Channel 00/0 : 1[1b000] -> 2[1c000] via {via}"]
    assert of_nccl({0: [], 1: lines}) == [Path(1, 2, transport, interface, via)]


def test_other_lines_are_nothing() -> None:
    assert of_nccl({0: ["Bootstrap : Using eth0:10.0.0.2<0>", "via", "1[0] -> via x", ""]}) == []
