"""`carrel up`: engine, database, schema, first administrator, starter image, processes - then the address."""

import argparse
import asyncio
import contextlib
import errno
import http.client
import os
import signal
import ssl
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from carrel.core.errors import CarrelError, Conflict, Unavailable
from carrel.db.embedded import Embedded, EmbeddedError
from carrel.db.revision import is_current
from carrel.server import code, founding, path_link
from carrel.server.bootstrap import Consent
from carrel.server.console import complain, say
from carrel.server.founding import ADMIN_PASSWORD, Founder
from carrel.server.remembered import effective_settings, require_as_running
from carrel.server.replacement import stop_former
from carrel.server.run_file import read_claimant, read_code, read_run, write_run
from carrel.server.running import running_pid, supervisor_command
from carrel.server.settings import Settings
from carrel.server.waiting import require_not_newer, wait_for_database

if TYPE_CHECKING:
    from carrel.db.database import Database

READY_S = 120.0
_CRASHED_S = 10.0
_SILENT_S = 2.0


def up(options: argparse.Namespace) -> int:
    """Set up what is missing and run. In the foreground, this process becomes the supervisor."""
    settings = effective_settings(options)
    data_dir = settings.data_dir
    pid = running_pid(data_dir)
    if pid and read_code(data_dir) == code.fingerprint():
        return _runs_already(settings)
    # 0. check everything that would fail later, before creating anything
    _ = settings.effective_app_ports
    _ = settings.scanner()
    _ = settings.effective_trusted_proxies
    _require_certificate(settings)
    if pid:
        stop_former(settings, pid)
    _require_free_ports(settings)
    if settings.database_url:
        wait_for_database(settings.database_url)
    _make_data_dir(data_dir)
    # 1. container engine
    from carrel.server.bootstrap.engine_setup import find_or_install_engine

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
    try:
        wait_for_database(settings.database_url)
        require_not_newer(settings.database_url)
        ready = is_current(settings.database_url) and _stays(settings, options)
        if not ready:
            founder = asyncio.run(_prepare(settings, options))
    except BaseException:
        if embedded:
            embedded.stop()
        raise
    path_link.offer(data_dir, consenting(yes=False), say)
    # 4. the processes
    from carrel.server.claim import claimant

    write_run(settings, embedded=embedded is not None, claimant=claimant(settings).fingerprint)
    later = ready
    if options.detach:
        return _accompany(
            settings, options, later=later, founder=founder, supervisor=_start_supervisor(data_dir).pid
        )
    supervisor = os.getpid()
    if os.fork() == 0:
        # The child waits for the start and prints the address; the parent becomes the supervisor.
        os._exit(_accompany(settings, options, later=later, founder=founder, supervisor=supervisor))
    return os.execv(sys.executable, supervisor_command(data_dir))


def _stays(settings: Settings, options: argparse.Namespace) -> bool:
    """True if the last start had the same identity, so that processes may start before the label is checked.

    A copy at the same path of another machine has another identity. Its processes would claim the label there, and the
    check would then find it to be their own.
    """
    from carrel.server.adoption import Mode, mode_of
    from carrel.server.claim import claimant

    return (
        mode_of(options) is Mode.PLAIN and read_claimant(settings.data_dir) == claimant(settings).fingerprint
    )


def _former_data_dir(settings: Settings) -> Path | None:
    """Location of this data directory at its last start; None before the first."""
    former = read_run(settings.data_dir).get("CARREL_DATA_DIR")
    return Path(former) if former else None


def _accompany(
    settings: Settings,
    options: argparse.Namespace,
    *,
    later: bool,
    founder: Founder | None,
    supervisor: int,
) -> int:
    """Do the deferred preparation (later), wait until the server responds, print the address; on failure stop it."""
    try:
        if later:
            founder = asyncio.run(_prepare(settings, options))
        _wait_until_ready(settings, supervisor)
    except CarrelError as error:
        with contextlib.suppress(ProcessLookupError):
            os.kill(supervisor, signal.SIGTERM)
        return complain(error)
    announce(settings, founder, show_password=options.show_password)
    _warn_of_low_limits(settings.engine_url)
    return 0


def _warn_of_low_limits(engine_url: str) -> None:
    from carrel.server import kernel_limits

    if remedy := kernel_limits.remedy(engine_url):
        say(
            "carrel: limits of the kernel are low, so one session could use them up for all; this raises them:"
        )
        say(f"  {remedy}")


def _runs_already(settings: Settings) -> int:
    """Print the address. Raises: Conflict if the requested settings differ from the running ones."""
    require_as_running(settings)
    say("Carrel is running already.")
    announce(settings, founder=None)
    return 0


def _make_data_dir(data_dir: Path) -> None:
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            data_dir.chmod(0o711)
        elif data_dir.stat().st_mode & 0o077:
            data_dir.chmod(0o700)
    except OSError as error:
        raise Unavailable(
            "setup.data_dir",
            f"{data_dir} cannot be used: {error.strerror}.",
            hint="Choose another directory with --data-dir.",
        ) from None


def consenting(yes: bool) -> Consent:
    """Consent by a prompt on a terminal, elsewhere by --yes."""

    def consent(what: str) -> bool:
        if yes:
            return True
        if not sys.stdin.isatty():
            return False
        return input(f"{what[0].upper()}{what[1:]}? [Y/n] ").strip().lower() in ("", "y", "yes")

    return consent


