"""The fingerprint of the code, by which `carrel up` knows that a server runs another one."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.core.errors import Conflict
from carrel.server import code, replacement, run_file
from carrel.server.settings import Settings


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("src/carrel/a.py", "src/carrel/web_dist/index.html", "images/starter/Dockerfile", "uv.lock"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def _fingerprint(checkout: Path) -> str:
    return code.fingerprint((checkout / "src/carrel", checkout / "images", checkout / "uv.lock"))


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "src/carrel/a.py").write_text("b"),
        lambda root: (root / "src/carrel/a.py").rename(root / "src/carrel/b.py"),
        lambda root: (root / "src/carrel/b.sql").write_text(""),
        lambda root: (root / "src/carrel/a.py").unlink(),
        lambda root: (root / "src/carrel/web_dist/index.html").write_text("another build"),
        lambda root: (root / "images/starter/Dockerfile").write_text("FROM scratch"),
        lambda root: (root / "uv.lock").write_text("newer"),
    ],
)
def test_every_change_of_what_runs_is_noticed(checkout: Path, change: Callable[[Path], object]) -> None:
    before = _fingerprint(checkout)
    assert before == _fingerprint(checkout)
    change(checkout)
    assert _fingerprint(checkout) != before


def test_what_a_run_writes_beside_the_sources_is_no_change(checkout: Path) -> None:
    before = _fingerprint(checkout)
    (checkout / "src/carrel/__pycache__").mkdir()
    (checkout / "src/carrel/__pycache__/a.cpython-313.pyc").write_bytes(b"compiled")
    assert _fingerprint(checkout) == before


def test_a_link_to_nothing_is_no_change(checkout: Path) -> None:
    before = _fingerprint(checkout)
    (checkout / "src/carrel/.#a.py").symlink_to("somebody@machine.1234")
    assert _fingerprint(checkout) == before


def test_a_server_that_has_stopped_meanwhile_is_no_failure(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, database_url="postgresql://127.0.0.1:1/none")
    run_file.write_run(settings, embedded=True, claimant="")
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    replacement.stop_former(settings, ended.pid)


def test_code_of_the_last_start_is_kept(tmp_path: Path) -> None:
    assert run_file.read_code(tmp_path) == ""
    run_file.write_run(Settings(data_dir=tmp_path), embedded=True, claimant="")
    assert run_file.read_code(tmp_path) == code.fingerprint()


def test_a_server_of_a_service_is_restarted_by_it() -> None:
    replacement.require_own("0::/user.slice/user-0.slice/session-1.scope\n")
    with pytest.raises(Conflict) as refusal:
        replacement.require_own("0::/system.slice/carrel.service\n")
    assert refusal.value.hint == "Restart it with: systemctl restart carrel.service"
    with pytest.raises(Conflict) as refusal:
        replacement.require_own("0::/user.slice/user-1000.slice/user@1000.service/app.slice/carrel.service\n")
    assert refusal.value.hint == "Restart it with: systemctl --user restart carrel.service"
