"""Announce accelerators that are out of order, to the sessions that have them and to superadmins."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.controllers.loop import Tools
from carrel.mail import letters
from carrel.nodes import device_conditions
from carrel.nodes.device_conditions import HealthChange
from carrel.sessions import device_warnings
from carrel.site import outbox
from carrel.tables.tenancy import IS_SUPERADMIN, User

log = structlog.get_logger()

_LIFETIME = timedelta(days=2)
_LISTED = 20


async def announce(tx: AsyncSession, tools: Tools, changes: Sequence[HealthChange], now: datetime) -> None:
    """Warn sessions of devices that became unhealthy, queue a letter for each superadmin about all of them together,
    and withdraw warnings of sessions that have none any more. In the transaction that found the changes, so each once.
    """
    unhealthy = [one for one in changes if not one.healthy]
    for one in unhealthy:
        reason = f"Its accelerator {_name(one)} on {one.node_name} is out of order: {one.problem}"
        sessions = await device_warnings.warn(tx, one.node, one.device, reason, now)
        log.warning(
            "device.unhealthy", node=one.node, device=one.device, problem=one.problem, sessions=sessions
        )
    # Also of sessions that have left their node.
    if len(unhealthy) < len(changes) or await device_conditions.any_unhealthy(tx):
        await device_warnings.relieve(tx)
    if unhealthy:
        await _write(tx, tools, unhealthy, now)


async def _write(tx: AsyncSession, tools: Tools, unhealthy: Sequence[HealthChange], now: datetime) -> None:
    sentences = [f"{one.node_name}: {_name(one)}: {one.problem}" for one in unhealthy]
    link = f"{tools.public_url.rstrip('/')}/resources"
    people = select(User.email, User.preferences).where(IS_SUPERADMIN, User.active)
    for email, preferences in await tx.execute(people.order_by(User.email)):
        language = letters.language_of(preferences.get("language"))
        letter = letters.unhealthy_devices(language, sentences, most=_LISTED, link=link)
        await outbox.put(tx, tools.seal, email, letter, now, _LIFETIME)


def _name(change: HealthChange) -> str:
    return f"{change.model} ({change.device})" if change.model else change.device
