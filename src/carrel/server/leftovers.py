"""What an installation has in the container engine besides its sessions, and how it is removed."""

import argparse

import psycopg

from carrel.engines.docker import DockerEngine
from carrel.server import claim
from carrel.server.command import read_run
from carrel.server.remembered import effective_settings
from carrel.server.settings import Settings


def settings_of_last_start(options: argparse.Namespace) -> Settings:
    """The settings of the last `carrel up` of this data directory, its database and engine included."""
    settings = effective_settings(options)
    environment = read_run(settings.data_dir)
    return settings.model_copy(
        update={
            "engine_url": environment.get("CARREL_ENGINE_URL", settings.engine_url),
            "database_url": environment.get("CARREL_DATABASE_URL", settings.database_url),
        }
    )


def read_label(settings: Settings) -> str | None:
    """What marks the installation's containers; None when its database does not answer."""
    if settings.installation:
        return settings.installation
    try:
        with psycopg.connect(settings.database_url, connect_timeout=3) as connection:
            row = connection.execute("SELECT label FROM site").fetchone()
    except psycopg.Error:
        return None
    return str(row[0]) if row else None


async def withdraw(settings: Settings, label: str) -> int:
    """Remove network and packet-filter rules unless containers of sessions need them; the number of those that do.

    For a stopped control plane: a running one makes both again. Raises: EngineError; ClaimedElsewhere for a copy.
    """
    engine = DockerEngine(settings.engine_url, label, claimant=claim.claimant(settings))
    try:
        return await engine.release_if_idle()
    finally:
        await engine.close()
