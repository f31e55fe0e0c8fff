"""An open connection pool to an API server, with its credentials."""

import os
import ssl
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import ClientSession, TCPConnector

from carrel.engines.kubernetes import credentials
from carrel.engines.kubernetes.credentials import ClusterAccess, Credentials, ServerTls
from carrel.engines.port import EngineUnavailable
from carrel.engines.tcp_probes import probing

_READ_BYTES = 1 << 21
"""The largest line of a watch: an object of etcd's limit."""
_PROBING = probing(after_s=30, every_s=10)
"""Terminals, and logs that are followed, may be silent for hours, and their readers busy."""


class ApiSession:
    """An open connection pool with its credentials."""

    def __init__(self, used: Credentials, client: ClientSession) -> None:
        self.credentials = used
        self.client = client
        self.url = used.url
        self.headers = {"Authorization": used.authorization} if used.authorization else {}


async def open_session(access: ClusterAccess, former: ApiSession | None = None) -> ApiSession:
    """A session with the credentials of this moment. former: whose connections are used again if they can be.

    Raises: EngineUnavailable if the credentials cannot be read.
    """
    read = await credentials.read(access)
    if former and former.credentials.tls == read.tls:
        return ApiSession(read, former.client)
    # Terminals and followed logs hold one connection each, so the pool must be unbounded.
    connector = TCPConnector(limit=0, ssl=_context(read.tls), socket_factory=_PROBING)
    return ApiSession(read, ClientSession(connector=connector, read_bufsize=_READ_BYTES, trust_env=True))


def _context(tls: ServerTls) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cadata=tls.authority.decode() or None)
        if tls.certificate:
            with _in_memory(tls.certificate + b"\n" + tls.key) as path:
                # Without a password, it would ask for one at the terminal.
                context.load_cert_chain(path, password="")
    # ssl.SSLError is an OSError.
    except (OSError, ValueError) as error:
        raise EngineUnavailable(
            "The certificates of the cluster's settings cannot be read: they must be in PEM format, and the key "
            "without a password."
        ) from error
    if not tls.verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


@contextmanager
def _in_memory(content: bytes) -> Iterator[str]:
    """The path of a file, because the library of TLS reads keys from nowhere else; on Linux, it is on no disk."""
    if sys.platform != "linux":
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            yield file.name
        return
    descriptor = os.memfd_create("credentials")
    try:
        os.write(descriptor, content)
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
