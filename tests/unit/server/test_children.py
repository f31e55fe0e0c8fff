"""How the fork server and the roles are started, and when again."""

import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from people import eventually

from carrel.server import children
from carrel.server.children import Child, ForkServer, RoleProcess

# Standard input, output and error, and the socket for requests.
FILES = 4
# Its roles say that they are ready, or not, and end; "stay" writes down what it has and stays.
_ROLES = """
import json, os, signal, sys

def load():
    if os.environ.get("REFUSE") == "1":
        def refuse():
            raise BlockingIOError(11, "no more processes")
        os.fork = refuse

def forked(role, ready):
    if role != "never":
        ready()
    if role == "stay":
        files = {number: os.readlink(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")[:-1]}
        sys.stdout.write(json.dumps(files) + "\\n")
        sys.stdout.flush()
        signal.pause()
    if role == "fails":
        raise RuntimeError
"""


class Fork:
    """A fork server whose roles do as their name says."""

    def __init__(self, folder: Path, **environment: str) -> None:
        (folder / "some_roles.py").write_text(_ROLES)
        self._folder = folder
        self.server = ForkServer(
            {**os.environ, "PYTHONPATH": str(folder), **environment},
            folder / "server.err",
            module="some_roles",
        )
        self.roles: list[RoleProcess] = []

    def role(self, name: str) -> RoleProcess:
        self.roles.append(RoleProcess(name, self.server, self._folder / f"{name}.err"))
        return self.roles[-1]

    async def is_loaded(self) -> None:
        async def loaded() -> bool:
            self.server.keep_alive(0.0)
            return self.server.ready()

        await eventually(loaded, within_s=60, every_s=0.01)

    def close(self) -> None:
        for child in (*self.roles, self.server):
            if child.process is not None:
                child.process.kill()
                child.process.wait(30)


@pytest.fixture
async def fork(tmp_path: Path) -> AsyncIterator[Fork]:
    fork = Fork(tmp_path)
    await fork.is_loaded()
    yield fork
    fork.close()


def _ended(child: Child) -> int:
    assert child.process is not None
    return child.process.wait(30)


def _process(child: Child) -> psutil.Process:
    assert child.process is not None
    return psutil.Process(child.process.pid)


async def _stays(role: RoleProcess) -> None:
    """It runs and has written down what it has."""

    async def written() -> bool:
        return role.ready() and role.log.read_text().endswith("}\n")

    await eventually(written, within_s=60, every_s=0.01)


async def test_a_process_that_was_ready_starts_again_at_once_however_often_it_dies(fork: Fork):
    role = fork.role("ends")
    role.keep_alive(0.0)
    for _ in range(6):
        _ended(role)
        before = role.process
        role.keep_alive(0.0)
        assert role.process is not None
        assert role.process is not before
    _ended(role)


async def test_a_process_that_never_gets_ready_starts_again_later_each_time(fork: Fork):
    role = fork.role("never")
    now = 0.0
    pauses = []
    role.keep_alive(now)
    for _ in range(8):
        _ended(role)
        role.keep_alive(now)
        assert role.process is None
        pauses.append(role.not_before - now)
        now = role.not_before
        role.keep_alive(now)
    _ended(role)
    assert pauses == [0.5, 1, 2, 4, 8, 16, 30, 30]


async def test_a_process_that_is_ready_once_again_has_no_pause_any_more(fork: Fork):
    role = fork.role("never")
    role.keep_alive(0.0)
    _ended(role)
    role.keep_alive(0.0)
    role.name = "ends"
    role.keep_alive(1.0)
    _ended(role)
    role.keep_alive(1.0)
    assert role.process is not None
    _ended(role)


async def test_a_process_that_was_ready_once_and_is_not_any_more_starts_again_later(fork: Fork):
    role = fork.role("ends")
    role.keep_alive(0.0)
    _ended(role)
    role.name = "never"
    role.keep_alive(0.0)
    _ended(role)
    role.keep_alive(0.0)
    assert role.process is None
    assert role.not_before == 0.5


