"""Limits on what clients may make the server keep, which asyncssh does not have."""

from asyncssh import ProtocolError
from asyncssh.channel import SSHServerChannel
from asyncssh.connection import SSHConnection
from asyncssh.packet import SSHPacket

_PACKET_BYTES = 256 << 10
"""A channel's packets have 32 KiB; the others are smaller."""
_VARIABLES = 100
_VARIABLES_BYTES = 64 << 10

_receive_header = SSHConnection._recv_pkthdr
_process_variable = SSHServerChannel._process_env_request


def _receive_limited_header(connection: SSHConnection) -> bool:
    read = _receive_header(connection)
    if read and connection._pktlen > _PACKET_BYTES:
        raise ProtocolError("The packet is too large.")
    return read


def _process_limited_variable(channel: SSHServerChannel[bytes], packet: SSHPacket) -> bool:
    known = channel._env
    if len(known) >= _VARIABLES or sum(len(name) + len(known[name]) for name in known) >= _VARIABLES_BYTES:
        return False
    return _process_variable(channel, packet)


def install() -> None:
    """Apply them to all connections. Twice: no-op."""
    SSHConnection._recv_pkthdr = _receive_limited_header  # type: ignore[method-assign, assignment]
    SSHServerChannel._process_env_request = _process_limited_variable  # type: ignore[method-assign, assignment]
