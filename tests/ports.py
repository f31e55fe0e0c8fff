"""Ports on loopback."""

import random
import socket
from contextlib import suppress


def free_port() -> int:
    """Not of those that the system gives to connections, one of which could have it before it is used."""
    while True:
        port = random.randrange(10_000, 30_000)
        with socket.socket() as listening, suppress(OSError):
            listening.bind(("127.0.0.1", port))
            return port
