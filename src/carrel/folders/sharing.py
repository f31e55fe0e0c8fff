"""Use cases of sharing: invite, accept, change and revoke.

A change takes effect immediately in the API. Live sessions keep their mounts until they end; the responses list them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, Conflict, Invalid, NotFound
from carrel.core.ids import ShareId, new_id
from carrel.events import service as events
from carrel.folders import access, access_list
from carrel.folders.access import target
from carrel.folders.grantees import recipient
from carrel.folders.mounted import mounts_beyond
from carrel.folders.recipients import folder_changed, person_concerned
from carrel.folders.schemas import (
    InvitationView,
    MountedIn,
    NotShared,
    ShareChanged,
    ShareCreate,
    SharesAdded,
    ShareView,
)
from carrel.folders.service import require_state
from carrel.permissions.decide import Actor, Target, require
from carrel.tables.folder_states import FolderState
from carrel.tables.folders import FolderShare, Permission, ShareState, VFolder
from carrel.tables.tenancy import Project, User
from carrel.tenancy import queries as tenancy
from carrel.tenancy.schemas import ProjectRef, UserRef


@dataclass(frozen=True)
class Invited:
    """A recipient of an invitation mail. language: their preference, if set."""

    email: str
    language: str | None
    folder: str


async def shares(tx: AsyncSession, actor: Actor, ref: str) -> list[ShareView]:
    """Shares and pending invitations, oldest first. Raises: NotFound, Forbidden."""
    folder = (await access.find(tx, actor, ref, "vfolder.read")).folder
    access_list.require_administration(actor, folder)
    return await _views(tx, folder)


async def share(
    tx: AsyncSession, clock: Clock, actor: Actor, ref: str, request: ShareCreate
) -> tuple[SharesAdded, list[Invited]]:
    """Invite users, and share the folder with projects. Failures are reported; the others succeed.

    The second value: recipients of mails, to be sent after the commit. Raises: NotFound, Forbidden, Invalid, Conflict.
    """
    folder = (await access.find(tx, actor, ref, "vfolder.share", lock=True)).folder
    _require_shareable(folder)
    added: list[ShareId] = []
    refused: list[NotShared] = []
    letters: list[Invited] = []
    for email in dict.fromkeys(request.users):
        try:
            person = await _invitee(tx, folder, email)
        except CarrelError as error:
            refused.append(NotShared(who=email, code=error.code, message=error.message))
            continue
        made = _share(clock, actor, folder, request.permission, person)
        added.append(await _give(tx, actor, folder, made, person.email))
        letters.append(Invited(person.email, person.preferences.get("language"), folder.name))
    for project in dict.fromkeys(request.projects):
        try:
            place = await _project(tx, actor, folder, project)
        except CarrelError as error:
            refused.append(NotShared(who=project, code=error.code, message=error.message))
            continue
        made = _share(clock, actor, folder, request.permission, place)
        added.append(await _give(tx, actor, folder, made, place.name))
    if added:
        await folder_changed(tx, "vfolder.updated", folder)
    views = [view for view in await _views(tx, folder) if view.id in added]
    return SharesAdded(items=views, refused=refused), letters


async def change(
    tx: AsyncSession, actor: Actor, ref: str, share: str, permission: Permission
) -> ShareChanged:
    """Change the permission of a share. Raises: NotFound, Forbidden."""
    folder, grant, recipient = await _shared(tx, actor, ref, share)
    before = grant.permission
    if before != permission:
        grant.permission = permission
        await tx.flush()
        _record(
            tx,
            actor,
            folder,
            grant,
            recipient,
            before={"permission": before},
            after={"permission": permission},
        )
        await _publish(tx, folder, grant)
    view = next(view for view in await _views(tx, folder) if view.id == grant.id)
    return ShareChanged(share=view, still_mounted=await _beyond(tx, actor, folder))


async def revoke(tx: AsyncSession, actor: Actor, ref: str, share: str) -> ShareChanged:
    """Revoke a share or an invitation. Raises: NotFound, Forbidden."""
    folder, grant, recipient = await _shared(tx, actor, ref, share)
    await _publish(tx, folder, grant)
    await tx.delete(grant)
    await tx.flush()
    before = {"permission": grant.permission, "state": grant.state}
    _record(tx, actor, folder, grant, recipient, before=before, after=None)
    return ShareChanged(share=None, still_mounted=await _beyond(tx, actor, folder))


async def leave(tx: AsyncSession, actor: Actor, ref: str) -> ShareChanged:
    """Leave a folder shared with the actor; the answer lists their own live sessions that mount it.

    Raises: NotFound, Forbidden, Conflict.
    """
    require(actor, "vfolder.join", Target(owner_id=actor.user_id))
    folder = (await access.find(tx, actor, ref, "vfolder.read", lock=True)).folder
    mine = select(FolderShare).where(access.accepted(folder.id), FolderShare.user_id == actor.user_id)
    grant = (await tx.execute(mine)).scalar()
    if grant is None:
        raise Conflict(
            "share.not_yours",
            f"{folder.name} is not shared with you personally, so you cannot leave it.",
            hint="It belongs to you or to your project.",
        )
    before = {"permission": grant.permission}
    await _part(tx, actor, folder, grant, before=before, left=True)
    still = [
        each for each in await _beyond(tx, actor, folder) if each.owner and each.owner.id == actor.user_id
    ]
    return ShareChanged(share=None, still_mounted=still)


async def invitations(tx: AsyncSession, actor: Actor) -> list[InvitationView]:
    """The actor's pending invitations, newest first. Raises: Forbidden."""
    require(actor, "vfolder.join", Target(owner_id=actor.user_id))
    inviter, owner = aliased(User), aliased(User)
    rows = await tx.execute(
        select(FolderShare, VFolder, inviter, owner, Project)
        .join(VFolder, VFolder.id == FolderShare.folder_id)
        .outerjoin(inviter, inviter.id == FolderShare.invited_by)
        .outerjoin(owner, owner.id == VFolder.owner_id)
        .outerjoin(Project, Project.id == VFolder.project_id)
        .where(
            FolderShare.user_id == actor.user_id,
            FolderShare.state == ShareState.INVITED,
            VFolder.state.in_(sorted(access.IN_USE)),
        )
        .order_by(FolderShare.created_at.desc(), FolderShare.id)
    )
    return [
        InvitationView(
            id=offer.id,
            folder_id=folder.id,
            folder_name=folder.name,
            owner=_ref(whose),
            project=ProjectRef(id=project.id, name=project.name) if project else None,
            invited_by=_ref(by),
            permission=offer.permission,
            used_bytes=folder.used_bytes,
            created_at=offer.created_at,
        )
        for offer, folder, by, whose, project in rows
    ]


