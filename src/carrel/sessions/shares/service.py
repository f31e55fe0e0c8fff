"""Use cases of session shares: grant, list, revoke, leave, and open a link. Changes take effect immediately."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from urllib.parse import urlencode

from sqlalchemy import and_, delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Forbidden, Invalid, NotFound
from carrel.core.ids import SessionId, ShareId, UserId, new_id
from carrel.db.database import notify
from carrel.events import service as events
from carrel.notifications import fan_out
from carrel.permissions.decide import Actor, Target, allows, require
from carrel.sessions import service as sessions
from carrel.sessions.shares.schemas import (
    LONGEST_LINK_S,
    CreatedSessionShare,
    JoinedSession,
    LeftSession,
    SessionShareCreate,
    SessionShareView,
)
from carrel.sessions.visibility import shared_as
from carrel.signin.keypairs.service import digest
from carrel.tables.session_shares import TOPIC, AccessLevel, SessionShare
from carrel.tables.sessions import Session
from carrel.tables.tenancy import Membership, Project, User
from carrel.tenancy.schemas import ProjectRef, UserRef
from carrel.tenancy.share_recipients import project_to_share_with, user_to_share_with

PAGE = "/shared"
_LINK = "link"
_LEVELS = {AccessLevel.LOOK: "look at", AccessLevel.USE: "use"}


async def shares(tx: AsyncSession, clock: Clock, actor: Actor, ref: str) -> list[SessionShareView]:
    """The active shares of the session, oldest first. Raises: NotFound, Forbidden."""
    session = await sessions.find(tx, actor, ref, "session.share")
    return await _views(tx, session, clock.now())


async def share(
    tx: AsyncSession,
    clock: Clock,
    actor: Actor,
    public_url: str,
    ref: str,
    request: SessionShareCreate,
) -> CreatedSessionShare:
    """Share the session with a user, a project, or by a new link. With somebody who has access: change it. Users with
    whom it is newly shared are notified.

    Raises: NotFound, Forbidden, Invalid, Conflict.
    """
    session = await sessions.find(tx, actor, ref, "session.share")
    _require_possible(actor, session, request)
    # Concurrent requests for one recipient.
    await tx.execute(
        select(Session.id).where(Session.id == _shared_id(session)).with_for_update(key_share=True)
    )
    now = clock.now()
    token = secrets.token_urlsafe(32) if request.link else None
    made, recipient = await _recipient(tx, actor, session, request)
    before = _terms(made) if made.id else None
    if made.id is None:
        made.id, made.session_id, made.created_at = ShareId(new_id()), _shared_id(session), now
        made.token_hash = digest(token) if token else None
        tx.add(made)
    made.level, made.granted_by = request.level, actor.user_id
    made.expires_at = now + timedelta(seconds=request.expires_in_s) if request.expires_in_s else None
    await tx.flush()
    _note(tx, actor, session, made, recipient, before=before, after=_terms(made))
    if not token:
        sharer = None if before else (await tx.get_one(User, actor.user_id)).email
        await _publish(tx, "session.shared", session, made, by=sharer)
        if sharer:
            reason = f"{sharer} shared it with {recipient} to {_LEVELS[request.level]}."
            users = await _users(tx, session, made)
            await fan_out.announce_share(tx, session, users, by=sharer, reason=reason, now=now)
    if before:
        await notify(tx, TOPIC)
    view = next(one for one in await _views(tx, session, now) if one.id == made.id)
    url = f"{public_url.rstrip('/')}{PAGE}#{urlencode({'token': token})}" if token else None
    return CreatedSessionShare(**dict(view), url=url)


async def revoke(tx: AsyncSession, actor: Actor, ref: str, share: str) -> None:
    """Revoke a share; a link with the access of everybody who came by it. Open connections are closed.

    share: its id, or the e-mail or project of its recipient. Raises: NotFound, Forbidden.
    """
    session = await sessions.find(tx, actor, ref, "session.share")
    named = or_(
        SessionShare.id == share,
        SessionShare.user_id == share,
        func.lower(User.email) == share.strip().lower(),
        SessionShare.project_id == share,
        Project.name == share,
    )
    rows = (
        await tx.execute(
            select(SessionShare, func.coalesce(User.email, Project.name, _LINK))
            .outerjoin(User, User.id == SessionShare.user_id)
            .outerjoin(Project, Project.id == SessionShare.project_id)
            .where(SessionShare.session_id == _shared_id(session), named)
        )
    ).all()
    if not rows:
        raise NotFound(
            "share.not_found",
            f"{session.name} is not shared with {share}.",
            hint="See `carrel session shares`.",
        )
    for grant, recipient in rows:
        _note(tx, actor, session, grant, recipient, before=_terms(grant), after=None)
        for one in [grant, *await _taken(tx, grant)]:
            await _publish(tx, "session.unshared", session, one)
    await tx.execute(delete(SessionShare).where(SessionShare.id.in_([grant.id for grant, _ in rows])))
    await notify(tx, TOPIC)


async def leave(tx: AsyncSession, actor: Actor, ref: str) -> LeftSession:
    """End the access that the actor has personally or by links. Their open connections are closed.

    Raises: Forbidden, NotFound; Conflict if the session is not shared with them so.
    """
    require(actor, "session.leave", Target(owner_id=actor.user_id))
    session = await sessions.find(tx, actor, ref)
    own = select(SessionShare).where(
        SessionShare.session_id == _shared_id(session), SessionShare.user_id == actor.user_id
    )
    shares = (await tx.execute(own.with_for_update())).scalars().all()
    if not shares:
        raise Conflict(
            "share.not_personal",
            f"{session.name} is not shared with you personally, so you cannot leave it.",
            hint="It is your own, you administer it, or it is shared with one of your projects.",
        )
    for one in shares:
        details = {"share": one.id, "before": _terms(one)}
        sessions.note(tx, actor, "session.leave", session, details=details)
        await _publish(tx, "session.unshared", session, one)
        await tx.delete(one)
    await tx.flush()
    await notify(tx, TOPIC)
    level = await shared_as(tx, actor, session.id)
    return LeftSession(id=session.id, name=session.name, shared_as=level)


async def join(tx: AsyncSession, clock: Clock, actor: Actor, token: str) -> JoinedSession:
    """Give the actor the access that the link grants, until the link expires. Twice: no-op.

    Raises: Forbidden; NotFound, also for an expired or revoked link and for one of another domain.
    """
    require(actor, "session.join", Target(owner_id=actor.user_id))
    link, session = await _linked(tx, clock, actor, token)
    own = session.owner_id == actor.user_id
    if not own and not await _has_taken(tx, link, actor.user_id):
        taken = SessionShare(
            id=ShareId(new_id()),
            session_id=link.session_id,
            user_id=actor.user_id,
            link_id=link.id,
            level=link.level,
            granted_by=link.granted_by,
            created_at=clock.now(),
            expires_at=link.expires_at,
        )
        tx.add(taken)
        await tx.flush()
        details = {"share": taken.id, "link": link.id, "after": _terms(taken)}
        sessions.note(tx, actor, "session.join", session, details=details)
        await _publish(tx, "session.shared", session, taken)
    assert link.expires_at is not None
    level = None if own else AccessLevel(link.level)
    return JoinedSession(id=session.id, name=session.name, level=level, expires_at=link.expires_at)


async def prune(tx: AsyncSession, now: datetime) -> None:
    """Delete expired shares."""
    await tx.execute(delete(SessionShare).where(SessionShare.expires_at <= now))


def _shared_id(session: Session) -> SessionId:
    return session.array_id or session.id


def _require_possible(actor: Actor, session: Session, request: SessionShareCreate) -> None:
    recipients = [request.user is not None, request.project is not None, request.link]
    if sum(recipients) != 1:
        raise Invalid(
            "share.recipient",
            "A session is shared with a user, with a project, or by a link.",
            hint="Specify exactly one of them.",
        )
    if request.link and (request.expires_in_s is None or request.expires_in_s > LONGEST_LINK_S):
        raise Invalid(
            "share.expiry",
            f"A link needs an expiry of at most {LONGEST_LINK_S // 86_400} days.",
            hint="Specify when it expires, such as `--expires 2h`.",
            field="expires_in_s",
        )
    use = allows(actor, "session.exec", Target(owner_id=session.owner_id))
    if request.level == AccessLevel.USE and not use:
        raise Forbidden(
            "share.level",
            f"You may not use {session.name} yourself, so you can only let others look at it.",
            hint="Its owner can share its use.",
        )


async def _recipient(
    tx: AsyncSession, actor: Actor, session: Session, request: SessionShareCreate
) -> tuple[SessionShare, str]:
    """The share with the recipient, new or existing, and the recipient's name. Raises: NotFound, Conflict."""
    domain = session.domain_id
    if request.user is not None:
        person = await user_to_share_with(
            tx, request.user, domain=domain, owner=session.owner_id, shared=session.name, things="sessions"
        )
        existing = and_(SessionShare.user_id == person.id, SessionShare.link_id.is_(None))
        made, name = SessionShare(user_id=person.id), person.email
    elif request.project is not None:
        project = await project_to_share_with(
            tx, actor, request.project, domain=domain, owner=None, shared=session.name
        )
        existing = and_(SessionShare.project_id == project.id)
        made, name = SessionShare(project_id=project.id), project.name
    else:
        return SessionShare(), _LINK
    same = select(SessionShare).where(SessionShare.session_id == _shared_id(session), existing)
    return (await tx.execute(same)).scalar() or made, name


