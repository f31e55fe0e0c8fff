"""Wait for a starting database; reject one that cannot start or has a newer schema."""

import sys
import time

import psycopg

from carrel import version
from carrel.core.errors import Conflict, Unavailable
from carrel.db import revision

_ANSWERS_S = 60.0
_PAUSE_S = 0.5
_STARTING = "57P03"
"""SQLSTATE cannot_connect_now: PostgreSQL is starting, recovering or stopping."""

_FINAL_SIGNS = ("authentication failed", "does not exist", "no pg_hba.conf entry", "Servname not supported")
"""Text in errors of libpq, which has no SQLSTATE for failed connections."""


def wait_for_database(url: str) -> None:
    """Wait until the database accepts connections: without limit during recovery, one minute without response.

    Raises: Unavailable with the reason; immediately if waiting is useless, such as for a wrong password.
    """
    deadline = time.monotonic() + _ANSWERS_S
    reported = ""
    while (problem := _problem(url)) is not None:
        if problem.final or (not problem.recovers and time.monotonic() > deadline):
            raise Unavailable(
                "setup.database",
                f"The database does not accept connections: {problem.text}.",
                hint="Check CARREL_DATABASE_URL, such as postgresql://carrel:PASSWORD@db.example.org/carrel.",
            )
        if problem.text != reported:
            reported = problem.text
            sys.stderr.write(f"waiting for the database: {reported}\n")
        time.sleep(_PAUSE_S)


def require_not_newer(url: str) -> None:
    """Check that no newer version of Carrel has migrated the schema. Raises: Conflict."""
    schema = revision.current(url)
    if schema is not None and schema > revision.newest():
        raise Conflict(
            "setup.newer_database",
            f"The database has schema {schema}, made by a newer version of Carrel; this is {version.full()}, which "
            f"knows schemas up to {revision.newest()}.",
            hint="Start the newer version, or restore the backup from before the upgrade (docs/howto/upgrade.md).",
        )


class _Problem:
    """recovers: it will accept connections without intervention. final: it never will."""

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
