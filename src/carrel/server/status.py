"""`carrel down` and `carrel status`, which work without a running server."""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

from carrel.server.console import EXIT_DOWN, say
from carrel.server.remembered import effective_settings
from carrel.server.run_file import read_run, read_version
from carrel.server.running import embedded, running_pid, stop
from carrel.server.up import answers

if TYPE_CHECKING:
    from carrel.server.engines import InstalledEngine


@dataclass(frozen=True)
class StatusLine:
    """state: "ok", "down", "low" (a nearly full disk; a low kernel limit shared by sessions), "unknown" (an engine
    that is not being observed), "building" or "failed" (an app layer, without which sessions start).
    """

    part: str
    state: str
    version: str
    address: str


class EngineSeen(NamedTuple):
    """An added engine as last observed by the controllers. address: its address, or why it is down."""

    name: str
    kind: str
    state: str
    address: str


class LayerSeen(NamedTuple):
    """The app layer of an engine as last stored by the controllers. text: the step of its build, or why it failed."""

    engine: str
    reference: str
    state: str
    text: str


class DatabaseSeen(NamedTuple):
    """What only the database knows."""

    line: StatusLine
    engines: list[EngineSeen]
    layers: list[LayerSeen]


def down(options: argparse.Namespace) -> int:
    """Stop the control plane and the embedded database, and remove objects from the engines that no session needs.

    Twice: reports that it is not running.
    """
    from carrel.server import engine_cleanup

    settings = engine_cleanup.settings_of_last_start(options)
    if running_pid(settings.data_dir) is None and not embedded(settings).running():
        say("Carrel is not running.")
        return 0
    known = asyncio.run(engine_cleanup.installed_if_known(settings))  # needs the database
    stop(settings)
    if not known:
        say("Carrel is stopped. Running sessions go on; `carrel up` finds them.")
    for name, sentence in _withdraw(known):
        say(f"Carrel is stopped. {sentence}" if not name else f"{name}: {sentence}")
    return 0


def _withdraw(known: "list[InstalledEngine]") -> Iterator[tuple[str, str]]:
    """Remove networks and packet-filter rules that no session needs; yields engine name ("": local) and a sentence."""
    from carrel.engines.port import EngineError
    from carrel.server import engine_cleanup

    for engine, left in asyncio.run(engine_cleanup.withdraw(known)).items():
        if isinstance(left, EngineError):
            sentence = f"Its network and packet-filter rules stay: {left.message}"
        elif left == 0:
            sentence = "No session runs: its network and packet-filter rules are removed too."
        else:
            what = "1 session goes on" if left == 1 else f"{left} sessions go on"
            sentence = (
                f"{what}, and so do the network and the packet-filter rules that keep it apart; "
                "`carrel up` finds all."
            )
        yield "" if engine.is_local else engine.name, sentence


def status(options: argparse.Namespace) -> int:
    """Print the health of each component; exit code 5 if one is down."""
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


def _look(options: argparse.Namespace) -> list[StatusLine]:
    from carrel.server import disk
    from carrel.server.bootstrap.engine_setup import version

    settings = effective_settings(options)
    environment = read_run(settings.data_dir)
    version_started = read_version(settings.data_dir)
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    engine_url = environment.get("CARREL_ENGINE_URL", settings.engine_url)
    database_url = environment.get("CARREL_DATABASE_URL", "")
    engine = version(engine_url)
    database = _database(database_url)
    room = disk.look(settings.data_dir)
    runs = running_pid(settings.data_dir) is not None
    api_answers = answers(host, settings.port, "/api/v1/health", scheme=settings.scheme)
    gateway_answers = answers(
        host, settings.effective_gateway_port, "/.carrel/health", scheme=settings.scheme
    )
    return [
        _line("supervisor", runs, version_started, str(settings.data_dir)),
        _line("api", api_answers, version_started, settings.effective_public_url),
        _line("gateway", gateway_answers, version_started, settings.effective_apps_url),
        database.line,
        _line("engine", engine is not None, engine or "", engine_url),
        *(_engine(one, observed=runs) for one in database.engines),
        *(_layer(one) for one in database.layers),
        StatusLine("disk", room.state, room.text, str(settings.data_dir)),
        *_kernel(engine_url),
    ]


def _kernel(engine_url: str) -> list[StatusLine]:
    """The kernel limits shared by sessions, if they run on this machine."""
    from carrel.server import kernel_limits

    if not engine_url.startswith("unix://"):
        return []
    remedy = kernel_limits.remedy(engine_url)
    return [StatusLine("limits", "low" if remedy else "ok", "", remedy)]


def _database(url: str) -> DatabaseSeen:
    """The database, and what only it knows."""
    import psycopg

    try:
        with psycopg.connect(url, connect_timeout=3, autocommit=True) as connection:
            version = connection.info.parameter_status("server_version") or ""
            line = StatusLine("database", "ok", f"PostgreSQL {version}", connection.info.host)
            seen = DatabaseSeen(line, [], [])
            try:
                seen.engines.extend(EngineSeen(*row) for row in connection.execute(_ENGINES))
                seen.layers.extend(LayerSeen(*row) for row in connection.execute(_LAYERS))
            except psycopg.errors.UndefinedTable:
                pass  # the program was replaced, and the schema is older
            return seen
    except psycopg.Error:
        return DatabaseSeen(StatusLine("database", "down", "", ""), [], [])


def _engine(seen: EngineSeen, *, observed: bool) -> StatusLine:
    state = _OBSERVED.get(seen.state, "unknown") if observed else "unknown"
    return StatusLine(f"engine {seen.name}", state, seen.kind, seen.address)


def _layer(seen: LayerSeen) -> StatusLine:
    part = "app layer" if seen.engine == "local" else f"app layer {seen.engine}"
    text = seen.text
    if seen.state == "FAILED":
        text += f" Sessions start without it. To try again: carrel engine check {seen.engine}"
    return StatusLine(part, _LAYER_STATES[seen.state], seen.reference.rpartition(":")[2], text)


_LAYERS = """
    SELECT e.name, l.reference, l.state, coalesce(l.error, l.step) FROM app_layers l
    JOIN engines e ON e.id = l.engine_id ORDER BY e.name
"""
_LAYER_STATES = {"READY": "ok", "BUILDING": "building", "FAILED": "failed"}
_ENGINES = """
    SELECT name, kind, state, coalesce(last_error, settings ->> 'url', '') FROM engines
    WHERE id <> 'local' ORDER BY name
"""
_OBSERVED = {"READY": "ok", "DOWN": "down"}


def _line(part: str, ok: bool, version: str, address: str) -> StatusLine:
    return StatusLine(part, "ok" if ok else "down", version if ok else "", address)