async def _linked(tx: AsyncSession, clock: Clock, actor: Actor, token: str) -> tuple[SessionShare, Session]:
    # not narrowed: the token is what permits it
    row = (
        await tx.execute(
            select(SessionShare, Session)
            .join(Session, Session.id == SessionShare.session_id)
            .where(
                SessionShare.token_hash == digest(token),
                SessionShare.expires_at > clock.now(),
                Session.domain_id == actor.domain_id,
            )
            # Concurrent requests of one user, and revocation.
            .with_for_update(of=SessionShare)
        )
    ).one_or_none()
    if row is None:
        raise NotFound(
            "share.no_link",
            "This link does not work: it is wrong, has expired or was revoked.",
            hint="Ask the person who sent it for another one.",
        )
    link, session = row
    return link, session


async def _has_taken(tx: AsyncSession, link: SessionShare, user: UserId) -> bool:
    same = select(SessionShare.id).where(SessionShare.link_id == link.id, SessionShare.user_id == user)
    return (await tx.execute(same)).first() is not None


async def _taken(tx: AsyncSession, link: SessionShare) -> list[SessionShare]:
    return list((await tx.execute(select(SessionShare).where(SessionShare.link_id == link.id))).scalars())


async def _views(tx: AsyncSession, session: Session, now: datetime) -> list[SessionShareView]:
    granter = aliased(User)
    rows = await tx.execute(
        select(SessionShare, User, Project, granter)
        .outerjoin(User, User.id == SessionShare.user_id)
        .outerjoin(Project, Project.id == SessionShare.project_id)
        .outerjoin(granter, granter.id == SessionShare.granted_by)
        .where(
            SessionShare.session_id == _shared_id(session),
            or_(SessionShare.expires_at.is_(None), SessionShare.expires_at > now),
        )
        .order_by(SessionShare.created_at, SessionShare.id)
    )
    return [
        SessionShareView(
            id=one.id,
            user=UserRef(id=person.id, email=person.email) if person else None,
            project=ProjectRef(id=project.id, name=project.name) if project else None,
            via_link=one.link_id,
            level=AccessLevel(one.level),
            granted_by=UserRef(id=by.id, email=by.email) if by else None,
            created_at=one.created_at,
            expires_at=one.expires_at,
        )
        for one, person, project, by in rows
    ]


