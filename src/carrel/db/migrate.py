"""Migration of a database to the newest schema."""

import random
import time
from pathlib import Path

import structlog
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg.errors import LockNotAvailable
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.exc import OperationalError

from carrel.db.connecting import driver_url

log = structlog.get_logger()

_LOCK_KEY = 0x_CA44E2
_ATTEMPTS = 100
_PAUSE_S = 0.5
_TABLES = """
    SELECT quote_ident(tablename) FROM pg_tables
    WHERE schemaname = current_schema() AND tableowner = current_user ORDER BY 1
"""


def configuration() -> Config:
    """Alembic's configuration, without a file."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def migrate(url: str) -> None:
    """Upgrade the schema. Twice, or concurrently: the second call is a no-op.

    It waits for no table that requests use, since they may wait for one that it has changed: then it begins again.
    Otherwise PostgreSQL would resolve the deadlock by the failure of a request.
    """
    engine = create_engine(driver_url(url), connect_args={"connect_timeout": 10})
    try:
        for _ in range(_ATTEMPTS):
            try:
                # Well below PostgreSQL's deadlock_timeout of one second.
                return _upgrade(engine, lock_timeout="100ms")
            except OperationalError as error:
                if not isinstance(error.orig, LockNotAvailable):
                    raise
            log.info("migration.waits_for_requests")
            time.sleep(random.uniform(0, _PAUSE_S))
        _upgrade(engine, lock_timeout="0")
    finally:
        engine.dispose()


def _upgrade(engine: Engine, *, lock_timeout: str) -> None:
    with engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
        connection.execute(text(f"SET LOCAL lock_timeout = '{lock_timeout}'"))
        config = configuration()
        head = ScriptDirectory.from_config(config).get_current_head()
        if MigrationContext.configure(connection).get_current_revision() != head:
            # All at once: a weaker lock that grows later is a deadlock with whoever has one, too.
            tables = connection.scalars(text(_TABLES)).all()
            if tables:
                connection.execute(text(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
