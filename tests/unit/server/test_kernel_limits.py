"""Which limits of the kernel are too low for sessions that share a user id."""

import resource
from pathlib import Path

import pytest

from carrel.server import kernel_limits, up
from carrel.server.kernel_limits import LEAST, PIPE_PAGES, low, raise_open_files, remedy


def written(root: Path, values: dict[str, int]) -> Path:
    for name, value in values.items():
        path = root / name.replace(".", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")
    return root


def test_limits_of_a_fresh_machine_are_low(tmp_path: Path) -> None:
    usual = {"fs.inotify.max_user_instances": 128, "kernel.pty.max": 4096, PIPE_PAGES: 16384}
    assert low(written(tmp_path, usual)) == [
        "fs.inotify.max_user_instances=65536",
        "kernel.pty.max=65536",
        "fs.pipe-user-pages-soft=0",
    ]


def test_what_is_advised_is_enough(tmp_path: Path) -> None:
    assert low(written(tmp_path, {**LEAST, PIPE_PAGES: 0})) == []


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    assert low(tmp_path) == []


def test_the_command_that_raises_them_is_for_the_machine_of_the_sessions(tmp_path: Path) -> None:
    root = written(tmp_path, {PIPE_PAGES: 16384})
    assert remedy("unix:///run/docker.sock", root) == "sysctl -w fs.pipe-user-pages-soft=0"
    assert remedy("tcp://elsewhere:2376", root) == ""
    assert remedy("unix:///run/docker.sock", written(tmp_path, {PIPE_PAGES: 0})) == ""


def test_up_names_the_command_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernel_limits, "low", lambda root: ["kernel.pty.max=65536"])
    up._warn_of_low_limits("unix:///run/docker.sock")
    written = "".join(capsys.readouterr())
    assert written.count("sysctl -w kernel.pty.max=65536") == 1
    monkeypatch.setattr(kernel_limits, "low", lambda root: [])
    up._warn_of_low_limits("unix:///run/docker.sock")
    assert "".join(capsys.readouterr()) == ""


@pytest.mark.parametrize(
    ("soft", "hard", "raised"),
    [(1024, 1 << 20, 65536), (1024, 4096, 4096), (1024, -1, 65536), (100_000, 1 << 20, None), (-1, -1, None)],
)
def test_a_server_may_open_many_files_whatever_shell_starts_it(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, raised: int | None
) -> None:
    limits_set: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: limits_set.append(limits))
    raise_open_files()
    assert limits_set == ([] if raised is None else [(raised, hard)])
