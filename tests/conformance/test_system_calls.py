"""Which system calls a session may make: what our seccomp profile refuses, and what must go on working."""

import json
import platform
from collections.abc import Awaitable, Callable

import pytest
from conformance.python_inside import Insider, insider

from carrel.engines.docker import DockerEngine
from carrel.engines.docker.seccomp import SOCKET_FAMILIES

__all__ = ["insider"]

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the numbers below are those of x86_64"
)

REFUSED = {
    "io_uring_setup": (425, 8, 0),
    "io_uring_enter": (426, 0, 0, 0, 0),
    "io_uring_register": (427, 0, 0, 0, 0),
    "userfaultfd": (323, 1),
    "bpf": (321, 0, 0, 0),
    "perf_event_open": (298, 0, 0, 0, 0, 0),
    "add_key": (248, 0, 0, 0, 0, 0),
    "request_key": (249, 0, 0, 0, 0),
    "keyctl": (250, 0, 0, 0, 0, 0),
    "open_by_handle_at": (304, 0, 0, 0),
    "mount": (165, 0, 0, 0, 0, 0),
    "fsopen": (430, 0, 0),
    "unshare for a user namespace": (272, 0x10000000),
    "unshare for a network namespace": (272, 0x40000000),
    "clone into a user namespace": (56, 0x10000000 | 17, 0, 0, 0, 0),
    "setns": (308, 0, 0),
    "kexec_load": (246, 0, 0, 0, 0),
    "swapon": (167, 0, 0),
    "syslog": (103, 3, 0, 0),
}


async def test_calls_that_nobody_needs_are_refused(insider: Callable[..., Awaitable[Insider]]) -> None:
    session = await insider()
    results = json.loads(
        await session.python(
            f"import json; print(json.dumps({{n: call(*a) for n, a in {REFUSED!r}.items()}}))"
        )
    )
    assert results == dict.fromkeys(REFUSED, "EPERM")


async def test_only_four_families_of_sockets_can_be_opened(
    insider: Callable[..., Awaitable[Insider]],
) -> None:
    session = await insider()
    # As a raw call: Python knows some families by other names. Datagrams are what each of the four has.
    output = await session.python("print([f for f in range(64) if isinstance(call(41, f, 2, 0), int)])")
    assert json.loads(output) == sorted(SOCKET_FAMILIES.values())
    assert await session.python("print(call(41, 40, 1, 0))") == "EPERM", "AF_VSOCK"


WORKS = {
    "threads and processes": "import multiprocessing as m; print(m.get_context('fork').Pool(2).map(abs, [-1, 2]))",
    "spawned processes": "import subprocess; print(subprocess.run(['echo', 'said'], capture_output=True).stdout)",
    "sockets": "a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1), socket.socket().bind(('127.0.0.1', 0)))",
    "shared memory": "import mmap; f = open('/dev/shm/x', 'w+b'); f.truncate(9); m = mmap.mmap(f.fileno(), 9); "
    "m[0] = 7; print(f.read(1))",
    "memory policies of NumPy and PyTorch": "print(call(239, 0, 0, 0, 0, 0))",
    "files, locks, notifications": "import tempfile, fcntl; f = tempfile.TemporaryFile(); fcntl.flock(f, 2); "
    "print(isinstance(call(294, 0), int), os.posix_fallocate(f.fileno(), 0, 9))",
    "pinning to cores": "os.sched_setaffinity(0, os.sched_getaffinity(0)); print('pinned')",
    "a debugger's ptrace of a child": "pid = os.fork()\n"
    "if not pid: call(101, 0, 0, 0, 0); os.kill(os.getpid(), 19); os._exit(3)\n"
    "print(os.WIFSTOPPED(os.waitpid(pid, 0)[1]), call(101, 7, pid, 0, 0), os.waitpid(pid, 0)[1] >> 8)",
    "no address randomisation, as gdb asks": "print(call(135, 0x40000))",
}
OUTPUTS = {
    "threads and processes": "[1, 2]",
    "spawned processes": "b'said\\n'",
    "sockets": "b'x' None",
    "shared memory": "b'\\x07'",
    "memory policies of NumPy and PyTorch": "0",
    "files, locks, notifications": "True None",
    "pinning to cores": "pinned",
    "a debugger's ptrace of a child": "True 0 3",
    "no address randomisation, as gdb asks": "0",
}


async def test_what_programs_need_goes_on_working(insider: Callable[..., Awaitable[Insider]]) -> None:
    session = await insider()
    assert {what: await session.python(script) for what, script in WORKS.items()} == OUTPUTS


async def test_the_node_says_that_it_takes_the_profile(docker_engine: DockerEngine) -> None:
    [node] = await docker_engine.nodes()
    assert {"seccomp", "seccomp-profile"} <= node.capabilities
