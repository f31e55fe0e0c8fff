"""Announce accelerators that get out of order or are put back, to the sessions that have them and to superadmins."""

from collections.abc import Sequence
from datetime import datetime

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.controllers.loop import Tools
from carrel.nodes import device_conditions
from carrel.nodes.device_conditions import HealthChange
from carrel.notifications import device_news
from carrel.notifications.messages import DeviceFacts, Named
from carrel.sessions import device_warnings
from carrel.tables.notifications import NotificationKind

log = structlog.get_logger()


async def announce(tx: AsyncSession, tools: Tools, changes: Sequence[HealthChange], now: datetime) -> None:
    """Warn sessions of devices that became unhealthy, withdraw warnings of sessions that have none any more, and queue
    letters and messages to webhooks for superadmins. In the transaction that found the changes, so each once.
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
    link = f"{tools.public_url.rstrip('/')}/resources"
    for kind, changed in (
        (NotificationKind.DEVICE_OUT_OF_ORDER, unhealthy),
        (NotificationKind.DEVICE_BACK, [one for one in changes if one.healthy]),
    ):
        if changed:
            facts = [_facts(one, link) for one in changed]
            await device_news.announce(tx, tools.seal, kind, facts, link=link, now=now)


def _facts(change: HealthChange, url: str) -> DeviceFacts:
    node = Named(id=change.node, name=change.node_name)
    return DeviceFacts(id=change.device, model=change.model, problem=change.problem, node=node, url=url)


def _name(change: HealthChange) -> str:
    return f"{change.model} ({change.device})" if change.model else change.device