def _terms(share: SessionShare) -> Mapping[str, object]:
    expires = share.expires_at
    return {"level": share.level, "expires_at": expires.isoformat() if expires else None}


def _note(
    tx: AsyncSession, actor: Actor, session: Session, share: SessionShare, recipient: str, **terms: object
) -> None:
    details = {"with": recipient, "share": share.id, **terms}
    sessions.note(tx, actor, "session.share", session, details=details)


async def _users(tx: AsyncSession, session: Session, share: SessionShare) -> Sequence[UserId]:
    """With whom it is shared, except its owner and who shared it."""
    if share.user_id:
        return [share.user_id]
    members = select(Membership.user_id).where(
        Membership.project_id == share.project_id,
        Membership.user_id.not_in([session.owner_id, share.granted_by]),
    )
    return (await tx.execute(members)).scalars().all()


async def _publish(
    tx: AsyncSession, kind: str, session: Session, share: SessionShare, *, by: str | None = None
) -> None:
    """Tell the owner, administrators and the recipient. by: the e-mail of who newly shared it."""
    audience = [f"user:{share.user_id}"] if share.user_id else []
    audience += [f"project:{share.project_id}"] if share.project_id else []
    target = Target(session.owner_id, session.project_id, session.domain_id)
    data = {
        "id": session.id,
        "name": session.name,
        "user": share.user_id,
        "project": share.project_id,
        "by": by,
    }
    await events.record(tx, kind, session.id, target=target, data=data, audience=audience)