def _require_certificate(settings: Settings) -> None:
    """Check the certificate; warn about own names that it does not cover. Raises: Invalid."""
    if not (settings.tls_cert or settings.tls_key):
        return
    from carrel.server import certificate

    validity = certificate.require(settings.tls_cert, settings.tls_key, now=datetime.now(UTC))
    hosts = [urlsplit(settings.effective_public_url).hostname or ""]
    if not settings.effective_app_ports:
        hosts.append(f"*.{urlsplit(settings.effective_apps_url).hostname}")
    for host in hosts:
        if not validity.covers(host):
            say(f"carrel: the certificate is not for {host}, so browsers will warn there")


def _require_free_ports(settings: Settings) -> None:
    # Processes of a killed supervisor take a moment to end.
    crashed = (settings.data_dir / "supervisor.pid").exists()
    deadline = time.monotonic() + (_CRASHED_S if crashed else 0)
    for port in (settings.port, settings.effective_gateway_port):
        while (error := _cannot_listen(settings.host, port)) is not None:
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                raise _port_refusal(settings.host, port, error)
            time.sleep(0.1)


def _cannot_listen(host: str, port: int) -> OSError | None:
    import socket

    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        return error
    return None


def _port_refusal(host: str, port: int, error: OSError) -> Conflict:
    if error.errno == errno.EADDRINUSE:
        return Conflict(
            "setup.port_taken",
            f"Another program listens on {host} port {port}.",
            hint="Choose another port with --port; apps use the port after it.",
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return Conflict(
            "setup.port_forbidden",
            f"This user may not listen on port {port}.",
            hint="Choose a port from 1024 up with --port, and put a proxy in front of it.",
        )
    return Conflict(
        "setup.host",
        f"This machine has no address {host}.",
        hint="Set --host to one of its addresses, such as 127.0.0.1, or to 0.0.0.0 for all of them.",
    )


def _start_postgres(embedded: Embedded) -> str:
    try:
        return asyncio.run(_started(embedded))
    except EmbeddedError as error:
        raise Unavailable("setup.database", str(error)) from None


async def _started(embedded: Embedded) -> str:
    """Start the embedded database and return its URL. Reports recovery after a crash, which may take minutes."""
    from carrel.server.bootstrap.progress import progress

    starting = asyncio.create_task(asyncio.to_thread(embedded.start))
    if not (await asyncio.wait([starting], timeout=_SILENT_S))[0]:
        async with progress(say, "PostgreSQL") as shown:
            shown.show("starting")
            await starting
    return starting.result()


async def _prepare(settings: Settings, options: argparse.Namespace) -> Founder | None:
    """Prepare the database and the starter image; the first administrator if it was created now, else None."""
    return await founding.prepare(
        settings,
        options,
        former_data_dir=_former_data_dir(settings),
        password_file=settings.data_dir / ADMIN_PASSWORD,
        say=say,
        images=lambda database: _prepare_starter(settings, database, consenting(options.yes)),
    )


async def _prepare_starter(settings: Settings, database: "Database", consent: Consent) -> None:
    """Ensure that the starter image is in the local engine and in the catalogue."""
    from carrel.engines.docker import DockerEngine
    from carrel.server import catalogue, claim
    from carrel.server.bootstrap.starter import ensure_starter_image, remove_superseded

    engine = DockerEngine(settings.engine_url, await claim.label(settings, database))
    try:
        reference = await ensure_starter_image(engine, say=say, consent=consent)
        if await catalogue.register(database, engine, name="starter", reference=reference):
            await remove_superseded(engine, current=reference)
    finally:
        await engine.close()


def _start_supervisor(data_dir: Path) -> "subprocess.Popen[bytes]":
    (data_dir / "logs").mkdir(exist_ok=True)
    with (data_dir / "logs" / "supervisor.err").open("ab") as log:
        return subprocess.Popen(
            supervisor_command(data_dir),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
        )


def _wait_until_ready(settings: Settings, supervisor: int) -> None:
    deadline = time.monotonic() + READY_S
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    parts = [(settings.port, "/api/v1/health"), (settings.effective_gateway_port, "/.carrel/health")]
    while parts:
        if time.monotonic() > deadline or not _lives(supervisor):
            break
        if answers(host, *parts[0], scheme=settings.scheme):
            parts.pop(0)
        else:
            time.sleep(0.05)
    if parts:
        raise Unavailable(
            "setup.not_ready",
            f"Carrel did not respond on port {parts[0][0]} in time.",
            hint=f"See the logs in {settings.data_dir / 'logs'}.",
        )


def _lives(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG) == (0, 0)
    except ChildProcessError:
        return os.getppid() == pid  # in the foreground the supervisor is our parent


def answers(host: str, port: int, path: str, *, scheme: str) -> bool:
    """True if the path responds with 200."""
    if scheme == "https":
        # The server is known, and the certificate is for another name than this address.
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            host, port, timeout=3, context=ssl._create_unverified_context()
        )
    else:
        connection = http.client.HTTPConnection(host, port, timeout=3)
    try:
        connection.request("GET", path, headers={"Host": f"localhost:{port}"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def announce(settings: Settings, founder: Founder | None, *, show_password: bool = False) -> None:
    """Print address, sign-in and how to stop.

    The password is printed only on a terminal or on request; elsewhere it would end up in a log.
    """
    file = settings.data_dir / ADMIN_PASSWORD
    say("")
    say(f"Carrel is ready: {settings.effective_public_url}")
    if founder:
        say(f"  e-mail    {founder.email}")
    if founder and (show_password or sys.stdout.isatty()):
        say(f"  password  {founder.password}   (kept in {file})")
    elif show_password and file.exists():
        say(f"  password  {file.read_text()}   (of the first administrator, unless it was changed since)")
    else:
        say(f"  password  of the first administrator: in {file}")
    say("  stop      carrel down        state   carrel status")
    say("")
