"""Settings of `carrel up` about the addresses of an installation, stored for the next start of the same data directory.

They are in `run.json` with the rest of the processes' environment. `carrel status`, `down` and `backup` read it too, so
that they use the settings of the running installation.
"""

import argparse
import os
from pathlib import Path
from typing import Any

from carrel.core.errors import Conflict
from carrel.server.run_file import read_run
from carrel.server.settings import Settings, default_data_dir

_OPTIONS = ("host", "port", "apps_domain", "app_ports", "tls_cert", "tls_key")
"""Options of `carrel up`. Each has an environment variable too."""
_VARIABLES = ("gateway_port", "ssh_port", "ssh_address", "public_url", "apps_url", "trusted_proxies")
_NOT_OF_A_COPY = ("installation", "public_url", "apps_url")
"""Not copied: a proxy of the original does not forward to its copy."""


def effective_settings(options: argparse.Namespace) -> Settings:
    """Settings from options, then the environment, then the last `up` of this data directory, then defaults.

    An empty variable (0 for a number) counts as set: it resets the stored value.
    """
    data_dir = Path(options.data_dir or os.environ.get("CARREL_DATA_DIR") or default_data_dir()).resolve()
    kept = {
        key: value
        for key, value in _kept(data_dir).items()
        if _variable(key) not in os.environ
        and not (key in _NOT_OF_A_COPY and getattr(options, "as_copy", False))
    }
    given = {name: value for name in _OPTIONS if (value := getattr(options, name, None)) is not None}
    if given.get("tls_cert", os.environ.get("CARREL_TLS_CERT")) == "":
        kept.pop("tls_key", None)  # --no-tls: stored and reset together
    return Settings(**{**kept, **given, "data_dir": data_dir})


def require_as_running(settings: Settings) -> None:
    """Check that the requested settings match the running installation. Raises: Conflict."""
    running = read_run(settings.data_dir)
    for name in (*_OPTIONS, *_VARIABLES):
        # A former version did not write what it did not know.
        actual = running.get(_variable(name), str(Settings.model_fields[name].default))
        if str(getattr(settings, name)) != actual:
            spelled = f"--{name.replace('_', '-')}" if name in _OPTIONS else _variable(name)
            raise Conflict(
                "setup.running",
                f"Carrel is already running with another {spelled}" + (f": {actual}." if actual else "."),
                hint="Stop it first: carrel down. Sessions continue.",
            )


def _kept(data_dir: Path) -> dict[str, Any]:
    return {
        key: value
        for name, value in read_run(data_dir).items()
        if (key := name.removeprefix("CARREL_").lower()) in (*_OPTIONS, *_VARIABLES, "installation")
    }


def _variable(name: str) -> str:
    return f"CARREL_{name.upper()}"