async def test_a_forked_process_is_called_and_ends_as_it_would_alone(fork: Fork):
    for name, code in (("ends", 0), ("fails", 1), ("stay", -signal.SIGTERM)):
        role = fork.role(name)
        role.keep_alive(0.0)
        assert role.process is not None
        if name == "stay":
            await _stays(role)
            assert " ".join(_process(role).cmdline()).rstrip().endswith("-m carrel.server.role stay")
            assert _process(role).name() == "carrel-stay"
            role.process.terminate()
        assert _ended(role) == code, name
    assert "RuntimeError" in (fork.roles[1].log).read_text()


async def test_starting_again_leaves_nothing_open(fork: Fork):
    role = fork.role("ends")
    role.keep_alive(0.0)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        _ended(role)
        role.keep_alive(0.0)
    _ended(role)
    assert len(os.listdir("/proc/self/fd")) == before

    async def closed() -> bool:
        return _process(fork.server).num_fds() == FILES

    await eventually(closed)


async def test_a_role_has_nothing_open_but_its_log_and_its_link(fork: Fork):
    other, role = fork.role("stay"), fork.role("stay")
    other.log = other.log.with_name("other.err")
    for one in (other, role):
        one.keep_alive(0.0)
        await _stays(one)
    links = set()
    for one in (other, role):
        files = json.loads(one.log.read_text())
        assert files.pop("0") == os.devnull
        assert {files.pop("1"), files.pop("2")} == {str(one.log)}
        [link] = files.values()
        assert link.startswith("socket:")
        links.add(link)
    assert len(links) == 2


async def test_the_end_of_the_fork_server_ends_no_role_and_another_one_forks(fork: Fork):
    staying, ending = fork.role("stay"), fork.role("ends")
    staying.keep_alive(0.0)
    await _stays(staying)
    ending.keep_alive(0.0)
    assert fork.server.process is not None
    fork.server.process.kill()
    _ended(fork.server)
    _ended(ending)
    # Not noticed yet: the role is asked for, and is asked for again when there is somebody to ask.
    ending.keep_alive(0.0)
    assert ending.process is None
    await fork.is_loaded()
    ending.keep_alive(0.0)
    assert _ended(ending) == 0
    assert staying.process is not None
    assert staying.process.poll() is None


async def test_a_role_that_starts_runs_the_code_that_is_on_the_disk(fork: Fork, tmp_path: Path):
    role = fork.role("ends")
    role.keep_alive(0.0)
    assert _ended(role) == 0
    code = tmp_path / "some_roles.py"
    code.write_text(f"{_ROLES}    sys.exit(3)\n")
    role.keep_alive(0.0)
    assert role.process is None
    assert _ended(fork.server) == 0
    await fork.is_loaded()
    role.keep_alive(0.0)
    assert _ended(role) == 3


async def test_a_fork_server_that_does_not_answer_is_replaced(fork: Fork, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(children, "_FORK_S", 0.1)
    server = _process(fork.server)
    server.suspend()
    role = fork.role("ends")
    role.keep_alive(0.0)
    assert role.process is None
    assert _ended(fork.server) == -signal.SIGKILL
    monkeypatch.undo()
    await fork.is_loaded()
    role.keep_alive(0.0)
    assert _ended(role) == 0
    assert not server.is_running()


async def test_a_role_waits_while_no_process_can_be_made(tmp_path: Path):
    fork = Fork(tmp_path, REFUSE="1")
    await fork.is_loaded()
    try:
        role = fork.role("ends")
        role.keep_alive(1.0)
        assert role.process is None
        assert role.not_before == 31.0
        assert fork.server.process is not None
        assert fork.server.process.poll() is None
    finally:
        fork.close()


async def test_the_fork_server_has_one_thread_and_nothing_open(tmp_path: Path):
    """With the code that it really loads: a fork would copy the one and share the other."""
    server = ForkServer({**os.environ}, tmp_path / "server.err")

    async def loaded() -> bool:
        server.keep_alive(0.0)
        return server.ready()

    await eventually(loaded, within_s=60, every_s=0.05)
    try:
        process = _process(server)
        assert process.num_threads() == 1
        assert process.num_fds() == FILES, process.open_files()
        assert not process.net_connections("inet")
    finally:
        assert server.process is not None
        server.process.kill()
        server.process.wait(30)
