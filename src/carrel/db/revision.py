"""The schema revision of a database, determined without importing Alembic."""

from pathlib import Path

import psycopg

_VERSIONS = Path(__file__).parent / "migrations" / "versions"


def newest() -> str:
    """The revision required by this code; migrations are numbered files, 0001_..., in order."""
    return max(file.name.split("_")[0] for file in _VERSIONS.glob("[0-9]*.py"))


def current(url: str) -> str | None:
    """The revision of the database; None before the first migration. Raises: psycopg.Error if it does not respond."""
    with psycopg.connect(url, connect_timeout=10) as connection:
        try:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        except psycopg.errors.UndefinedTable:
            return None
    return str(row[0]) if row else None


def is_current(url: str) -> bool:
    """True if the database has the newest schema. Raises: psycopg.Error if it does not respond."""
    return current(url) == newest()
