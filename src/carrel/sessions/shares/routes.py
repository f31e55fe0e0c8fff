"""/sessions/{ref}/shares and /session-links: sharing of sessions."""

from typing import Annotated

from fastapi import APIRouter, Path

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.sessions.routes import Ref
from carrel.sessions.shares import service
from carrel.sessions.shares.schemas import (
    CreatedSessionShare,
    JoinedSession,
    LeftSession,
    SessionJoin,
    SessionShareCreate,
    SessionShareList,
)

router = APIRouter(tags=["sessions"])
ShareRef = Annotated[str, Path(max_length=254, description="An id, an e-mail, or a project's name.")]


@router.get(
    "/sessions/{ref}/shares",
    operation_id="sessions.shares",
    summary="List shares of a session",
    openapi_extra=names("session.share"),
)
async def list_shares(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> SessionShareList:
    """Who has access to a session by a share, and until when; for its owner and administrators."""
    async with services.database.transaction() as tx:
        return SessionShareList(items=await service.shares(tx, services.clock, actor, ref))


@router.post(
    "/sessions/{ref}/shares",
    operation_id="sessions.share",
    summary="Share a session",
    openapi_extra=names("session.share"),
    status_code=201,
)
async def share(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: SessionShareCreate
) -> CreatedSessionShare:
    """Share a session with a user or a project of its domain, or by a link. Sharing again with the same recipient
    changes the share. Only the owner can share the use of a session. A share of a session of an array is for the whole
    array.
    """
    async with services.database.transaction() as tx:
        public_url = services.settings.effective_public_url
        return await service.share(tx, services.clock, actor, public_url, ref, body)


@router.delete(
    "/sessions/{ref}/shares/{share}",
    operation_id="sessions.unshare",
    summary="Revoke a share of a session",
    openapi_extra=names("session.share"),
    status_code=204,
)
async def unshare(services: ServicesOf[Services], actor: CurrentActor, ref: Ref, share: ShareRef) -> None:
    """Revoke a share, or a link with the access of everybody who opened it. Their apps, terminals and log streams are
    closed.
    """
    async with services.database.transaction() as tx:
        await service.revoke(tx, actor, ref, share)


@router.post(
    "/sessions/{ref}/leave",
    operation_id="sessions.leave",
    summary="Leave a shared session",
    openapi_extra=names("session.leave"),
)
async def leave(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> LeftSession:
    """End your own access to a session that another user shares with you personally or by a link. Shares with your
    projects remain.
    """
    async with services.database.transaction() as tx:
        return await service.leave(tx, actor, ref)


@router.post(
    "/session-links",
    operation_id="sessions.join",
    summary="Open a link to a session",
    openapi_extra=names("session.join"),
)
async def join(services: ServicesOf[Services], actor: CurrentActor, body: SessionJoin) -> JoinedSession:
    """Get the access to a session that a link grants, until the link expires."""
    async with services.database.transaction() as tx:
        return await service.join(tx, services.clock, actor, body.token)
