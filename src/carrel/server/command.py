"""The operator's commands, parsed by `grammar`; each is imported only when it runs, for a fast start."""

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from carrel.core.errors import CarrelError, Invalid
from carrel.server.console import complain, say
from carrel.server.grammar import EXIT_USAGE, parse

_OF_A_CHECKOUT = ("test", "bench")


def main(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit code (0 success, 1 failure, 2 usage error, 5 not running)."""
    if arguments[:1] and arguments[0] in _OF_A_CHECKOUT:
        sys.stderr.write(f"error: `carrel {arguments[0]}` works only in a checkout (usage)\n")
        sys.stderr.write(f"hint: clone the repository and run ./carrel {arguments[0]} there\n")
        return EXIT_USAGE
    options = parse(arguments)
    try:
        if options.command == "up":
            from carrel.server import up

            return up.up(options)
        if options.command == "serve":
            return _serve(options)
        if options.command == "migrate":
            return _migrate(options)
        if options.command == "backup":
            from carrel.server.backup import create

            return create.backup(options)
        if options.command == "restore":
            from carrel.server.backup import restore

            return restore.restore(options)
        if options.command == "push-layer":
            from carrel.server import push_layer

            return push_layer.push_layer(options)
        if options.command == "uninstall":
            from carrel.server import uninstall

            return uninstall.uninstall(options)
        from carrel.server import status

        return status.down(options) if options.command == "down" else status.status(options)
    except CarrelError as error:
        return complain(error)
    except ValueError as error:
        return complain(_wrong_setting(error))
    except KeyboardInterrupt:
        return 130


def _wrong_setting(error: ValueError) -> CarrelError:
    """The error for an invalid environment variable. Raises: the original error if it has another cause."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError) or error.title != "Settings":
        raise error
    first = error.errors()[0]
    name = f"CARREL_{str(first['loc'][0]).upper()}" if first["loc"] else "settings"
    return Invalid(
        "setup.setting",
        f"{name}={first['input']}: {first['msg']}.",
        hint="See docs/reference/settings.md, or unset it to use the default.",
    )


def _serve(options: argparse.Namespace) -> int:
    """Run the roles in this process; the gateway has its own process."""
    roles = set(options.roles.split(","))
    if not (url := _database_url()):
        return EXIT_USAGE
    from carrel.db.migrate import migrate
    from carrel.server import certificate
    from carrel.server.settings import Settings

    settings = Settings()
    if settings.tls_cert or settings.tls_key:
        certificate.require(settings.tls_cert, settings.tls_key, now=datetime.now(UTC))
    _wait_for_database(url)
    migrate(url)
    if roles - {"gateway"}:
        import asyncio

        asyncio.run(_settle(options))
    rest = ",".join(sorted(roles - {"gateway"}))
    if "gateway" in roles and rest:
        import subprocess

        with subprocess.Popen(
            [sys.executable, "-m", "carrel.server.role", "gateway", str(os.getpid())]
        ) as gateway:
            try:
                return subprocess.run(
                    [sys.executable, "-m", "carrel.server.role", rest], check=False
                ).returncode
            finally:
                gateway.terminate()
    role = rest or "gateway"
    return os.execv(sys.executable, [sys.executable, "-m", "carrel.server.role", role])


def _migrate(options: argparse.Namespace) -> int:
    """Prepare the database, once it responds, and exit."""
    if not (url := _database_url()):
        return EXIT_USAGE
    _wait_for_database(url)
    import asyncio

    from carrel.server import founding
    from carrel.server.settings import Settings

    settings = Settings()
    password_file = options.admin_password_file or settings.data_dir / founding.ADMIN_PASSWORD
    founder = asyncio.run(
        founding.prepare(settings, options, former_data_dir=None, password_file=password_file, say=say)
    )
    if founder:
        say(f"The first administrator is {founder.email}, with the password in {password_file}.")
    say("The database is ready.")
    return 0


def _database_url() -> str:
    """The URL of your own PostgreSQL; empty, with a message, if there is none."""
    if not (url := os.environ.get("CARREL_DATABASE_URL", "")):
        sys.stderr.write("error: CARREL_DATABASE_URL is not set (setup.no_database)\n")
        sys.stderr.write("hint: `carrel up` runs everything with an embedded PostgreSQL.\n")
    return url


def _wait_for_database(url: str) -> None:
    from carrel.server.waiting import require_not_newer, wait_for_database

    wait_for_database(url)
    require_not_newer(url)


async def _settle(options: argparse.Namespace) -> None:
    from carrel.db.database import Database
    from carrel.server import adoption
    from carrel.server.settings import Settings

    settings = Settings()
    database = Database(settings.database_url, pool_size=1)
    try:
        await adoption.settle(settings, database, adoption.mode_of(options), former_data_dir=None, say=say)
    finally:
        await database.close()
