"""Ports on loopback."""

import random
import socket
from contextlib import ExitStack


def free_port(count: int = 1) -> int:
    """The first of so many neighbours that are all free.

    Not of those that the system gives to connections, one of which could have it before it is used.
    """
    while True:
        port = random.randrange(10_000, 30_000)
        with ExitStack() as stack:
            try:
                for each in range(port, port + count):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", each))
            except OSError:
                continue
            return port
