"""/vfolders/{ref}/shares and /invitations: sharing of folders."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.db.database import Database
from carrel.folders import sharing
from carrel.folders.routes import Ref
from carrel.folders.schemas import (
    InvitationList,
    ShareChanged,
    ShareCreate,
    ShareList,
    SharesAdded,
    ShareUpdate,
)
from carrel.http.auth import CurrentActor, names
from carrel.http.services import ServicesOf
from carrel.mail import letters
from carrel.permissions.decide import Actor
from carrel.site.mailer import Mailer
from carrel.site.services import MailServices

_WORTH_TELLING = timedelta(days=3)

router = APIRouter(tags=["folders"])
ShareRef = Annotated[str, Path(max_length=254, description="An id, an e-mail, or a project's name.")]


@router.get(
    "/vfolders/{ref}/shares",
    operation_id="shares.list",
    summary="List shares of a folder",
    openapi_extra=names("vfolder.read"),
)
async def list_shares(services: ServicesOf[MailServices], actor: CurrentActor, ref: Ref) -> ShareList:
    """The shares and pending invitations of a folder; for its owner and administrators."""
    async with services.database.transaction() as tx:
        return ShareList(items=await sharing.shares(tx, actor, ref))


@router.post(
    "/vfolders/{ref}/shares",
    operation_id="shares.create",
    summary="Share a folder",
    openapi_extra=names("vfolder.share"),
)
async def create(
    services: ServicesOf[MailServices], actor: CurrentActor, ref: Ref, body: ShareCreate
) -> SharesAdded:
    """Invite users by e-mail, and share with projects. Failures are listed with their reasons."""
    async with services.database.transaction() as tx:
        added, invited = await sharing.share(tx, services.clock, actor, ref, body)
        for person in invited:
            await _write(tx, services.mailer, actor, person, services.settings.effective_public_url)
    return added


@router.patch(
    "/vfolders/{ref}/shares/{share}",
    operation_id="shares.update",
    summary="Update a share",
    openapi_extra=names("vfolder.share"),
)
async def update(
    services: ServicesOf[MailServices], actor: CurrentActor, ref: Ref, share: ShareRef, body: ShareUpdate
) -> ShareChanged:
    """Change the permission of a share. Live sessions keep the previous access until they end, and are listed."""
    database: Database = services.database

    async def change(tx: AsyncSession) -> ShareChanged:
        return await sharing.change(tx, actor, ref, share, body.permission)

    return await database.run(change)


@router.delete(
    "/vfolders/{ref}/shares/{share}",
    operation_id="shares.remove",
    summary="Revoke a share",
    openapi_extra=names("vfolder.share"),
)
async def remove(
    services: ServicesOf[MailServices], actor: CurrentActor, ref: Ref, share: ShareRef
) -> ShareChanged:
    """Revoke a share or an invitation. Live sessions keep access until they end, and are listed."""
    database: Database = services.database

    async def change(tx: AsyncSession) -> ShareChanged:
        return await sharing.revoke(tx, actor, ref, share)

    return await database.run(change)


@router.post(
    "/vfolders/{ref}/leave",
    operation_id="shares.leave",
    summary="Leave a shared folder",
    openapi_extra=names("vfolder.join"),
)
async def leave(services: ServicesOf[MailServices], actor: CurrentActor, ref: Ref) -> ShareChanged:
    """Leave a folder that is shared with you. Your live sessions keep access until they end, and are listed."""
    database: Database = services.database

    async def change(tx: AsyncSession) -> ShareChanged:
        return await sharing.leave(tx, actor, ref)

    return await database.run(change)


@router.get(
    "/invitations",
    operation_id="invitations.list",
    summary="List invitations to folders",
    openapi_extra=names("vfolder.join"),
)
async def list_invitations(services: ServicesOf[MailServices], actor: CurrentActor) -> InvitationList:
    """Folders that other users offer you."""
    async with services.database.transaction() as tx:
        return InvitationList(items=await sharing.invitations(tx, actor))


@router.post(
    "/invitations/{share}/accept",
    operation_id="invitations.accept",
    summary="Accept an invitation to a folder",
    openapi_extra=names("vfolder.join"),
    status_code=204,
)
async def accept(services: ServicesOf[MailServices], actor: CurrentActor, share: ShareRef) -> None:
    """Accept an invitation to a folder."""
    database: Database = services.database

    async def change(tx: AsyncSession) -> None:
        await sharing.accept(tx, services.clock, actor, share)

    await database.run(change)


@router.post(
    "/invitations/{share}/decline",
    operation_id="invitations.decline",
    summary="Decline an invitation to a folder",
    openapi_extra=names("vfolder.join"),
    status_code=204,
)
async def decline(services: ServicesOf[MailServices], actor: CurrentActor, share: ShareRef) -> None:
    """Decline an invitation to a folder."""
    async with services.database.transaction() as tx:
        await sharing.decline(tx, actor, share)


async def _write(tx: AsyncSession, mailer: Mailer, actor: Actor, person: sharing.Invited, page: str) -> None:
    letter = letters.invitation(
        letters.language_of(person.language), email=actor.email, folder=person.folder, link=f"{page}/data"
    )
    await mailer.put(tx, person.email, letter, _WORTH_TELLING)
