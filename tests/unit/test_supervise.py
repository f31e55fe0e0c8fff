"""When the supervisor starts a process again, and what it does for the logs."""

import os
from pathlib import Path

import pytest

from carrel.server.supervise import Child, bound

# Says that it is ready, by its second argument "ready", and dies.
_DIES = """
import os, sys
if sys.argv[1] == "ready":
    os.write(int(sys.argv[3]), b"1")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dies.py").write_text(_DIES)
    return tmp_path


def _child(folder: Path, role: str) -> Child:
    return Child(role, {**os.environ, "PYTHONPATH": str(folder)}, folder / "dies.err", module="dies")


def _ended(child: Child) -> None:
    assert child.process is not None
    child.process.wait(30)


def test_a_process_that_was_ready_starts_again_at_once_however_often_it_dies(folder: Path):
    child = _child(folder, "ready")
    child.keep_alive(0.0)
    for _ in range(6):
        _ended(child)
        before = child.process
        child.keep_alive(0.0)
        assert child.process is not None
        assert child.process is not before
    _ended(child)


def test_a_process_that_never_gets_ready_starts_again_later_each_time(folder: Path):
    child = _child(folder, "never")
    now = 0.0
    pauses = []
    child.keep_alive(now)
    for _ in range(8):
        _ended(child)
        child.keep_alive(now)
        assert child.process is None
        pauses.append(child.not_before - now)
        now = child.not_before
        child.keep_alive(now)
    _ended(child)
    assert pauses == [0.5, 1, 2, 4, 8, 16, 30, 30]


def test_a_process_that_is_ready_once_again_has_no_pause_any_more(folder: Path):
    child = _child(folder, "never")
    child.keep_alive(0.0)
    _ended(child)
    child.keep_alive(0.0)
    child.role = "ready"
    child.keep_alive(1.0)
    _ended(child)
    child.keep_alive(1.0)
    assert child.process is not None
    _ended(child)


def test_starting_again_leaves_no_pipe_open(folder: Path):
    child = _child(folder, "ready")
    child.keep_alive(0.0)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        _ended(child)
        child.keep_alive(0.0)
    _ended(child)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_long_log_is_moved_aside_under_its_writer(tmp_path: Path):
    log = tmp_path / "api.err"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"x" * 50)
        bound(log, 100)
        assert log.stat().st_size == 50
        writer.write(b"y" * 60)
        bound(log, 100)
        writer.write(b"new")
    assert log.read_bytes() == b"new"
    assert (tmp_path / "api.err.1").read_bytes() == b"x" * 50 + b"y" * 60


def test_a_log_that_is_not_there_is_left_alone(tmp_path: Path):
    bound(tmp_path / "none.err")
    assert list(tmp_path.iterdir()) == []
