"""`run.json` in the data directory: version, code, identity and environment of the last `carrel up`."""

import json
import os
from pathlib import Path

from carrel import version
from carrel.server import code
from carrel.server.settings import Settings

_NAME = "run.json"


def write_run(settings: Settings, *, embedded: bool, claimant: str) -> None:
    """Replace the file. claimant: the identity of the installation; embedded: whether it has its own database."""
    environment = {
        f"CARREL_{name.upper()}": str(value) for name, value in settings.model_dump().items() if value != ""
    }
    path = settings.data_dir / _NAME
    fresh = path.with_suffix(".new")
    fresh.touch(mode=0o600)
    run = {
        "version": version.full(),
        "code": code.fingerprint(),
        "embedded": embedded,
        "claimant": claimant,
        "environment": environment,
    }
    fresh.write_text(json.dumps(run, indent=1))
    os.rename(fresh, path)


def read_run(data_dir: Path) -> dict[str, str]:
    """The environment of the processes started by the last `up`; empty before the first."""
    try:
        return dict(json.loads((data_dir / _NAME).read_text())["environment"])
    except (OSError, ValueError, KeyError):
        return {}


def read_version(data_dir: Path) -> str:
    """The version that the last `up` started; differs from the current one if the code was replaced since."""
    return _read(data_dir, "version")


def read_code(data_dir: Path) -> str:
    """The fingerprint of the code that the last `up` started; empty before the first."""
    return _read(data_dir, "code")


def read_claimant(data_dir: Path) -> str:
    """The identity of the installation at the last `up`; empty before the first."""
    return _read(data_dir, "claimant")


def _read(data_dir: Path, name: str) -> str:
    try:
        return str(json.loads((data_dir / _NAME).read_text())[name])
    except (OSError, ValueError, KeyError):
        return ""
