"""Turns notices of sessions into letters and webhook deliveries, each once: queuing them and deleting the notice is one
transaction.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, any_, delete, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.db.encryption import SecretBox
from carrel.mail import letters
from carrel.notifications import choices, deliveries
from carrel.notifications.messages import Message, MessageContent, Named, Owner, SessionFacts
from carrel.site import outbox
from carrel.tables.notifications import (
    DISK_NEARLY_FULL,
    LIMIT_WARNING,
    NotificationChannel,
    NotificationKind,
    SessionNotice,
    Webhook,
)
from carrel.tables.sessions import Session
from carrel.tables.tenancy import Domain, Project, User

TOPIC = "notices"
_BATCH = 100
_MAIL_LIFETIME = timedelta(days=1)
_LETTERS = {LIMIT_WARNING: letters.TIME_LIMIT, DISK_NEARLY_FULL: letters.DISK}


async def step(tx: AsyncSession, seal: SecretBox, public_url: str, now: datetime) -> bool:
    """Pass on the oldest notices. False: there are none."""
    rows = (
        await tx.execute(
            select(SessionNotice, Session, User, Project, Domain)
            .join(Session, Session.id == SessionNotice.session_id)
            .join(User, User.id == Session.owner_id)
            .join(Project, Project.id == Session.project_id)
            .join(Domain, Domain.id == Session.domain_id)
            .order_by(SessionNotice.id)
            .limit(_BATCH)
            .with_for_update(of=SessionNotice, skip_locked=True)
        )
    ).all()
    for row in rows:
        await _pass_on(tx, seal, row, public_url, now)
    await tx.execute(
        delete(SessionNotice).where(SessionNotice.id.in_([row.SessionNotice.id for row in rows]))
    )
    return bool(rows)


async def _pass_on(tx: AsyncSession, seal: SecretBox, row: Any, public_url: str, now: datetime) -> None:
    notice, session, user = row.SessionNotice, row.Session, row.User
    kind = NotificationKind(notice.kind)
    chosen = choices.of(user.notifications)[kind]
    link = f"{public_url}/sessions?state=all&session={session.id}"
    if NotificationChannel.MAIL in chosen and user.active:
        letter = letters.session(
            letters.language_of(user.preferences.get("language")),
            _LETTERS.get(notice.cause or "", kind),
            name=session.name,
            reason=notice.reason or "",
            at=notice.ends_at or notice.at,
            link=link,
        )
        lifetime = max(notice.ends_at - now, timedelta(0)) if notice.ends_at else _MAIL_LIFETIME
        if lifetime:
            await outbox.put(tx, seal, user.email, letter, now, lifetime)
    message = _message(row, kind, link)
    for webhook in await _webhooks(tx, session, kind, own=NotificationChannel.WEBHOOK in chosen):
        await deliveries.put(tx, webhook, message, now, session=session.id)


async def _webhooks(
    tx: AsyncSession, session: Session, kind: NotificationKind, *, own: bool
) -> Iterable[str]:
    """own: with those of the session's owner."""
    places = [Webhook.project_id == session.project_id, Webhook.domain_id == session.domain_id]
    if own:
        places.append(Webhook.user_id == session.owner_id)
    query = deliveries.with_owners(select(Webhook.id)).where(
        and_(deliveries.is_live(), or_(*places), literal(str(kind)) == any_(Webhook.kinds))
    )
    return (await tx.execute(query.order_by(Webhook.id))).scalars().all()


def _message(row: Any, kind: NotificationKind, link: str) -> Message:
    notice, session = row.SessionNotice, row.Session
    facts = SessionFacts(
        id=session.id,
        name=session.name,
        kind=session.kind,
        state=notice.state,
        result=session.result,
        reason=notice.reason,
        image=session.image,
        slots=session.slots,
        owner=Owner(id=row.User.id, email=row.User.email),
        project=Named(id=row.Project.id, name=row.Project.name),
        domain=Named(id=row.Domain.id, name=row.Domain.name),
        created_at=session.created_at,
        started_at=session.started_at,
        ended_at=session.ended_at,
        ends_at=notice.ends_at,
        cause=notice.cause,
        url=link,
    )
    return Message(type=f"session.{kind}", timestamp=notice.at, data=MessageContent(session=facts))
