"""Migration of a database to the newest schema."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text

from carrel.db.connecting import driver_url

_LOCK_KEY = 0x_CA44E2


def configuration() -> Config:
    """Alembic's configuration, without a file."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def migrate(url: str) -> None:
    """Upgrade the schema. Twice, or concurrently: the second call is a no-op."""
    engine = create_engine(driver_url(url), connect_args={"connect_timeout": 10})
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
            config = configuration()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    finally:
        engine.dispose()