async def accept(tx: AsyncSession, clock: Clock, actor: Actor, share: str) -> None:
    """Accept an invitation. Twice: no-op. Raises: NotFound, Forbidden."""
    offer, folder = await _offered(tx, actor, share)
    if offer.state == ShareState.ACCEPTED:
        return
    offer.state, offer.accepted_at = ShareState.ACCEPTED, clock.now()
    await tx.flush()
    _joined(tx, actor, folder, {"share": "accepted", "permission": offer.permission})
    await folder_changed(tx, "vfolder.updated", folder)
    await _publish_invitation(tx, "invitation.removed", folder, offer)


async def decline(tx: AsyncSession, actor: Actor, share: str) -> None:
    """Decline an invitation. Raises: NotFound, Forbidden; Conflict if it was accepted already."""
    offer, folder = await _offered(tx, actor, share)
    if offer.state == ShareState.ACCEPTED:
        raise Conflict(
            "share.accepted", f"You have already accepted {folder.name}.", hint="Leave it instead."
        )
    await _part(tx, actor, folder, offer, before={"permission": offer.permission}, left=False)


def _require_shareable(folder: VFolder) -> None:
    require_state(folder, FolderState.READY)
    if folder.name.startswith("."):
        raise Invalid(
            "vfolder.automatic",
            f"{folder.name} is mounted automatically into every session of its owner and cannot be shared.",
            hint="Rename it without the leading dot first.",
        )


