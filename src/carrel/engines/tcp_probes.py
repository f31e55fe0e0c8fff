"""TCP connections that the kernel closes when the peer is gone.

Unlike pings of an HTTP client, which answers them only while somebody reads, probes are answered by the peer's kernel:
a connection on which one side waits for the other for hours stays open.
"""

import socket
import sys

from aiohttp import AddrInfoType, SocketFactoryType

_PROBES = 3


def probing(after_s: int, every_s: int, *, unanswered_s: int = 0) -> SocketFactoryType:
    """For `TCPConnector`. after_s: without traffic; a peer that misses three probes is gone.

    unanswered_s: a peer is gone only, and at the latest, when it has answered no probe or acknowledged nothing of what
    was sent for so long, or has read nothing of it. 0: three probes count, what was sent is given up after about 15
    minutes, as is the kernel's default, and unread input never.
    """

    def made(address: AddrInfoType) -> socket.socket:
        family, kind, protocol, *_ = address
        connection = socket.socket(family, kind, protocol)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if sys.platform == "linux":
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, after_s)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, every_s)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, unanswered_s * 1000)
        return connection

    return made
