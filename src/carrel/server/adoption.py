"""Check that this installation owns its label in its engines, and resolve the conflict if it does not.

A copy of a data directory or database has the label and sessions of the original. If it started on the same engines, it
would treat the original's containers as its own. Each engine records the database that the label is bound to; this
module decides what happens if that is another database.
"""

import argparse
import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from carrel.core.clock import SystemClock
from carrel.core.errors import Conflict, Unavailable
from carrel.db.database import Database
from carrel.engines.context import Claimable, Purging
from carrel.engines.label_claim import ANSWERS_WITHIN_S
from carrel.engines.port import Claimant, ClaimedElsewhere, Engine, EngineError
from carrel.server import engines
from carrel.server.bootstrap import Say
from carrel.server.claim import claimant
from carrel.server.engines import InstalledEngine
from carrel.server.settings import Settings

_LOOK_S = 10.0


class Mode(StrEnum):
    """ADOPT: the installation was moved here. AS_COPY: it is a copy and will run beside the original."""

    PLAIN = "plain"
    ADOPT = "adopt"
    AS_COPY = "as-copy"


def mode_of(options: argparse.Namespace) -> Mode:
    """The mode selected by --adopt and --as-copy."""
    if getattr(options, "adopt", False):
        return Mode.ADOPT
    return Mode.AS_COPY if getattr(options, "as_copy", False) else Mode.PLAIN


@dataclass(frozen=True)
class _Holders:
    """The holders of the installation's label per engine. silent: errors of engines that did not respond. free: engines
    without a holder.
    """

    ours: list[InstalledEngine]
    free: list[InstalledEngine]
    elsewhere: dict[InstalledEngine, Claimant]
    silent: dict[InstalledEngine, EngineError]


async def settle(
    settings: Settings, database: Database, mode: Mode, *, former_data_dir: Path | None, say: Say
) -> None:
    """Bind the installation's label in every engine where possible.

    former_data_dir: location of the data directory at its last start. An engine that does not respond does not block a
    plain start: it rejects processes that may not use the label. An engine where another installation holds the label
    does not block either if another engine shows that this is no copy: its nodes stay down.
    Raises: Conflict, Unavailable.
    """
    # 1. Who holds the label?
    await engines.ensure_local(settings, database)
    holders = await _holders(await engines.installed(settings, database), claimant(settings))
    _require_local(holders, mode)
    # 2. Adopt, become a copy, or refuse.
    if mode is Mode.AS_COPY and holders.ours and not holders.elsewhere:
        say("This installation has a label of its own already.")
    elif mode is Mode.AS_COPY:
        await _become_a_copy(settings, database, holders, former_data_dir)
        say("This is a copy from now on: sessions of the original are marked as ended here, and go on there.")
        return
    elif mode is Mode.ADOPT and holders.elsewhere:
        await _adopt(holders, say)
    elif holders.elsewhere and not holders.ours:
        raise _claimed(*next(iter(holders.elsewhere.items())))
    else:
        for engine, holder in holders.elsewhere.items():
            say(
                f"{engine.name}: the label {engine.label} belongs to {holder.place} there, so its nodes stay down; "
                "carrel up --adopt takes it over."
            )
    # 3. Bind it where it is free.
    for engine in holders.free:
        await _claim(engine)
    await _follow(settings, database, former_data_dir)


async def _holders(installed: list[InstalledEngine], us: Claimant) -> _Holders:
    holders = _Holders([], [], {}, {})
    for engine, holder in await engines.ask_each(installed, _holder, within_s=_LOOK_S):
        if isinstance(holder, EngineError):
            holders.silent[engine] = holder
        elif holder is None:
            holders.free.append(engine)
        elif holder.fingerprint == us.fingerprint:
            holders.ours.append(engine)
        else:
            holders.elsewhere[engine] = holder
    return holders


async def _holder(engine: Engine) -> Claimant | None:
    return await engine.claim.holder() if isinstance(engine, Claimable) else None


