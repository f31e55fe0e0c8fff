"""Turns notices of sessions into letters and webhook deliveries, each once: queuing them and deleting the notice is one
transaction. A share is passed on at once, in its own transaction.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, any_, delete, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import UserId
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
    link = _link(public_url, session)
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
    message = _message(notice, session, user, row.Project, row.Domain, kind, link)
    for webhook in await _webhooks(tx, session, kind, own=NotificationChannel.WEBHOOK in chosen):
        await deliveries.put(tx, webhook, message, now, session=session.id)


async def announce_share(
    tx: AsyncSession,
    seal: SecretBox,
    public_url: str,
    session: Session,
    recipients: Collection[UserId],
    *,
    by: str,
    reason: str,
    now: datetime,
) -> None:
    """Tell users that a session is shared with them. by: the e-mail of who shares it. reason: for webhooks."""
    link = _link(public_url, session)
    owner = await tx.get_one(User, session.owner_id)
    project = await tx.get_one(Project, session.project_id)
    domain = await tx.get_one(Domain, session.domain_id)
    notice = SessionNotice(at=now, state=session.state, reason=reason)
    kind = NotificationKind.SHARED
    message = _message(notice, session, owner, project, domain, kind, link)
    by_webhook: list[UserId] = []
    for user in (await tx.execute(select(User).where(User.id.in_(recipients), User.active))).scalars():
        chosen = choices.of(user.notifications)[kind]
        if NotificationChannel.MAIL in chosen:
            language = letters.language_of(user.preferences.get("language"))
            letter = letters.shared_session(language, email=by, name=session.name, link=link)
            await outbox.put(tx, seal, user.email, letter, now, _MAIL_LIFETIME)
        if NotificationChannel.WEBHOOK in chosen:
            by_webhook.append(user.id)
    webhooks = [
        *await _webhooks(tx, session, kind, own=False),
        *await _live_webhooks(tx, kind, Webhook.user_id.in_(by_webhook)),
    ]
    for webhook in webhooks:
        await deliveries.put(tx, webhook, message, now, session=session.id)


def _link(public_url: str, session: Session) -> str:
    return f"{public_url.rstrip('/')}/sessions?state=all&session={session.id}"


async def _webhooks(
    tx: AsyncSession, session: Session, kind: NotificationKind, *, own: bool
) -> Iterable[str]:
    """own: with those of the session's owner."""
    places = [Webhook.project_id == session.project_id, Webhook.domain_id == session.domain_id]
    if own:
        places.append(Webhook.user_id == session.owner_id)
    return await _live_webhooks(tx, kind, or_(*places))


async def _live_webhooks(
    tx: AsyncSession, kind: NotificationKind, places: ColumnElement[bool]
) -> Iterable[str]:
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
