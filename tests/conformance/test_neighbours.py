"""A session that takes all it can of what the kernel counts for each user, and a second one that must go on working."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from conformance.python_inside import Insider, first_line, insider

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
