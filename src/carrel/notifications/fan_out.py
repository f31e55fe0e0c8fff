"""Turns notices of sessions into letters and webhook deliveries, each once: queuing them and deleting the notice is one
transaction.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, any_, delete, insert, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from carrel.core.ids import UserId
from carrel.db.database import notify
from carrel.db.encryption import SecretBox
from carrel.mail import letters
from carrel.mail.smtp import Letter
from carrel.notifications import choices, deliveries
from carrel.notifications.messages import Message, MessageContent, Named, Owner, SessionFacts
from carrel.site import outbox
from carrel.tables.notifications import (
    DISK_NEARLY_FULL,
    LIMIT_WARNING,
    NODE_LEAVING,
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
_LETTERS = {
    LIMIT_WARNING: letters.TIME_LIMIT,
    DISK_NEARLY_FULL: letters.DISK,
    NODE_LEAVING: letters.NODE,
}
_Recipient = aliased(User)


async def announce_share(
    tx: AsyncSession,
    session: Session,
    recipients: Iterable[UserId],
    *,
    by: str,
    reason: str,
    now: datetime,
) -> None:
    """Write the notices that a session is shared with users. by: the e-mail of who shares it. reason: for webhooks."""
    notice = {
        "session_id": session.id,
        "kind": NotificationKind.SHARED,
        "at": now,
        "state": session.state,
        "reason": reason,
        "shared_by": by,
    }
    await tx.execute(insert(SessionNotice), [{**notice, "recipient_id": one} for one in (None, *recipients)])
    await notify(tx, TOPIC)


async def step(tx: AsyncSession, seal: SecretBox, public_url: str, now: datetime) -> bool:
    """Pass on the oldest notices. False: there are none."""
    rows = (
        await tx.execute(
            select(SessionNotice, Session, User, Project, Domain, _Recipient)
            .join(Session, Session.id == SessionNotice.session_id)
            .join(User, User.id == Session.owner_id)
            .join(Project, Project.id == Session.project_id)
            .join(Domain, Domain.id == Session.domain_id)
            .outerjoin(_Recipient, _Recipient.id == SessionNotice.recipient_id)
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
    notice, session, owner, project, domain, recipient = row
    kind = NotificationKind(notice.kind)
    user = recipient if kind == NotificationKind.SHARED else owner
    chosen = choices.of(user.notifications)[kind] if user else ()
    link = _link(public_url, session)
    if NotificationChannel.MAIL in chosen and user.active:
        lifetime = max(notice.ends_at - now, timedelta(0)) if notice.ends_at else _MAIL_LIFETIME
        if lifetime:
            letter = _letter(notice, session, user, kind, link)
            await outbox.put(tx, seal, user.email, letter, now, lifetime)
    places = [] if recipient else [Webhook.project_id == project.id, Webhook.domain_id == domain.id]
    if NotificationChannel.WEBHOOK in chosen:
        places.append(Webhook.user_id == user.id)
    if not places:
        return
    message = _message(notice, session, owner, project, domain, kind, link)
    for webhook in await live_webhooks(tx, kind, or_(*places)):
        await deliveries.put(tx, webhook, message, now, session=session.id)


def _letter(notice: SessionNotice, session: Session, user: User, kind: NotificationKind, link: str) -> Letter:
    language = letters.language_of(user.preferences.get("language"))
    if notice.shared_by:
        return letters.shared_session(language, email=notice.shared_by, name=session.name, link=link)
    return letters.session(
        language,
        _LETTERS.get(notice.cause or "", kind),
        name=session.name,
        reason=notice.reason or "",
        at=notice.ends_at or notice.at,
        link=link,
    )


def _link(public_url: str, session: Session) -> str:
    return f"{public_url.rstrip('/')}/sessions?state=all&session={session.id}"


async def live_webhooks(
    tx: AsyncSession, kind: NotificationKind, places: ColumnElement[bool]
) -> Iterable[str]:
    """Webhooks in these places that are in use and have this kind."""
    query = deliveries.with_owners(select(Webhook.id)).where(
        and_(deliveries.is_live(), places, literal(str(kind)) == any_(Webhook.kinds))
    )
    return (await tx.execute(query.order_by(Webhook.id))).scalars().all()


def _message(
    notice: SessionNotice,
    session: Session,
    owner: User,
    project: Project,
    domain: Domain,
    kind: NotificationKind,
    link: str,
) -> Message:
    facts = SessionFacts(
        id=session.id,
        name=session.name,
        kind=session.kind,
        state=notice.state,
        result=session.result,
        reason=notice.reason,
        image=session.image,
        slots=session.slots,
        owner=Owner(id=owner.id, email=owner.email),
        project=Named(id=project.id, name=project.name),
        domain=Named(id=domain.id, name=domain.name),
        created_at=session.created_at,
        started_at=session.started_at,
        ended_at=session.ended_at,
        ends_at=notice.ends_at,
        cause=notice.cause,
        url=link,
    )
    return Message(type=f"session.{kind}", timestamp=notice.at, data=MessageContent(session=facts))
