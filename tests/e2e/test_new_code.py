"""`carrel up` while a server of other code runs: after an upgrade of a checkout."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from e2e.conftest import SMALL
from e2e.running import CARREL, Running, installation

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sources, which commands of this test run."""
    for name in ("src/carrel", "images"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "uv.lock", tmp_path)
    sources = f"{tmp_path / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    monkeypatch.setenv("PYTHONPATH", sources)
    return tmp_path


def _up(carrel: Running) -> str:
    done = subprocess.run(
        [str(CARREL), "up", "--detach", "--yes", "--data-dir", str(carrel.data_dir)],
        env=carrel.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_changed_code_restarts_the_server_and_sessions_go_on(checkout: Path) -> None:
    with installation("code") as carrel:
        created = carrel.carrel("session", "create", *SMALL, "--name", "goes_on", "--wait")
        assert created.returncode == 0, created.stderr
        carrel.shell("goes_on", "echo kept > /tmp/here")
        first = carrel.supervisor
        assert "running already" in _up(carrel)
        assert carrel.supervisor == first

        with (checkout / "src/carrel/version.py").open("a") as file:
            file.write("\n# A later revision.\n")
        said = _up(carrel)
        assert "with other code: restarting it. Sessions keep running." in said
        assert "Carrel is ready" in said
        second = carrel.supervisor
        assert second != first
        assert not first.is_running()
        assert carrel.shell("goes_on", "cat /tmp/here") == "kept\n"

        assert "running already" in _up(carrel)
        assert carrel.supervisor == second
