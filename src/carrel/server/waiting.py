"""Waiting for a database that starts, and refusing one that never will, or that a newer version has changed."""

import sys
import time

import psycopg

from carrel import version
from carrel.core.errors import Conflict, Unavailable
from carrel.db import revision

_ANSWERS_S = 60.0
_PAUSE_S = 0.5
_STARTING = "57P03"
"""PostgreSQL answers, and says that it starts, recovers or stops: SQLSTATE cannot_connect_now."""

_FINAL_SIGNS = ("authentication failed", "does not exist", "no pg_hba.conf entry", "Servname not supported")
"""In what libpq says, which gives no SQLSTATE for a connection that was never made."""


def wait_for_database(url: str) -> None:
    """Return when the database takes connections. A recovery is waited for without limit, silence for a minute.

    Raises: Unavailable, saying why; at once when waiting is of no use, such as a wrong password.
    """
    deadline = time.monotonic() + _ANSWERS_S
    told = ""
    while (problem := _problem(url)) is not None:
        if problem.final or (not problem.recovers and time.monotonic() > deadline):
            raise Unavailable(
                "setup.database",
                f"The database does not take connections: {problem.text}.",
                hint="Check CARREL_DATABASE_URL, such as postgresql://carrel:PASSWORD@db.example.org/carrel.",
            )
        if problem.text != told:
            told = problem.text
            sys.stderr.write(f"waiting for the database: {told}\n")
        time.sleep(_PAUSE_S)


def require_not_newer(url: str) -> None:
    """Raises: Conflict when a newer version of Carrel has changed the database's schema."""
    schema = revision.current(url)
    if schema is not None and schema > revision.newest():
        raise Conflict(
            "setup.newer_database",
            f"The database has schema {schema}, made by a newer version of Carrel; this is {version.full()}, which "
            f"knows schemas up to {revision.newest()}.",
            hint="Start the newer version, or restore the backup from before the upgrade (docs/howto/upgrade.md).",
        )


class _Problem:
    """recovers: it will take connections by itself. final: it never will."""

    def __init__(self, error: psycopg.Error) -> None:
        lines = str(error).strip().splitlines()
        self.text = (lines[-1] if lines else type(error).__name__).strip().rstrip(".")
        self.recovers = error.sqlstate == _STARTING or "starting up" in self.text or "recovery" in self.text
        self.final = not isinstance(error, psycopg.OperationalError) or any(
            sign in self.text for sign in _FINAL_SIGNS
        )


def _problem(url: str) -> _Problem | None:
    try:
        with psycopg.connect(url, connect_timeout=5):
            return None
    except psycopg.Error as error:
        return _Problem(error)