def _require_local(holders: _Holders, mode: Mode) -> None:
    for engine, error in holders.silent.items():
        if engine.is_local and mode is not Mode.PLAIN:
            raise Unavailable("setup.engine", error.message, hint="Start the container engine first.")


def _claimed(engine: InstalledEngine, holder: Claimant) -> Conflict:
    return Conflict(
        "setup.claimed",
        f"{ClaimedElsewhere(engine.label, holder.place).message} This is a copy of it, or it was moved here.",
        hint="If it was moved and no longer runs there: carrel up --adopt. If this is a copy that is to run "
        "beside it: carrel up --as-copy.",
    )


async def _claim(engine: InstalledEngine) -> None:
    """Bind the label in the engine unless the engine has stopped responding. Raises: Conflict if another installation
    was faster.
    """

    async def require(connected: Engine) -> None:
        if isinstance(connected, Claimable):
            await connected.claim.require()

    try:
        await engine.ask(require, within_s=_LOOK_S)
    except ClaimedElsewhere as error:
        raise _claimed(engine, Claimant("", error.place)) from None
    except EngineError:
        return


async def _adopt(holders: _Holders, say: Say) -> None:
    """Take over the label in all engines with another holder, after checking that none of the holders runs."""
    places = sorted({holder.place for holder in holders.elsewhere.values()})
    say(f"asking whether {' and '.join(places)} still runs; this takes up to {ANSWERS_WITHIN_S:.0f} s")
    answered = await asyncio.gather(*(_holder_answers(engine) for engine in holders.elsewhere))
    for holder, answers in zip(holders.elsewhere.values(), answered, strict=True):
        if answers:
            raise Conflict(
                "setup.original_runs",
                f"The installation to adopt is still running: {holder.place}.",
                hint="Stop it with carrel down, or start this one beside it with --as-copy.",
            )
    for engine in holders.elsewhere:
        async with engine.connected() as connected:
            assert isinstance(connected, Claimable)
            await connected.claim.take_over()
    for engine in holders.silent:
        say(f"{engine.name} does not respond: run carrel up --adopt again when it does.")


async def _holder_answers(engine: InstalledEngine) -> bool:
    async with engine.connected() as connected:
        assert isinstance(connected, Claimable)
        return await connected.claim.holder_answers(within_s=ANSWERS_WITHIN_S)


async def _become_a_copy(
    settings: Settings, database: Database, holders: _Holders, former_data_dir: Path | None
) -> None:
    """In one transaction: a copy with its own label must not keep the original's sessions."""
    import carrel.server.metadata  # noqa: F401 - tables refer to one another
    from carrel.folders.hosts import service as storage_hosts
    from carrel.sessions import removal
    from carrel.site import service as site

    for holder in holders.elsewhere.values():
        if settings.installation:
            raise _named_like_the_original(settings.installation, holder)
    # Nothing would look for them under the former label.
    await _purge(holders.ours)
    async with database.transaction() as tx:
        await removal.end_in_a_copy(tx, SystemClock().now())
        if former_data_dir:
            await storage_hosts.follow(tx, former_data_dir, settings.data_dir)
        await storage_hosts.part_from_the_original(tx, settings.data_dir)
        await site.become_a_copy(tx)


def _named_like_the_original(installation: str, holder: Claimant) -> Conflict:
    return Conflict(
        "setup.claimed",
        f"CARREL_INSTALLATION is {installation}, but that label belongs to {holder.place}.",
        hint="Unset CARREL_INSTALLATION to give the copy a label of its own.",
    )


async def _purge(ours: Iterable[InstalledEngine]) -> None:
    for engine in ours:
        async with engine.connected() as connected:
            if isinstance(connected, Purging):
                await connected.purge()


async def _follow(settings: Settings, database: Database, former_data_dir: Path | None) -> None:
    import carrel.server.metadata  # noqa: F401 - tables refer to one another
    from carrel.folders.hosts import service as storage_hosts

    if former_data_dir and former_data_dir != settings.data_dir:
        async with database.transaction() as tx:
            await storage_hosts.follow(tx, former_data_dir, settings.data_dir)
