"""`carrel up`: engine, database, schema, first administrator, starter image, processes - then the address."""

import argparse
import asyncio
import contextlib
import http.client
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

from carrel.core.errors import CarrelError, Conflict, Unavailable
from carrel.db.embedded import Embedded, EmbeddedError
from carrel.db.revision import is_current
from carrel.server.bootstrap import Consent
from carrel.server.settings import Settings, default_data_dir, write_secret

READY_S = 60.0
_OPTIONS = ("host", "port", "apps_domain", "app_ports")
_ALPHABET = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
DEFAULT_EMAIL = "admin@carrel.local"


def up(options: argparse.Namespace) -> int:
    """Set up what is missing and run. In the foreground it becomes the supervisor itself."""
    settings = effective_settings(options)
    data_dir = settings.data_dir
    data_dir.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        data_dir.chmod(0o711)
    elif data_dir.stat().st_mode & 0o077:
        data_dir.chmod(0o700)
    if running_pid(data_dir):
        say("Carrel is running already.")
        announce(settings, founder=None)
        return 0
    _require_free_ports(settings)
    _ = settings.effective_app_ports  # a wrong range is told now, not in a log
    _ = settings.effective_trusted_proxies
    # 1. something that runs containers
    from carrel.server.bootstrap.engine import find_or_install_engine

    engine_url = find_or_install_engine(data_dir=data_dir, consent=consenting(options.yes), say=say)
    settings = settings.model_copy(update={"engine_url": engine_url})
    # 2. the database
    embedded = None if settings.database_url else Embedded(data_dir / "postgres")
    if embedded:
        settings = settings.model_copy(update={"database_url": _start_postgres(embedded)})
    settings.key()
    # 3. schema, first administrator, starter image: before the processes the first time and after an upgrade,
    #    beside them on every other start
    founder = None
    ready = is_current(settings.database_url)
    if not ready:
        try:
            founder = asyncio.run(_prepare(settings, options))
        except BaseException:
            if embedded:
                embedded.stop()
            raise
    # 4. the processes
    _write_run(settings, embedded=embedded is not None)
    later = options if ready else None
    if options.detach:
        return _accompany(settings, later, founder, _start_supervisor(data_dir).pid)
    supervisor = os.getpid()
    if os.fork() == 0:
        # The child sees the start through and prints the address; the parent becomes the supervisor.
        os._exit(_accompany(settings, later, founder, supervisor))
    return os.execv(sys.executable, _supervisor_command(data_dir))


def _accompany(
    settings: Settings,
    options: argparse.Namespace | None,
    founder: tuple[str, str] | None,
    supervisor: int,
) -> int:
    """Prepare what is left (options not None), wait until it answers, print the address; else stop it."""
    from carrel.server.command import complain

    try:
        if options:
            founder = asyncio.run(_prepare(settings, options))
        _wait_until_ready(settings, supervisor)
    except CarrelError as error:
        with contextlib.suppress(ProcessLookupError):
            os.kill(supervisor, signal.SIGTERM)
        return complain(error)
    announce(settings, founder)
    return 0


def effective_settings(options: argparse.Namespace) -> Settings:
    """Options, then the environment, then what the last `up` of this data directory used, then defaults."""
    from carrel.server.command import read_run

    data_dir = Path(options.data_dir or os.environ.get("CARREL_DATA_DIR") or default_data_dir()).resolve()
    remembered = {
        key: value
        for name, value in read_run(data_dir).items()
        if (key := name.removeprefix("CARREL_").lower()) in (*_OPTIONS, "installation")
        and name not in os.environ
    }
    given = {name: value for name in _OPTIONS if (value := getattr(options, name, None)) is not None}
    return Settings(**{**remembered, **given, "data_dir": data_dir})


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def consenting(yes: bool) -> Consent:
    """Asks on a terminal; elsewhere the answer is --yes."""

    def consent(what: str) -> bool:
        if yes:
            return True
        if not sys.stdin.isatty():
            return False
        return input(f"{what[0].upper()}{what[1:]}? [Y/n] ").strip().lower() in ("", "y", "yes")

    return consent


