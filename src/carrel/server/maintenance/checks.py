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
from carrel.server import components, kernel_limits
from carrel.server.founding import ADMIN_PASSWORD
from carrel.server.settings import Settings
from carrel.tables.engines import EngineRow, EngineState
from carrel.tables.nodes import IS_MACHINE, Node, NodeState
from carrel.tables.site import QueuedLetter, SiteRow
from carrel.tables.storage_hosts import HostState, StorageHost
from carrel.tables.tenancy import IS_SUPERADMIN, User

_SKEW_S = 5.0
_FOUNDERS = 3
"""The oldest administrators, whose passwords are compared: each comparison takes a tenth of a second."""
_TRIES = 3
"""A mail that failed this often is not delayed by a passing fault."""


class CheckOutcome(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True)
class CheckResult:
    """subject: of what the check is, if there are several of the kind. detail: what was seen. remedy: empty if ok."""

    name: str
    state: CheckOutcome
    detail: str = ""
    remedy: str = ""
    subject: str = ""


async def run(settings: Settings, database: Database, engines: Engines, clock: Clock) -> list[CheckResult]:
    """Every check; those of the database are left out if it does not respond, which is a failed check."""
    shown = await components.look(settings, database, engines)
    checks = [
        CheckResult(
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


_OF_PART = {"ok": CheckOutcome.OK, "low": CheckOutcome.WARNING, "down": CheckOutcome.FAILED}
_OF_ENGINE = {
    EngineState.UNKNOWN: CheckOutcome.WARNING,
    EngineState.READY: CheckOutcome.OK,
    EngineState.DOWN: CheckOutcome.FAILED,
}
_OF_HOST = {HostState.OK: CheckOutcome.OK, HostState.UNKNOWN: CheckOutcome.WARNING}
_REMEDIES = {
    "database": "See whether PostgreSQL runs and accepts connections: `carrel status`.",
    "engine": "See whether the container engine runs: `carrel status`.",
    "gateway": "See logs/gateway.log in the data directory.",
    "disk": "Free space on the disk of the data directory, or move it to a larger one.",
}


def _transport(settings: Settings) -> CheckResult:
    url = settings.effective_public_url
    parts = urlsplit(url)
    if parts.scheme == "https" or is_this_machine(parts.hostname or ""):
        return CheckResult("transport", CheckOutcome.OK, url)
    return CheckResult(
        "transport",
        CheckOutcome.WARNING,
        f"{url} is not encrypted: passwords can be read on the network.",
        "Set CARREL_TLS_CERT and CARREL_TLS_KEY, or put a reverse proxy with TLS in front.",
    )


def _kernel(settings: Settings) -> Iterator[CheckResult]:
    if not settings.engine_url.startswith("unix://"):
        return  # sessions run on other machines
    command = kernel_limits.remedy(settings.engine_url)
    yield CheckResult(
        "kernel_limits",
        CheckOutcome.WARNING if command else CheckOutcome.OK,
        command,
        "One session could exhaust limits that all sessions share: run this command." if command else "",
    )


async def _of_database(tx: AsyncSession, settings: Settings, clock: Clock) -> AsyncIterator[CheckResult]:
    yield await _schema(settings)
    yield await _clock(tx, clock)
    yield await _leader(tx)
    yield await _first_password(tx, settings)
    for engine in (await tx.execute(select(EngineRow).order_by(EngineRow.name))).scalars():
        yield CheckResult(
            "engine_state",
            _OF_ENGINE[EngineState(engine.state)],
            engine.last_error or ("" if engine.state == EngineState.READY else "It was not checked yet."),
            "" if engine.state == EngineState.READY else f"See `carrel engine check {engine.name}`.",
            subject=engine.name,
        )
    lost = await tx.execute(
        select(Node.name).where(IS_MACHINE, Node.state == NodeState.DOWN).order_by(Node.name)
    )
    for name in lost.scalars():
        yield CheckResult(
            "node",
            CheckOutcome.FAILED,
            "The node is DOWN.",
            "Bring the machine back, or, if it is gone for good, use `carrel node forget`.",
            subject=name,
        )
    for host in (await tx.execute(select(StorageHost).order_by(StorageHost.name))).scalars():
        usable = host.state == HostState.OK
        yield CheckResult(
            "storage_host",
            CheckOutcome.OK
            if usable
            else CheckOutcome.WARNING
            if host.state == HostState.UNKNOWN
            else CheckOutcome.FAILED,
            host.problem or ("" if usable else "It was not checked yet."),
            "" if usable else f"See `carrel storage-host show {host.name}`.",
            subject=host.name,
        )
    yield await _mail(tx)


async def _schema(settings: Settings) -> CheckResult:
    current = await asyncio.to_thread(revision.current, settings.database_url)
    newest = revision.newest()
    if current == newest:
        return CheckResult("schema", CheckOutcome.OK, newest)
    return CheckResult(
        "schema",
        CheckOutcome.FAILED,
        f"The database has schema {current}; this version needs {newest}.",
        "Run `carrel migrate`, or restart with `carrel up`.",
    )


async def _clock(tx: AsyncSession, clock: Clock) -> CheckResult:
    there = (await tx.execute(select(func.clock_timestamp()))).scalar_one()
    skew_s = abs((clock.now() - there).total_seconds())
    if skew_s < _SKEW_S:
        return CheckResult("clock", CheckOutcome.OK)
    return CheckResult(
        "clock",
        CheckOutcome.WARNING,
        f"The clocks of the API and of the database differ by {skew_s:.0f} seconds.",
        "Synchronise the clocks of all machines, for example with chrony.",
    )


async def _leader(tx: AsyncSession) -> CheckResult:
    if await leader.exists(tx):
        return CheckResult("controllers", CheckOutcome.OK)
    return CheckResult(
        "controllers",
        CheckOutcome.FAILED,
        "No process runs the controllers: sessions neither start nor end.",
        "Start Carrel with `carrel up`, or `carrel serve --roles controllers`.",
    )


async def _first_password(tx: AsyncSession, settings: Settings) -> CheckResult:
    """Whether a superadministrator still has the password that `carrel up` generated and wrote into a file."""
    file = settings.data_dir / ADMIN_PASSWORD
    if await asyncio.to_thread(file.exists):
        password = (await asyncio.to_thread(file.read_text)).strip()
        stored = await tx.execute(
            select(User.password_hash).where(IS_SUPERADMIN, User.active).order_by(User.created_at)
        )
        for one in stored.scalars().fetchmany(_FOUNDERS):
            if await password_matches(one, password):
                return CheckResult(
                    "first_password",
                    CheckOutcome.WARNING,
                    f"An administrator's password is readable in {file}.",
                    "Change that password on the page Settings, and delete the file.",
                )
    return CheckResult("first_password", CheckOutcome.OK)


async def _mail(tx: AsyncSession) -> CheckResult:
    site = (await tx.execute(select(SiteRow))).scalar_one()
    late = (
        await tx.execute(select(func.count()).select_from(QueuedLetter).where(QueuedLetter.tries >= _TRIES))
    ).scalar_one()
    if not site.values.get("mail_host"):
        return CheckResult(
            "mail",
            CheckOutcome.WARNING,
            "No mail server is set: nobody can reset a password or is notified by mail.",
            "Set it with `carrel site set mail_host=...`, or on the page Configuration.",
        )
    if site.mail_error or late:
        return CheckResult(
            "mail",
            CheckOutcome.FAILED,
            site.mail_error or f"{late} mails wait for the mail server.",
            "See `carrel site test-mail`.",
        )
    return CheckResult("mail", CheckOutcome.OK)
