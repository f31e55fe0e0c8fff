"""Deliveries of webhooks: queued transactionally, attempted until the receiver accepts them or a day has passed."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from carrel.core.ids import new_id
from carrel.db.database import notify
from carrel.db.encryption import SecretBox
from carrel.notifications import sending, signature
from carrel.notifications.messages import Message
from carrel.notifications.sending import Attempt
from carrel.site import service as site
from carrel.tables.notifications import Delivery, DeliveryState, Webhook
from carrel.tables.tenancy import Domain, Project, User

log = structlog.get_logger()

TOPIC = "webhooks"
KEPT = timedelta(days=30)
_PAUSES = tuple(
    timedelta(seconds=pause_s) for pause_s in (5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 28_800)
)
"""Between attempts: about a day together."""
_STALE = timedelta(days=1)
_AT_ONCE, _AT_ONCE_PER_WEBHOOK = 32, 4

_Transaction = Callable[[], AbstractAsyncContextManager[AsyncSession]]
_PROJECT_DOMAIN = aliased(Domain)


@dataclass(frozen=True)
class _Due:
    id: str
    url: str
    secrets: Sequence[bytes]
    webhook: str
    body: str
    attempts: int


def purpose(webhook: str) -> str:
    """What the secret of a webhook is sealed for."""
    return f"webhook:{webhook}"


async def put(
    tx: AsyncSession, webhook: str, message: Message, now: datetime, *, session: str | None = None
) -> Delivery:
    """Queue a message, sent soon after this transaction commits."""
    row = Delivery(
        id=f"msg_{new_id()}{new_id()}",
        webhook_id=webhook,
        type=message.type,
        session_id=session,
        body=message.encoded(),
        state=DeliveryState.PENDING,
        attempts=0,
        created_at=now,
        next_at=now,
    )
    tx.add(row)
    await tx.flush()
    await notify(tx, TOPIC)
    return row


async def repeat(tx: AsyncSession, row: Delivery, now: datetime) -> None:
    """Start over with the attempts of a delivery; its id and body stay."""
    row.state, row.next_at, row.attempts = DeliveryState.PENDING, now, 0
    await tx.flush()
    await notify(tx, TOPIC)


async def wake(tx: AsyncSession) -> None:
    """Have due deliveries attempted soon after this transaction commits."""
    await notify(tx, TOPIC)


async def prune(tx: AsyncSession, now: datetime) -> None:
    """Delete deliveries past their retention, and secrets that are no longer valid."""
    await tx.execute(delete(Delivery).where(Delivery.created_at < now - KEPT))
    await tx.execute(
        update(Webhook).where(Webhook.old_secret_until <= now).values(old_secret=None, old_secret_until=None)
    )


def is_live() -> ColumnElement[bool]:
    """A condition for webhooks that are switched on and whose user, project or domain is in use. With `owners`."""
    domain_in_use = and_(Domain.active, Domain.removed_at.is_(None))
    project_in_use = and_(
        Project.archived_at.is_(None), _PROJECT_DOMAIN.active, _PROJECT_DOMAIN.removed_at.is_(None)
    )
    return and_(
        Webhook.active,
        or_(
            and_(Webhook.user_id.is_not(None), User.active),
            and_(Webhook.project_id.is_not(None), project_in_use),
            and_(Webhook.domain_id.is_not(None), domain_in_use),
        ),
    )


def with_owners(statement: Any) -> Any:
    """Join webhooks with their owners, for `is_live`."""
    return (
        statement.outerjoin(User, User.id == Webhook.user_id)
        .outerjoin(Project, Project.id == Webhook.project_id)
        .outerjoin(_PROJECT_DOMAIN, _PROJECT_DOMAIN.id == Project.domain_id)
        .outerjoin(Domain, Domain.id == Webhook.domain_id)
    )


async def send_due(
    transaction: _Transaction, seal: SecretBox, now: Callable[[], datetime]
) -> timedelta | None:
    """Attempt each due delivery. Returns the time until the next retry; None: wait for a new delivery.

    A delivery that is sent twice (after a crash before the result is stored) has the same webhook-id. Few are sent to
    one webhook at once, so that one slow receiver does not delay the others much.
    """
    while True:
        async with transaction() as tx:
            due = await _due(tx, now())
            if not due:
                return await _until_next(tx, now())
            private = (await site.settings(tx)).webhook_private_addresses
        at_s = int(now().timestamp())
        responses = await asyncio.gather(*(_attempt(seal, one, at_s, private=private) for one in due))
        async with transaction() as tx:
            for one, response in zip(due, responses, strict=True):
                await _settle(tx, one, response, now())


async def _due(tx: AsyncSession, now: datetime) -> Sequence[_Due]:
    ready = and_(Delivery.state == DeliveryState.PENDING, Delivery.next_at <= now)
    live = with_owners(select(Webhook.id)).where(is_live())
    await tx.execute(
        update(Delivery)
        .where(ready, Delivery.next_at < now - _STALE, Delivery.webhook_id.not_in(live))
        .values(state=DeliveryState.FAILED, next_at=None, error="The webhook is not in use.")
    )
    turn = func.row_number().over(partition_by=Delivery.webhook_id, order_by=(Delivery.next_at, Delivery.id))
    ranked = select(Delivery.id, turn.label("turn")).where(ready, Delivery.webhook_id.in_(live)).subquery()
    rows = await tx.execute(
        select(Delivery, Webhook)
        .join(ranked, ranked.c.id == Delivery.id)
        .join(Webhook, Webhook.id == Delivery.webhook_id)
        .where(ranked.c.turn <= _AT_ONCE_PER_WEBHOOK)
        .order_by(ranked.c.turn, Delivery.next_at)
        .limit(_AT_ONCE)
    )
    return [
        _Due(row.id, webhook.url, _secrets(webhook, now), webhook.id, row.body, row.attempts)
        for row, webhook in rows
    ]


def _secrets(webhook: Webhook, now: datetime) -> Sequence[bytes]:
    """The valid ones, the newest first."""
    if webhook.old_secret and webhook.old_secret_until and now < webhook.old_secret_until:
        return [webhook.secret, webhook.old_secret]
    return [webhook.secret]


async def _until_next(tx: AsyncSession, now: datetime) -> timedelta | None:
    live = with_owners(select(Webhook.id)).where(is_live())
    earliest = select(func.min(Delivery.next_at)).where(
        Delivery.state == DeliveryState.PENDING, Delivery.webhook_id.in_(live)
    )
    at = (await tx.execute(earliest)).scalar()
    return at - now if at else None


async def _attempt(seal: SecretBox, one: _Due, at_s: int, *, private: bool) -> Attempt:
    body = one.body.encode()
    secrets = [seal.open(secret, purpose(one.webhook)).decode() for secret in one.secrets]
    return await sending.post(one.url, body, signature.headers(secrets, one.id, at_s, body), private=private)


async def _settle(tx: AsyncSession, one: _Due, response: Attempt, now: datetime) -> None:
    values: dict[str, Any] = {
        "attempts": one.attempts + 1,
        "status_code": response.status_code,
        "error": response.error,
        "last_at": now,
    }
    if response.error is None:
        values |= {"state": DeliveryState.DELIVERED, "next_at": None}
    elif one.attempts >= len(_PAUSES):
        values |= {"state": DeliveryState.FAILED, "next_at": None}
    else:
        values |= {"next_at": now + _PAUSES[one.attempts]}
    if response.error:
        log.warning("webhook.failed", webhook=one.webhook, delivery=one.id, attempts=one.attempts + 1)
    await tx.execute(update(Delivery).where(Delivery.id == one.id).values(**values))
