"""The process in a container: it takes orders from standard input and reports on standard output, a JSON line each.

    here                         at once
    ready                        what can measure here, and the port on which it listens
    start       -> connected     with the others
    measure     -> measured      the seconds that `count` all-reduces of `size` bytes took
    finish      -> finished      what was observed of the path

It ends with its input, and in any case after LIMIT_S: nothing remains of a check that was interrupted. It runs from
its text, without this package, on any Python from 3.7.
"""

from __future__ import annotations

import fcntl
import importlib
import importlib.util
import json
import os
import queue
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
import traceback
from typing import Any

LIMIT_S = 55
CONNECT_S = 20
_TORCH_BYTES = 768 << 20
"""Free memory from which PyTorch is imported: the session's own processes share the limit."""
_SIOCGIFADDR = 0x8915
_CGROUP = "/sys/fs/cgroup"

orders: queue.Queue[dict[str, Any]] = queue.Queue()


def main() -> None:
    # The default action needs no interpreter, which may be stuck in a library.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LIMIT_S)
    threading.Thread(target=_read, daemon=True).start()
    say(here=True)
    try:
        _serve()
    except Exception as error:
        traceback.print_exc()
        say(failed=f"{type(error).__name__}: {error}"[:500])
    os._exit(0)


def say(**message: object) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


def _read() -> None:
    for line in sys.stdin.buffer:
        orders.put(json.loads(line.decode()))
    os._exit(0)


def _serve() -> None:
    listener = _listener()
    torch, lacks = load_torch()
    devices = torch.cuda.device_count() if torch and has_nccl(torch) else 0
    say(
        port=listener.getsockname()[1],
        lacks=lacks,
        devices=devices,
        free_bytes=free_bytes(),
    )
    start = orders.get()
    kind = TcpAllReduce if start["method"] == "tcp" else TorchAllReduce
    group = kind(listener, start, torch)
    before = sent_bytes()
    say(connected=True)
    while True:
        order = orders.get()
        if "size" in order:
            say(seconds=group.measure(order["size"], order["count"]))
        else:
            name = interface_of_most(before, sent_bytes())
            say(interface=name, lines=group.lines())
            return


def _listener() -> socket.socket:
    """Bound to a free port, by IPv6 too where there is that. Whoever connects before it listens tries again."""
    for family in (socket.AF_INET6, socket.AF_INET):
        try:
            end = socket.socket(family)
            if family == socket.AF_INET6:
                end.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            end.bind(("", 0))
            return end
        except OSError as error:
            problem = error
    raise problem


def load_torch() -> tuple[Any, Any]:
    """PyTorch and None, or None and why not."""
    if importlib.util.find_spec("torch") is None:
        return None, "no_torch"
    if free_bytes() < _TORCH_BYTES:
        return None, "little_memory"
    try:
        torch = importlib.import_module("torch")
        importlib.import_module("torch.distributed")
    except Exception:
        traceback.print_exc()
        return None, "broken_torch"
    return (torch, None) if torch.distributed.is_available() else (None, "broken_torch")


def has_nccl(torch: Any) -> bool:
    return bool(torch.cuda.is_available() and torch.distributed.is_nccl_available())


def free_bytes() -> int:
    """What may be allocated before the limit of the container or the end of the machine's memory."""
    free = []
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            free.append(int(_text(_CGROUP, limit)) - int(_text(_CGROUP, used)))
        except (OSError, ValueError):
            pass
    try:
        for line in _text("/proc/meminfo").splitlines():
            if line.startswith("MemAvailable:"):
                free.append(int(line.split()[1]) << 10)
    except OSError:
        pass
    return max(min(free), 0) if free else 0


def sent_bytes() -> dict[str, int]:
    """Interface -> bytes that it has sent."""
    try:
        lines = _text("/proc/net/dev").splitlines()[2:]
    except OSError:
        return {}
    rows = [line.replace(":", " ").split() for line in lines]
    return {row[0]: int(row[9]) for row in rows}


def interface_of_most(before: dict[str, int], after: dict[str, int]) -> str:
    """The one that has sent the most meanwhile; empty if none has."""
    grown = {name: count - before.get(name, 0) for name, count in after.items()}
    most = max(grown, key=lambda name: grown[name]) if grown else ""
    return most if most and grown[most] > 0 else ""


