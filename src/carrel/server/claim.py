"""Whether this installation may use its label in the container engine, and the two ways out when it may not.

A copy of a data directory or of a database holds the original's label and sessions. Started on the same engine it would
take the original's containers for its own: the engine says which database the label is bound to, and here is settled
what becomes of everybody else.
"""

import argparse
import hashlib
import socket
from enum import StrEnum
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from carrel.core.clock import SystemClock
from carrel.core.errors import Conflict, Unavailable
from carrel.core.hosts import is_this_machine
from carrel.db.database import Database
from carrel.db.embedded import Embedded
from carrel.engines.docker import ANSWERS_WITHIN_S, DockerEngine
from carrel.engines.port import Claimant, ClaimedElsewhere, EngineUnavailable
from carrel.server.bootstrap import Say
from carrel.server.settings import Settings

_MACHINE_ID = Path("/etc/machine-id")


class Mode(StrEnum):
    """ADOPT: the installation was moved here. AS_COPY: it is a copy, and shall live beside the original."""

    PLAIN = "plain"
    ADOPT = "adopt"
    AS_COPY = "as-copy"


def mode_of(options: argparse.Namespace) -> Mode:
    """What --adopt and --as-copy say."""
    if getattr(options, "adopt", False):
        return Mode.ADOPT
    return Mode.AS_COPY if getattr(options, "as_copy", False) else Mode.PLAIN


def claimant(settings: Settings) -> Claimant:
    """Where this installation's database is. Every process of it gives the same answer, and no copy does.

    An embedded database is known by its data directory on this machine; your own by host, port and name in its address,
    which therefore must be the same for all processes that share it.
    """
    data_dir = settings.data_dir.resolve()
    if settings.database_url in ("", Embedded(data_dir / "postgres").url):
        # The inode too: two containers on one machine may call different directories by the same name.
        parts = [_machine(), str(data_dir), str(data_dir.stat().st_ino)]
        place = f"{data_dir} on {socket.gethostname()}"
    else:
        address = conninfo_to_dict(settings.database_url)
        host, port = str(address.get("host") or ""), str(address.get("port") or 5432)
        name = str(address.get("dbname") or address.get("user") or "")
        local = not host or host.startswith("/") or is_this_machine(host)
        parts = [_machine() if local else "", host.lower(), port, name]
        place = f"the database {name} at {host or 'localhost'}:{port}"
    return Claimant(hashlib.sha256("\0".join(parts).encode()).hexdigest(), place)


async def label(settings: Settings, database: Database) -> str:
    """What marks the installation's containers in the engine."""
    from carrel.site import service as site

    async with database.transaction() as tx:
        return settings.installation or await site.label(tx)


async def settle(
    settings: Settings, database: Database, mode: Mode, *, former_data_dir: Path | None, say: Say
) -> None:
    """Return when the installation's label is ours in the engine.

    former_data_dir: where the data directory was when it last ran. An engine that does not answer is no obstacle to a
    plain start: it refuses those who may not use the label itself.
    Raises: Conflict, Unavailable.
    """
    me = claimant(settings)
    engine = DockerEngine(settings.engine_url, await label(settings, database), claimant=me)
    try:
        holder = await engine.claim.holder()
        ours = holder is not None and holder.fingerprint == me.fingerprint
        if mode is Mode.AS_COPY and ours:
            say("This installation has a label of its own already.")
        elif mode is Mode.AS_COPY:
            if holder and settings.installation:
                raise _named_like_the_original(settings.installation, holder)
            await _become_a_copy(settings, database, former_data_dir)
            say(
                "This is a copy from now on: sessions of the original are marked as ended here, and go on there."
            )
            return
        elif mode is Mode.ADOPT and holder and not ours:
            await _adopt(engine, holder, say)
        await engine.claim.require()
    except ClaimedElsewhere as error:
        raise Conflict(
            "setup.claimed",
            f"{error.message} This is a copy of it, or it was moved here.",
            hint="If it was moved and does not run there any more: carrel up --adopt. If this is a copy that shall run "
            "beside it: carrel up --as-copy.",
        ) from None
    except EngineUnavailable as error:
        if mode is not Mode.PLAIN:
            raise Unavailable(
                "setup.engine", error.message, hint="Start the container engine first."
            ) from None
    finally:
        await engine.close()
    await _follow(settings, database, former_data_dir)


def _named_like_the_original(installation: str, holder: Claimant) -> Conflict:
    return Conflict(
        "setup.claimed",
        f"CARREL_INSTALLATION is {installation}, and that label belongs to {holder.place}.",
        hint="Unset CARREL_INSTALLATION, and the copy gets a label of its own.",
    )


async def _adopt(engine: DockerEngine, holder: Claimant, say: Say) -> None:
    say(f"asking whether {holder.place} still runs; this takes up to {ANSWERS_WITHIN_S:.0f} s")
    if await engine.claim.holder_answers(within_s=ANSWERS_WITHIN_S):
        raise Conflict(
            "setup.original_runs",
            f"The installation that is to be adopted still runs: {holder.place}.",
            hint="Stop it there with carrel down; or start this one beside it, with --as-copy.",
        )
    await engine.claim.take_over()


async def _become_a_copy(settings: Settings, database: Database, former_data_dir: Path | None) -> None:
    """All in one transaction: a copy that has its own label must not hold the original's sessions any more."""
    import carrel.server.metadata  # noqa: F401 - tables refer to one another
    from carrel.folders.hosts import service as storage_hosts
    from carrel.sessions import service as sessions
    from carrel.site import service as site

    async with database.transaction() as tx:
        await sessions.end_in_a_copy(tx, SystemClock().now())
        if former_data_dir:
            await storage_hosts.follow(tx, former_data_dir, settings.data_dir)
        await storage_hosts.part_from_the_original(tx, settings.data_dir)
        await site.become_a_copy(tx)


async def _follow(settings: Settings, database: Database, former_data_dir: Path | None) -> None:
    import carrel.server.metadata  # noqa: F401 - tables refer to one another
    from carrel.folders.hosts import service as storage_hosts

    if former_data_dir and former_data_dir != settings.data_dir:
        async with database.transaction() as tx:
            await storage_hosts.follow(tx, former_data_dir, settings.data_dir)


def _machine() -> str:
    try:
        return _MACHINE_ID.read_text().strip() or socket.gethostname()
    except OSError:
        return socket.gethostname()
