"""An installation's objects in its engines besides containers of sessions, and their removal."""

import argparse

from carrel.core.errors import Unavailable
from carrel.db.database import Database
from carrel.engines.context import Purging
from carrel.engines.port import Engine, EngineError
from carrel.server import engines
from carrel.server.engines import InstalledEngine
from carrel.server.remembered import effective_settings
from carrel.server.run_file import read_run
from carrel.server.settings import Settings


def settings_of_last_start(options: argparse.Namespace) -> Settings:
    """The settings of the last `carrel up` of this data directory, including database and engine."""
    settings = effective_settings(options)
    environment = read_run(settings.data_dir)
    return settings.model_copy(
        update={
            "engine_url": environment.get("CARREL_ENGINE_URL", settings.engine_url),
            "database_url": environment.get("CARREL_DATABASE_URL", settings.database_url),
        }
    )


async def installed(settings: Settings) -> list[InstalledEngine]:
    """The engines of the installation. Raises: Unavailable if its database does not respond."""
    database = Database(settings.database_url, pool_size=1)
    try:
        return await engines.installed(settings, database)
    finally:
        await database.close()


async def installed_if_known(settings: Settings) -> list[InstalledEngine]:
    """As `installed`; empty if the database does not respond."""
    try:
        return await installed(settings)
    except Unavailable:
        return []


async def withdraw(known: list[InstalledEngine]) -> dict[InstalledEngine, int | EngineError]:
    """Remove networks and packet-filter rules from each engine without session containers; returns the number of
    session containers or the error per engine.

    Only for a stopped control plane: a running one creates both again.
    """
    return dict(await engines.ask_each(known, _release))


async def _release(engine: Engine) -> int:
    return await engine.release_if_idle() if isinstance(engine, Purging) else len(await engine.list())
