"""Which schema a database has, found out without loading the migrations' machinery."""

from pathlib import Path

import psycopg

_VERSIONS = Path(__file__).parent / "migrations" / "versions"


def newest() -> str:
    """The revision that this code needs; migrations are numbered files, 0001_..., in order."""
    return max(file.name.split("_")[0] for file in _VERSIONS.glob("[0-9]*.py"))


def current(url: str) -> str | None:
    """The revision of the database; None before the first migration. Raises: psycopg.Error when it does not answer."""
    with psycopg.connect(url, connect_timeout=10) as connection:
        try:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        except psycopg.errors.UndefinedTable:
            return None
    return str(row[0]) if row else None


def is_current(url: str) -> bool:
    """True when the database has the newest schema. Raises: psycopg.Error when it does not answer."""
    return current(url) == newest()
