"""The units in deploy/ are such as systemd takes, and bring a killed supervisor back."""

import configparser
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from carrel.server.grammar import ROLES, parse

UNITS = Path(__file__).parents[3] / "deploy" / "systemd"
CARREL = Path(sys.executable).with_name("carrel")
KINDS = {
    "system": (UNITS / "carrel.service", "/opt/carrel/bin/carrel"),
    "user": (UNITS / "user" / "carrel.service", "%h/carrel/carrel"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_systemd_finds_nothing_wrong_with_a_unit(kind: str, tmp_path: Path) -> None:
    source, path = KINDS[kind]
    text = source.read_text()
    assert path in text
    unit = tmp_path / "carrel.service"
    unit.write_text(text.replace(path, str(CARREL)))
    done = _verify(kind, unit)
    ours = [line for line in done.stderr.splitlines() if "carrel" in line]
    assert (done.returncode, ours) == (0, []), done.stderr
    # What is wrong is found.
    unit.write_text(unit.read_text().replace("Restart=on-failure", "Restart=if-it-must"))
    assert "if-it-must" in _verify(kind, unit).stderr


def test_systemd_finds_nothing_wrong_with_the_units_of_roles(tmp_path: Path) -> None:
    for source in (UNITS / "roles").iterdir():
        text = source.read_text()
        (tmp_path / source.name).write_text(text.replace("/opt/carrel/bin/carrel", str(CARREL)))
    units = [tmp_path / f"carrel@{role}.service" for role in ROLES]
    for unit in units:
        unit.symlink_to("carrel@.service")
    done = _verify("system", *units, tmp_path / "carrel-migrate.service", tmp_path / "carrel.target")
    ours = [line for line in done.stderr.splitlines() if "carrel" in line]
    assert (done.returncode, ours) == (0, []), done.stderr
    # What is wrong is found.
    units[0].unlink()
    units[0].write_text(
        (tmp_path / "carrel@.service").read_text().replace("serve", "serve\nRestart=if-it-must")
    )
    assert "if-it-must" in _verify("system", units[0]).stderr


def test_units_of_roles_run_commands_of_the_grammar() -> None:
    for source in (UNITS / "roles").glob("*.service"):
        [command] = re.findall(r"^ExecStart=\S+/carrel (.+)$", source.read_text(), re.MULTILINE)
        for role in ROLES:
            parse(command.replace("%i", role).split())


def _verify(kind: str, *units: Path) -> "subprocess.CompletedProcess[str]":
    program = shutil.which("systemd-analyze")
    assert program, "systemd-analyze is missing: apt-get install --no-install-recommends systemd"
    return subprocess.run(
        [program, "verify", f"--{kind}", "--man=no", *map(str, units)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(units[0].parent)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_unit_starts_again_what_was_killed_and_leaves_the_database_to_the_next(kind: str) -> None:
    unit = configparser.ConfigParser(interpolation=None, strict=True)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(KINDS[kind][0])
    service = unit["Service"]
    assert service["ExecStart"].endswith("carrel up --yes")
    assert (service["Restart"], service["KillMode"]) == ("on-failure", "process")
    # It would be run after a crash too, and stop the database that the next start uses.
    assert "ExecStop" not in service
    assert unit["Unit"]["StartLimitIntervalSec"] == "0"