async def _invitee(tx: AsyncSession, folder: VFolder, email: str) -> User:
    person = await recipient(tx, email, folder.domain_id)
    if person.id == folder.owner_id:
        raise Conflict("share.own", f"{folder.name} already belongs to {person.email}.")
    await _require_new(tx, folder, FolderShare.user_id == person.id, person.email)
    return person


async def _project(tx: AsyncSession, actor: Actor, folder: VFolder, ref: str) -> Project:
    target = await tenancy.project(tx, actor, ref)
    if target.domain_id != folder.domain_id:
        raise Conflict("vfolder.other_domain", f"{target.name} is in another domain.")
    if target.id == folder.project_id:
        raise Conflict("share.own", f"{folder.name} already belongs to {target.name}.")
    await _require_new(tx, folder, FolderShare.project_id == target.id, target.name)
    return target


async def _require_new(tx: AsyncSession, folder: VFolder, recipient: ColumnElement[bool], name: str) -> None:
    same = select(FolderShare.state).where(FolderShare.folder_id == folder.id, recipient)
    state = (await tx.execute(same)).scalar()
    if state is not None:
        has = "already has" if state == ShareState.ACCEPTED else "is already invited to"
        raise Conflict("share.exists", f"{name} {has} {folder.name}.")


def _ref(person: User | None) -> UserRef | None:
    return UserRef(id=person.id, email=person.email) if person else None


async def _views(tx: AsyncSession, folder: VFolder) -> list[ShareView]:
    inviter = aliased(User)
    rows = await tx.execute(
        select(FolderShare, User, Project, inviter)
        .outerjoin(User, User.id == FolderShare.user_id)
        .outerjoin(Project, Project.id == FolderShare.project_id)
        .outerjoin(inviter, inviter.id == FolderShare.invited_by)
        .where(FolderShare.folder_id == folder.id)
        .order_by(FolderShare.created_at, FolderShare.id)
    )
    return [
        ShareView(
            id=share.id,
            user=_ref(person),
            project=ProjectRef(id=project.id, name=project.name) if project else None,
            permission=share.permission,
            state=share.state,
            invited_by=_ref(by),
            created_at=share.created_at,
            accepted_at=share.accepted_at,
        )
        for share, person, project, by in rows
    ]


async def _give(
    tx: AsyncSession, actor: Actor, folder: VFolder, made: FolderShare, recipient: str
) -> ShareId:
    tx.add(made)
    await tx.flush()
    after = {"permission": made.permission, "state": made.state}
    _record(tx, actor, folder, made, recipient, before=None, after=after)
    if made.user_id is not None:
        await _publish_invitation(tx, "invitation.created", folder, made)
    return made.id


def _share(
    clock: Clock, actor: Actor, folder: VFolder, permission: Permission, recipient: User | Project
) -> FolderShare:
    """Add a share: users are invited, projects get access immediately."""
    now = clock.now()
    person = isinstance(recipient, User)
    return FolderShare(
        id=ShareId(new_id()),
        folder_id=folder.id,
        user_id=recipient.id if isinstance(recipient, User) else None,
        project_id=recipient.id if isinstance(recipient, Project) else None,
        permission=permission,
        state=ShareState.INVITED if person else ShareState.ACCEPTED,
        invited_by=actor.user_id,
        created_at=now,
        accepted_at=None if person else now,
    )


