"""`carrel down` and `carrel status`: looked up on this machine, also when nothing answers."""

import argparse
import json
import os
import signal
import sys
import time
from dataclasses import asdict, dataclass

from carrel.core.errors import Unavailable
from carrel.db.embedded import Embedded
from carrel.server.command import EXIT_DOWN, read_run, read_version
from carrel.server.remembered import effective_settings
from carrel.server.settings import Settings
from carrel.server.up import answers, running_pid, say

_STOP_S = 30.0


@dataclass(frozen=True)
class Line:
    """state: "ok", "down", or "low" (a disk that is nearly full; a limit of the kernel that sessions share)."""

    part: str
    state: str
    version: str
    address: str


def down(options: argparse.Namespace) -> int:
    """Stop the control plane and the embedded database, and remove what no session needs from the engine.

    Twice: says that it is not running.
    """
    from carrel.server import leftovers

    settings = leftovers.settings_of_last_start(options)
    pid = running_pid(settings.data_dir)
    embedded = Embedded(settings.data_dir / "postgres")
    if pid is None and not embedded.running():
        say("Carrel is not running.")
        return 0
    label = leftovers.read_label(settings)  # while there is a database to ask
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_S
        while running_pid(settings.data_dir):
            if time.monotonic() > deadline:
                raise Unavailable(
                    "setup.not_stopping",
                    f"The process {pid} does not stop.",
                    hint=f"See {settings.data_dir / 'logs'}; then kill -9 {pid}.",
                )
            time.sleep(0.05)
    embedded.stop()
    say(f"Carrel is stopped. {_withdraw(settings, label)}")
    return 0


def _withdraw(settings: Settings, label: str | None) -> str:
    """Remove network and packet-filter rules if no session needs them; a sentence about that."""
    import asyncio

    from carrel.engines.port import EngineError
    from carrel.server import leftovers

    if label is None:
        return "Running sessions go on; `carrel up` finds them."
    try:
        left = asyncio.run(leftovers.withdraw(settings, label))
    except EngineError as error:
        return f"Its network and packet-filter rules stay: {error.message}"
    if left == 0:
        return "No session runs: its network and packet-filter rules are removed too."
    what = "1 session goes on" if left == 1 else f"{left} sessions go on"
    return f"{what}, and so do the network and the packet-filter rules that keep it apart; `carrel up` finds all."


def status(options: argparse.Namespace) -> int:
    """Each part with its health; exit code 5 when one is down."""
    lines = _look(options)
    if options.output == "json":
        sys.stdout.write(json.dumps([asdict(line) for line in lines], indent=2) + "\n")
    else:
        widths = [max(len(getattr(line, field)) for line in lines) for field in ("part", "state", "version")]
        for line in lines:
            say(
                f"{line.part:{widths[0]}}  {line.state:{widths[1]}}  {line.version:{widths[2]}}  {line.address}"
            )
    return EXIT_DOWN if any(line.state == "down" for line in lines) else 0


def _look(options: argparse.Namespace) -> list[Line]:
    from carrel.server import disk
    from carrel.server.bootstrap.engine import version

    settings = effective_settings(options)
    environment = read_run(settings.data_dir)
    version_started = read_version(settings.data_dir)
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    engine_url = environment.get("CARREL_ENGINE_URL", settings.engine_url)
    database_url = environment.get("CARREL_DATABASE_URL", "")
    engine = version(engine_url)
    room = disk.look(settings.data_dir)
    api_answers = answers(host, settings.port, "/api/v1/health", scheme=settings.scheme)
    gateway_answers = answers(
        host, settings.effective_gateway_port, "/.carrel/health", scheme=settings.scheme
    )
    return [
        _line(
            "supervisor", running_pid(settings.data_dir) is not None, version_started, str(settings.data_dir)
        ),
        _line("api", api_answers, version_started, settings.effective_public_url),
        _line("gateway", gateway_answers, version_started, settings.effective_apps_url),
        _database(database_url),
        _line("engine", engine is not None, engine or "", engine_url),
        Line("disk", room.state, room.text, str(settings.data_dir)),
        *_kernel(engine_url),
    ]


def _kernel(engine_url: str) -> list[Line]:
    """The kernel's limits that sessions share, where they run on this machine."""
    from carrel.server import kernel_limits

    if not engine_url.startswith("unix://"):
        return []
    remedy = kernel_limits.remedy(engine_url)
    return [Line("limits", "low" if remedy else "ok", "", remedy)]


def _database(url: str) -> Line:
    import psycopg

    try:
        with psycopg.connect(url, connect_timeout=3) as connection:
            version = connection.info.parameter_status("server_version") or ""
            return Line("database", "ok", f"PostgreSQL {version}", connection.info.host)
    except psycopg.Error:
        return Line("database", "down", "", "")


def _line(part: str, ok: bool, version: str, address: str) -> Line:
    return Line(part, "ok" if ok else "down", version if ok else "", address)