def interface_to(host: str) -> str:
    """The interface on the way to the host; empty if it is not known."""
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        end.connect((host, 9))
        own = end.getsockname()[0]
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(end.fileno(), _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
            except OSError:
                continue
            if socket.inet_ntoa(answer[20:24]) == own:
                return name
    except OSError:
        pass
    finally:
        end.close()
    return ""


class TorchAllReduce:
    """torch.distributed with the backend gloo or nccl."""

    def __init__(self, listener: socket.socket, start: dict[str, Any], torch: Any) -> None:
        from datetime import timedelta

        listener.close()
        self._torch = torch
        self._world, self._log = start["world"], ""
        self._device = "cpu"
        host = start["hosts"][0]
        if start["method"] == "nccl":
            handle, self._log = tempfile.mkstemp()
            os.close(handle)
            os.environ.update(NCCL_DEBUG="INFO", NCCL_DEBUG_SUBSYS="INIT,NET", NCCL_DEBUG_FILE=self._log)
            self._device = "cuda:{}".format(start["local"])
            torch.cuda.set_device(start["local"])
        elif not os.environ.get("GLOO_SOCKET_IFNAME"):
            name = interface_to(start["hosts"][(start["rank"] + 1) % self._world])
            if name:
                os.environ["GLOO_SOCKET_IFNAME"] = name
        torch.distributed.init_process_group(
            start["method"],
            init_method="tcp://{}:{}".format(host, start["port"]),
            rank=start["rank"],
            world_size=self._world,
            timeout=timedelta(seconds=CONNECT_S),
        )
        self._sum(8, 1)

    def measure(self, size: int, count: int) -> float:
        self._sum(8, 1)
        return self._sum(size, count)

    def _sum(self, size: int, count: int) -> float:
        torch = self._torch
        ones = torch.ones(max(size // 4, 1), dtype=torch.float32, device=self._device)
        self._wait()
        begin = time.perf_counter()
        for _ in range(count):
            torch.distributed.all_reduce(ones)
        self._wait()
        lasted = time.perf_counter() - begin
        ones.fill_(1)
        torch.distributed.all_reduce(ones)
        if ones[0].item() != self._world or ones[-1].item() != self._world:
            raise RuntimeError("The sum is wrong.")
        return lasted

    def _wait(self) -> None:
        if self._device != "cpu":
            self._torch.cuda.synchronize()

    def lines(self) -> list[str]:
        """What NCCL wrote about its connections."""
        if not self._log:
            return []
        with open(self._log, errors="replace") as log:
            lines = [line.strip()[:300] for line in log if " via " in line or "Using [" in line]
        os.unlink(self._log)
        return lines[:1000]


class TcpAllReduce:
    """A ring over TCP: each sends to the next one and receives from the one before. The operation is exclusive or,
    which Python computes as fast as it copies.
    """

    def __init__(self, listener: socket.socket, start: dict[str, Any], torch: Any) -> None:
        self._rank, self._world = start["rank"], start["world"]
        after = (self._rank + 1) % self._world
        listener.settimeout(CONNECT_S)
        listener.listen(8)
        self._after = _connected(start["hosts"][after], start["ports"][after])
        self._after.sendall(start["secret"].encode())
        while True:
            # Anything in the network may connect.
            self._before, _ = listener.accept()
            self._before.settimeout(CONNECT_S)
            if self._receive(len(start["secret"])) == start["secret"].encode():
                break
            self._before.close()
        listener.close()
        for end in (self._after, self._before):
            end.settimeout(LIMIT_S)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reduce(8)

    def measure(self, size: int, count: int) -> float:
        self.reduce(8)
        begin = time.perf_counter()
        for _ in range(count):
            self.reduce(size)
        return time.perf_counter() - begin

    def reduce(self, size: int) -> None:
        """All-reduce of about `size` bytes: reduce-scatter, then all-gather. Raises: RuntimeError."""
        world = self._world
        part = max(-(-size // world), 1)
        parts = [bytes([self._rank + 1]) * part for _ in range(world)]
        for step in range(world - 1):
            sent, got = (self._rank - step) % world, (self._rank - step - 1) % world
            mine = int.from_bytes(parts[got], "little")
            received = int.from_bytes(self._exchange(parts[sent]), "little")
            parts[got] = (mine ^ received).to_bytes(part, "little")
        for step in range(world - 1):
            sent, got = (self._rank + 1 - step) % world, (self._rank - step) % world
            parts[got] = self._exchange(parts[sent])
        right = 0
        for rank in range(world):
            right ^= rank + 1
        if any(one[0] != right or one[-1] != right for one in parts):
            raise RuntimeError("The result is wrong.")

    def _exchange(self, sent: bytes) -> bytes:
        """Send to the next while receiving as much from the one before."""
        if len(sent) <= 4096:
            self._after.sendall(sent)
            return self._receive(len(sent))
        sending = threading.Thread(target=self._after.sendall, args=(sent,), daemon=True)
        sending.start()
        received = self._receive(len(sent))
        sending.join()
        return received

    def _receive(self, count: int) -> bytes:
        whole = bytearray(count)
        view, at = memoryview(whole), 0
        while at < count:
            got = self._before.recv_into(view[at:])
            if not got:
                raise RuntimeError("Another container has ended the connection.")
            at += got
        return bytes(whole)

    def lines(self) -> list[str]:
        return []


def _connected(host: str, port: int) -> socket.socket:
    """Raises: OSError if it does not listen within CONNECT_S."""
    until = time.monotonic() + CONNECT_S
    while True:
        try:
            return socket.create_connection((host, port), CONNECT_S)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def _text(*path: str) -> str:
    with open(os.path.join(*path)) as file:
        return file.read()


if __name__ == "__main__":
    main()
