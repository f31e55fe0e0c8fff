"""Limits on what clients may make the server keep, which asyncssh does not have."""

from asyncssh import ProtocolError
from asyncssh.connection import SSHConnection

_PACKET_BYTES = 256 << 10
"""A channel's packets have 32 KiB; the others are smaller."""

_receive_header = SSHConnection._recv_pkthdr


def _receive_limited_header(connection: SSHConnection) -> bool:
    read = _receive_header(connection)
    if read and connection._pktlen > _PACKET_BYTES:
        raise ProtocolError("The packet is too large.")
    return read


def install() -> None:
    """Apply them to all connections. Twice: no-op."""
    SSHConnection._recv_pkthdr = _receive_limited_header  # type: ignore[method-assign, assignment]
