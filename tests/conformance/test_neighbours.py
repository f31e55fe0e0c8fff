"""A session that takes all it can of what the kernel counts for each user, and a second one that must go on working."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from conformance.python_inside import Insider, first_line, insider

from carrel.engines.docker.firewall import MOST_CONNECTIONS
from carrel.server.kernel_limits import LEAST, PIPE_PAGES

__all__ = ["insider"]

TAKE = """
import time
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
def pipe():
    a, b = os.pipe()
    libc.fcntl(b, 1031, 1 << 20)
    return a
def instance():
    made = libc.inotify_init()
    if made < 0: raise OSError(ctypes.get_errno(), 'inotify')
    return made
take = {take}
taken = 0
try:
    while taken < 6000:
        take()
        taken += 1
except OSError: pass
print(taken, flush=True)
time.sleep(600)
"""
RESOURCES = {
    "inotify instances": ("instance", "print(call(294, 0) not in ('EMFILE', 'ENFILE'))"),
    "terminals": ("lambda: os.open('/dev/ptmx', os.O_RDWR)", "print(os.open('/dev/ptmx', os.O_RDWR) > 0)"),
    "pages of pipes": ("pipe", "a, b = os.pipe(); print(libc.fcntl(a, 1032) == 65536)"),
    "open files": ("lambda: os.open('/dev/null', 0)", "print(os.open('/dev/null', 0) > 0)"),
    "sockets": ("lambda: os.dup(socket.socket().detach())", "print(socket.socket().fileno() > 0)"),
}
ENOUGH = 127
"""So many are had on a machine whose limits nobody has raised."""


@pytest.fixture
def advised_limits() -> Iterator[None]:
    """The kernel's limits as docs/reference/isolation.md advises, while the test runs."""
    before = {}
    for name, value in {**LEAST, PIPE_PAGES: 0}.items():
        path = Path("/proc/sys") / name.replace(".", "/")
        before[path] = path.read_text()
        if name == PIPE_PAGES or int(before[path]) < value:
            path.write_text(str(value))
    yield
    for path, text in before.items():
        path.write_text(text)


@pytest.mark.parametrize("resource", list(RESOURCES))
async def test_a_greedy_session_takes_nothing_from_its_neighbour(
    insider: Callable[..., Awaitable[Insider]], advised_limits: None, resource: str
) -> None:
    greedy, neighbour = await insider(), await insider()
    take, look = RESOURCES[resource]
    async with greedy.begun(TAKE.replace("{take}", take)) as process:
        assert int(await first_line(process)) > ENOUGH, "it did take what it could"
        assert await neighbour.python(look) == "True"


TAKE_SIGNALS = """
import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
taken = 0
while taken < 2_000_000 and libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), 0) == 0: taken += 1
print(taken, flush=True)
time.sleep(600)
"""
WITHOUT_QUEUED_SIGNALS = """
import select, signal, threading, time
arrived = []
signal.signal(signal.SIGUSR1, lambda number, frame: arrived.append(number))
signal.signal(signal.SIGALRM, lambda number, frame: arrived.append(number))
signal.signal(signal.SIGCHLD, lambda number, frame: arrived.append(number))
os.kill(os.getpid(), signal.SIGUSR1)
signal.setitimer(signal.ITIMER_REAL, 0.01)
while signal.SIGALRM not in arrived: time.sleep(0.01)
child = os.fork()
if not child:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    time.sleep(600)
os.kill(child, signal.SIGTERM)
_, status = os.waitpid(child, 0)
thread = threading.Thread(target=time.sleep, args=(0.01,))
thread.start(); thread.join()
print(os.WTERMSIG(status) == signal.SIGTERM, {*arrived} == {signal.SIGUSR1, signal.SIGALRM, signal.SIGCHLD})
"""


async def test_a_session_that_takes_all_queued_signals_keeps_no_ordinary_one_from_its_neighbour(
    insider: Callable[..., Awaitable[Insider]],
) -> None:
    greedy, neighbour = await insider(), await insider()
    async with greedy.begun(TAKE_SIGNALS) as process:
        assert int(await first_line(process)) > ENOUGH
        assert await neighbour.python(WITHOUT_QUEUED_SIGNALS) == "True True"


CONNECT = """
ours = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ours.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 2)
for port in range(1024, 1024 + PORTS):
    for last in range(1, 101):
        try: ours.sendto(b'', (f'203.0.113.{last}', port))
        except PermissionError: pass
ours.connect(('203.0.113.1', 1))
print(ours.getsockname()[0])
"""
"""Addresses of which nobody answers, and packets that the next router drops."""


async def test_a_session_has_a_bounded_share_of_the_connections_through_the_machine(
    insider: Callable[..., Awaitable[Insider]],
) -> None:
    greedy, neighbour = await insider(), await insider()
    address = await greedy.python(connect(MOST_CONNECTIONS // 100 + 40))
    assert ENOUGH < _connections_of(address) <= MOST_CONNECTIONS + 1
    assert _connections_of(await neighbour.python(connect(1))) > 0


def connect(ports: int) -> str:
    return f"PORTS = {ports}\n{CONNECT}"


def _connections_of(address: str) -> int:
    return sum(f" src={address} dst=203.0.113." in line for line in Path("/proc/net/nf_conntrack").open())
