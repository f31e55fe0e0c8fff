"""What a new installation starts with: a schema, its label in the engines, an administrator and a storage host."""

import argparse
import asyncio
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from carrel.db.revision import is_current
from carrel.server.bootstrap import Say
from carrel.server.settings import Settings, write_secret

if TYPE_CHECKING:
    from carrel.db.database import Database

DEFAULT_EMAIL = "admin@carrel.local"
ADMIN_PASSWORD = "admin-password"
"""File of the first administrator's password in the data directory."""
_ALPHABET = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_LOCK_KEY = 0x_CA44E3


class Founder(NamedTuple):
    """The newly created first administrator."""

    email: str
    password: str


async def prepare(
    settings: Settings,
    options: argparse.Namespace,
    *,
    former_data_dir: Path | None,
    password_file: Path,
    say: Say,
    images: "Callable[[Database], Awaitable[None]] | None" = None,
) -> Founder | None:
    """Prepare the database; the first administrator if it was created now, else None. Twice, or concurrently: no-op.

    password_file: created with a random password if it is missing. images: prepares the engine's images.
    Raises: Conflict, Invalid, Unavailable.
    """
    import carrel.server.metadata  # noqa: F401 - the first rows refer to tables of everything
    from carrel.db.database import Database
    from carrel.folders.hosts import locations
    from carrel.folders.hosts import service as storage_hosts
    from carrel.server import adoption

    if not is_current(settings.database_url):
        from carrel.db.migrate import migrate

        await asyncio.to_thread(migrate, settings.database_url)
    database = Database(settings.database_url, pool_size=1)
    try:
        mode = adoption.mode_of(options)
        await adoption.settle(settings, database, mode, former_data_dir=former_data_dir, say=say)
        if images:
            await images(database)
        founder = await _bootstrap(database, options.admin_email or DEFAULT_EMAIL, password_file)
        await storage_hosts.ensure_local(database, settings.data_dir)
        if settings.folders_location:
            async with database.transaction() as tx:
                await locations.ensure_local(tx, settings.data_dir, settings.folders_location)
        return founder
    finally:
        await database.close()


async def _bootstrap(database: "Database", email: str, password_file: Path) -> Founder | None:
    from sqlalchemy import text

    from carrel.core.clock import SystemClock
    from carrel.tenancy import service as tenancy

    password = _password(password_file)
    async with database.transaction() as tx:
        await tx.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
        founded = await tenancy.bootstrap(tx, SystemClock(), email=email, password=password)
    return Founder(email, password) if founded else None


def _password(file: Path) -> str:
    if not file.exists():
        # Written before the user is created: a crash in between must not leave an unknown password.
        write_secret(file, "".join(secrets.choice(_ALPHABET) for _ in range(16)).encode())
    return file.read_text().strip()
