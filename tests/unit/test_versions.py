"""One version everywhere, and the changelog knows it."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import carrel_client

import carrel
from carrel import version

ROOT = Path(__file__).parents[2]


def test_server_client_and_changelog_say_the_same_version() -> None:
    newest = re.search(r"^## (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert carrel.__version__ == carrel_client.__version__ == newest[1]


def test_packages_take_their_version_from_the_code() -> None:
    for folder in (ROOT, ROOT / "clients" / "python"):
        project = tomllib.loads((folder / "pyproject.toml").read_text())
        assert "version" not in project["project"]
        assert carrel.__version__ in (folder / project["tool"]["hatch"]["version"]["path"]).read_text()


def test_a_checkout_adds_its_revision(monkeypatch, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", tmp_path, *identity, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    head = subprocess.run(
        ["git", "-C", tmp_path, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    monkeypatch.setattr(version, "_CHECKOUT", tmp_path)
    shown = version.full.__wrapped__()
    assert shown.startswith(f"{carrel.__version__}+g")
    assert head.stdout.startswith(shown.split("+g")[1])
    monkeypatch.setattr(version, "_CHECKOUT", tmp_path / "installed")
    assert version.full.__wrapped__() == carrel.__version__


def test_the_command_says_its_version() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("carrel"), "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"carrel {version.full()}\n"