def running_pid(data_dir: Path) -> int | None:
    """The pid of this data directory's supervisor when it is alive."""
    try:
        pid = int((data_dir / "supervisor.pid").read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return None
    return pid if _supervisor_command(data_dir)[1:] == command.decode().split("\0")[1:-1] else None


def _require_free_ports(settings: Settings) -> None:
    import socket

    for port in (settings.port, settings.effective_gateway_port):
        with socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((settings.host, port))
            except OSError as error:
                raise Conflict(
                    "setup.port_taken",
                    f"Cannot listen on {settings.host} port {port}: {error.strerror}.",
                    hint="Choose another with --port; apps use the port after it.",
                ) from None


def _start_postgres(embedded: Embedded) -> str:
    try:
        return embedded.start()
    except EmbeddedError as error:
        raise Unavailable("setup.database", str(error)) from None


async def _prepare(settings: Settings, options: argparse.Namespace) -> tuple[str, str] | None:
    """The first administrator's e-mail and password when this is the first start, else None."""
    import carrel.server.tables  # noqa: F401 - the first rows refer to tables of everything
    from carrel.core.clock import SystemClock
    from carrel.db.database import Database
    from carrel.server import catalogue
    from carrel.server.bootstrap.starter import ensure_starter_image, remove_superseded
    from carrel.storage_hosts import service as storage_hosts
    from carrel.tenancy import service as tenancy

    if not is_current(settings.database_url):
        from carrel.db.migrate import migrate

        await asyncio.to_thread(migrate, settings.database_url)
    database = Database(settings.database_url, pool_size=1)
    try:
        reference = await ensure_starter_image(settings.engine_url, say=say, consent=consenting(options.yes))
        if await catalogue.register(database, settings.engine_url, name="starter", reference=reference):
            await remove_superseded(settings.engine_url, current=reference)
        file = settings.data_dir / "admin-password"
        if not file.exists():
            # Written before the user is made: a crash in between must not leave a password nobody knows.
            write_secret(file, "".join(secrets.choice(_ALPHABET) for _ in range(16)).encode())
        password = file.read_text()
        async with database.transaction() as tx:
            email = options.admin_email or DEFAULT_EMAIL
            founded = await tenancy.found(tx, SystemClock(), email=email, password=password)
        await storage_hosts.ensure_local(database, settings.data_dir)
        return (email, password) if founded else None
    finally:
        await database.close()


def _write_run(settings: Settings, *, embedded: bool) -> None:
    environment = {
        f"CARREL_{name.upper()}": str(value) for name, value in settings.model_dump().items() if value != ""
    }
    path = settings.data_dir / "run.json"
    fresh = path.with_suffix(".new")
    fresh.touch(mode=0o600)
    fresh.write_text(json.dumps({"embedded": embedded, "environment": environment}, indent=1))
    os.rename(fresh, path)


def _supervisor_command(data_dir: Path) -> list[str]:
    return [sys.executable, "-m", "carrel.server.supervise", str(data_dir)]


def _start_supervisor(data_dir: Path) -> "subprocess.Popen[bytes]":
    (data_dir / "logs").mkdir(exist_ok=True)
    with (data_dir / "logs" / "supervisor.err").open("ab") as log:
        return subprocess.Popen(
            _supervisor_command(data_dir),
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/",
        )  # fmt: skip


def _wait_until_ready(settings: Settings, supervisor: int) -> None:
    deadline = time.monotonic() + READY_S
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    parts = [(settings.port, "/api/v1/health"), (settings.effective_gateway_port, "/.carrel/health")]
    while parts:
        if time.monotonic() > deadline or not _lives(supervisor):
            break
        if answers(host, *parts[0]):
            parts.pop(0)
        else:
            time.sleep(0.05)
    if parts:
        raise Unavailable(
            "setup.not_ready",
            f"Carrel did not answer on port {parts[0][0]} in time.",
            hint=f"See the logs in {settings.data_dir / 'logs'}.",
        )


def _lives(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG) == (0, 0)
    except ChildProcessError:
        return os.getppid() == pid  # in the foreground the supervisor is our parent


def answers(host: str, port: int, path: str) -> bool:
    """True when there is a 200 there."""
    connection = http.client.HTTPConnection(host, port, timeout=3)
    try:
        connection.request("GET", path, headers={"Host": f"localhost:{port}"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def announce(settings: Settings, founder: tuple[str, str] | None) -> None:
    """Print where it is, how to sign in, and how to stop."""
    file = settings.data_dir / "admin-password"
    say("")
    say(f"Carrel is ready: {settings.effective_public_url}")
    if founder:
        say(f"  e-mail    {founder[0]}")
        say(f"  password  {founder[1]}   (kept in {file})")
    else:
        say(f"  the first administrator's password is in {file}")
    say("  stop      carrel down        state   carrel status")
    say("")