async def _shared(tx: AsyncSession, actor: Actor, ref: str, share: str) -> tuple[VFolder, FolderShare, str]:
    """The folder, its share with this id, e-mail or project, and its recipient."""
    folder = (await access.find(tx, actor, ref, "vfolder.share", lock=True)).folder
    named = or_(
        FolderShare.id == share,
        FolderShare.user_id == share,
        func.lower(User.email) == share.strip().lower(),
        FolderShare.project_id == share,
        Project.name == share,
    )
    statement = (
        select(FolderShare, func.coalesce(User.email, Project.name))
        .outerjoin(User, User.id == FolderShare.user_id)
        .outerjoin(Project, Project.id == FolderShare.project_id)
        .where(FolderShare.folder_id == folder.id, named)
    )
    row = (await tx.execute(statement.limit(1))).one_or_none()
    if row is None:
        raise NotFound(
            "share.not_found",
            f"{folder.name} is not shared with {share}.",
            hint="See `carrel vfolder shares`.",
        )
    grant, recipient = row
    return folder, grant, recipient


async def _offered(tx: AsyncSession, actor: Actor, share: str) -> tuple[FolderShare, VFolder]:
    """The actor's invitation with its folder, locked in the same order as sharing does."""
    require(actor, "vfolder.join", Target(owner_id=actor.user_id))
    mine = (FolderShare.id == share) & (FolderShare.user_id == actor.user_id)
    of = select(FolderShare.folder_id).where(mine)
    folder = (await tx.execute(select(VFolder).where(VFolder.id.in_(of)).with_for_update())).scalar()
    offer = (await tx.execute(select(FolderShare).where(mine))).scalar() if folder else None
    if offer is None or folder is None or folder.state not in access.IN_USE:
        raise NotFound(
            "invitation.not_found",
            "There is no such invitation, or it was revoked.",
            hint="See `carrel vfolder invitations`.",
        )
    return offer, folder


async def _part(
    tx: AsyncSession,
    actor: Actor,
    folder: VFolder,
    share: FolderShare,
    *,
    before: Mapping[str, object],
    left: bool,
) -> None:
    await tx.delete(share)
    await tx.flush()
    _joined(tx, actor, folder, {"share": "left" if left else "declined", "before": before})
    await folder_changed(tx, "vfolder.updated", folder)
    await person_concerned(tx, "vfolder.removed", folder, actor.user_id)
    await _publish_invitation(tx, "invitation.removed", folder, share)


async def _beyond(tx: AsyncSession, actor: Actor, folder: VFolder) -> list[MountedIn]:
    """Live sessions whose mount exceeds their owner's current permission."""
    return await mounts_beyond(tx, actor, folder, await access_list.permissions(tx, folder))


async def _publish(tx: AsyncSession, folder: VFolder, share: FolderShare) -> None:
    """Publish the change to everybody with access and to invited users."""
    await folder_changed(tx, "vfolder.updated", folder)
    if share.state == ShareState.INVITED:
        await _publish_invitation(tx, "invitation.updated", folder, share)


async def _publish_invitation(tx: AsyncSession, kind: str, folder: VFolder, share: FolderShare) -> None:
    assert share.user_id is not None
    data = {
        "id": share.id,
        "folder_id": folder.id,
        "folder_name": folder.name,
        "permission": share.permission,
    }
    await events.publish(tx, kind, share.id, recipients=[share.user_id], data=data)


def _record(
    tx: AsyncSession, actor: Actor, folder: VFolder, share: FolderShare, recipient: str, **details: object
) -> None:
    named = {"with": recipient, "share": share.id, **details}
    audit.record(
        tx, actor, "vfolder.share", folder.id, name=folder.name, target=target(folder), details=named
    )


def _joined(tx: AsyncSession, actor: Actor, folder: VFolder, details: Mapping[str, object]) -> None:
    audit.record(
        tx, actor, "vfolder.join", folder.id, name=folder.name, target=target(folder), details=details
    )
