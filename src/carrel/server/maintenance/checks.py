"""Checks of the installation, each with a state, a sentence and a remedy."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import Unavailable
from carrel.core.host_names import is_this_machine
from carrel.db import leader, revision
from carrel.db.database import Database
from carrel.identity.passwords import password_matches
from carrel.nodes.engines.connections import Engines
from carrel.permissions.actions import Role
from carrel.server import components, kernel_limits
from carrel.server.founding import ADMIN_PASSWORD
from carrel.server.settings import Settings
from carrel.tables.engines import EngineRow, EngineState
from carrel.tables.nodes import IS_MACHINE, Node, NodeState
from carrel.tables.site import QueuedLetter, SiteRow
from carrel.tables.storage_hosts import HostState, StorageHost
from carrel.tables.tenancy import User

_SKEW_S = 5.0
_FOUNDERS = 3
"""The oldest administrators, whose passwords are compared: each comparison takes a tenth of a second."""
_TRIES = 3
"""A mail that failed this often is not delayed by a passing fault."""


class Outcome(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True)
class Check:
    """subject: of what the check is, if there are several of the kind. detail: what was seen. remedy: empty if ok."""

    name: str
    state: Outcome
    detail: str = ""
    remedy: str = ""
    subject: str = ""


async def run(settings: Settings, database: Database, engines: Engines, clock: Clock) -> list[Check]:
    """Every check; those of the database are left out if it does not respond, which is a failed check."""
    shown = await components.look(settings, database, engines)
    checks = [
        Check(
            part.name,
            _OF_PART[part.state],
            part.detail or part.version,
            _REMEDIES[part.name] if part.state != "ok" else "",
        )
        for part in shown
    ]
    checks.append(_transport(settings))
    checks.extend(_kernel(settings))
    try:
        async with database.transaction() as tx:
            return checks + [check async for check in _of_database(tx, settings, clock)]
    except Unavailable:
        return checks


_OF_PART = {"ok": Outcome.OK, "low": Outcome.WARNING, "down": Outcome.FAILED}
_REMEDIES = {
    "database": "See whether PostgreSQL runs and accepts connections: `carrel status`.",
    "engine": "See whether the container engine runs: `carrel status`.",
    "gateway": "See logs/gateway.log in the data directory.",
    "disk": "Free space on the disk of the data directory, or move it to a larger one.",
}


def _transport(settings: Settings) -> Check:
    url = settings.effective_public_url
    parts = urlsplit(url)
    if parts.scheme == "https" or is_this_machine(parts.hostname or ""):
        return Check("transport", Outcome.OK, url)
    return Check(
        "transport",
        Outcome.WARNING,
        f"{url} is not encrypted: passwords can be read on the network.",
        "Set CARREL_TLS_CERT and CARREL_TLS_KEY, or put a reverse proxy with TLS in front.",
    )


def _kernel(settings: Settings) -> Iterator[Check]:
    if not settings.engine_url.startswith("unix://"):
        return  # sessions run on other machines
    remedy = kernel_limits.remedy(settings.engine_url)
    yield Check(
        "kernel_limits",
        Outcome.WARNING if remedy else Outcome.OK,
        "One session could exhaust limits that all sessions share." if remedy else "",
        f"Run `{remedy}`." if remedy else "",
    )


async def _of_database(tx: AsyncSession, settings: Settings, clock: Clock) -> AsyncIterator[Check]:
    yield await _schema(settings)
    yield await _clock(tx, clock)
    yield await _leader(tx)
    yield await _first_password(tx, settings)
    for engine in (await tx.execute(select(EngineRow).order_by(EngineRow.name))).scalars():
        yield Check(
            "engine_state",
            {EngineState.READY: Outcome.OK, EngineState.DOWN: Outcome.FAILED}.get(
                engine.state, Outcome.WARNING
            ),
            engine.last_error or ("" if engine.state == EngineState.READY else "It was not checked yet."),
            "" if engine.state == EngineState.READY else f"See `carrel engine check {engine.name}`.",
            subject=engine.name,
        )
    lost = await tx.execute(
        select(Node.name).where(IS_MACHINE, Node.state == NodeState.DOWN).order_by(Node.name)
    )
    for name in lost.scalars():
        yield Check(
            "node",
            Outcome.FAILED,
            "The node is DOWN.",
            "Bring the machine back, or, if it is gone for good, use `carrel node forget`.",
            subject=name,
        )
    for host in (await tx.execute(select(StorageHost).order_by(StorageHost.name))).scalars():
        usable = host.state == HostState.OK
        yield Check(
            "storage_host",
            Outcome.OK if usable else Outcome.WARNING if host.state == HostState.UNKNOWN else Outcome.FAILED,
            host.problem or ("" if usable else "It was not checked yet."),
            "" if usable else f"See `carrel storage-host show {host.name}`.",
            subject=host.name,
        )
    yield await _mail(tx)


async def _schema(settings: Settings) -> Check:
    current = await asyncio.to_thread(revision.current, settings.database_url)
    newest = revision.newest()
    if current == newest:
        return Check("schema", Outcome.OK, newest)
    return Check(
        "schema",
        Outcome.FAILED,
        f"The database has schema {current}; this version needs {newest}.",
        "Run `carrel migrate`, or restart with `carrel up`.",
    )


async def _clock(tx: AsyncSession, clock: Clock) -> Check:
    there = (await tx.execute(select(func.clock_timestamp()))).scalar_one()
    skew_s = abs((clock.now() - there).total_seconds())
    if skew_s < _SKEW_S:
        return Check("clock", Outcome.OK)
    return Check(
        "clock",
        Outcome.WARNING,
        f"The clocks of the API and of the database differ by {skew_s:.0f} seconds.",
        "Synchronise the clocks of all machines, for example with chrony.",
    )


async def _leader(tx: AsyncSession) -> Check:
    if await leader.exists(tx):
        return Check("controllers", Outcome.OK)
    return Check(
        "controllers",
        Outcome.FAILED,
        "No process runs the controllers: sessions neither start nor end.",
        "Start Carrel with `carrel up`, or `carrel serve --roles controllers`.",
    )


async def _first_password(tx: AsyncSession, settings: Settings) -> Check:
    """Whether a superadministrator still has the password that `carrel up` generated and wrote into a file."""
    file = settings.data_dir / ADMIN_PASSWORD
    if await asyncio.to_thread(file.exists):
        password = (await asyncio.to_thread(file.read_text)).strip()
        stored = await tx.execute(
            select(User.password_hash)
            .where(User.role == Role.SUPERADMIN, User.active)
            .order_by(User.created_at)
        )
        for one in stored.scalars().fetchmany(_FOUNDERS):
            if await password_matches(one, password):
                return Check(
                    "first_password",
                    Outcome.WARNING,
                    f"An administrator's password is readable in {file}.",
                    "Change that password on the page Settings, and delete the file.",
                )
    return Check("first_password", Outcome.OK)


async def _mail(tx: AsyncSession) -> Check:
    site = (await tx.execute(select(SiteRow))).scalar_one()
    late = (
        await tx.execute(select(func.count()).select_from(QueuedLetter).where(QueuedLetter.tries >= _TRIES))
    ).scalar_one()
    if not site.values.get("mail_host"):
        return Check(
            "mail",
            Outcome.WARNING,
            "No mail server is set: nobody can reset a password or is notified by mail.",
            "Set it with `carrel site set mail_host=...`, or on the page Configuration.",
        )
    if site.mail_error or late:
        return Check(
            "mail",
            Outcome.FAILED,
            site.mail_error or f"{late} mails wait for the mail server.",
            "See `carrel site test-mail`.",
        )
    return Check("mail", Outcome.OK)
