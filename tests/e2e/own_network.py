"""A network of the browser's own, in which nothing comes or goes.

Chromium drops what it is loading whenever an address of the machine changes, which is whenever a container starts or
ends. Here it sees a loopback device, and what it sends there is carried to the machine's:

    Chromium -> 127.0.0.1:PORT in its network -> DNAT -> a thread of ours -> 127.0.0.1:PORT of the machine
"""

import asyncio
import ctypes
import os
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

_CLONE_NEWNET = 0x40000000
_SO_ORIGINAL_DST = 80
_PATH = f"{os.environ['PATH']}:/usr/local/sbin:/usr/sbin:/sbin"


@contextmanager
def own_network() -> Iterator[None]:
    """Whatever is started in the block is in a network of its own for as long as it lives.

    Who may not make one has the machine's, and a journey that a container disturbs is gone through once more.
    """
    libc = ctypes.CDLL(None)
    with open("/proc/thread-self/ns/net") as ours:
        if libc.unshare(_CLONE_NEWNET):
            yield
            return
        try:
            listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
            _lead_to(listener.getsockname()[1])
            yield
        finally:
            libc.setns(ours.fileno(), _CLONE_NEWNET)
    # A thread is in the network that it was started in: this one connects from the machine's.
    threading.Thread(target=asyncio.run, args=[_carry_all(listener)], daemon=True).start()


def _lead_to(port: int) -> None:
    """Every connection to loopback within the network that this thread is in ends at one port."""
    for line in (
        "ip link set lo up",
        # Without any other device that is up a browser says that it is offline.
        "ip link add inside type veth peer name outside",
        # An IPv6 address becomes usable seconds later, which a browser takes for a change of network.
        "ip link set inside addrgenmode none",
        "ip link set outside addrgenmode none",
        "ip address add 192.0.2.1/30 dev inside",
        "ip link set outside up",
        "ip link set inside up",
        f"iptables -w -t nat -A OUTPUT -p tcp -d 127.0.0.0/8 ! --dport {port} -j DNAT --to 127.0.0.1:{port}",
    ):
        subprocess.run(line.split(), env={**os.environ, "PATH": _PATH}, check=True)


async def _carry_all(listener: socket.socket) -> None:
    async with await asyncio.start_server(_carry, sock=listener) as server:
        await server.serve_forever()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    near = writer.get_extra_info("socket")
    [port] = struct.unpack_from("!H", near.getsockopt(socket.SOL_IP, _SO_ORIGINAL_DST, 16), 2)
    try:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        writer.transport.abort()
        return
    await asyncio.gather(_pipe(reader, far_writer), _pipe(far_reader, writer))


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with closing(writer):
        try:
            while block := await reader.read(1 << 18):
                writer.write(block)
                await writer.drain()
        except OSError:
            writer.transport.abort()
