"""Live sessions that mount a folder, as far as the actor may see them."""

from collections.abc import Mapping, Sequence

from sqlalchemy import and_, column, select, table
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Conflict
from carrel.core.ids import UserId
from carrel.db.scope import permitted
from carrel.folders.access import administers
from carrel.folders.schemas import MountedIn
from carrel.permissions.decide import Actor
from carrel.tables.folders import FolderMount, Permission, VFolder
from carrel.tables.tenancy import User
from carrel.tenancy.schemas import UserRef

# Sessions are a higher-level concept; only their names are needed here.
_SESSIONS = table("sessions", column("id"), column("name"), column("project_id"), column("domain_id"))
_NAMED = 20


async def mounts_of(tx: AsyncSession, actor: Actor, folder: VFolder) -> list[MountedIn]:
    """Every live session that mounts the folder.

    Its name is included if the actor may see it, and its owner also for administrators of the folder, who can see who
    has access.
    """
    return [shown for _, shown in await _mounts(tx, actor, folder)]


async def mounts_beyond(
    tx: AsyncSession,
    actor: Actor,
    folder: VFolder,
    may: Mapping[UserId, Permission],
    *,
    by: UserId | None = None,
) -> list[MountedIn]:
    """Mounts that exceed the current permission of the session's owner. by: only those of this user."""
    return [
        shown
        for mount, shown in await _mounts(tx, actor, folder, known=by)
        if by in (None, mount.owner_id)
        and (mount.owner_id not in may or (may[mount.owner_id] == Permission.READ and not mount.read_only))
    ]


async def _mounts(
    tx: AsyncSession, actor: Actor, folder: VFolder, *, known: UserId | None = None
) -> Sequence[tuple[FolderMount, MountedIn]]:
    """known: a user whose ownership of sessions the actor may see."""
    whose = administers(actor, folder)
    seen = permitted(
        actor,
        "session.read",
        owner=FolderMount.owner_id,
        domain=_SESSIONS.c.domain_id,
        project=_SESSIONS.c.project_id,
    )
    rows = await tx.execute(
        select(FolderMount, _SESSIONS.c.name, User.email, seen.label("seen"))
        .join(_SESSIONS, and_(_SESSIONS.c.id == FolderMount.session_id))
        .join(User, User.id == FolderMount.owner_id)
        .where(FolderMount.folder_id == folder.id, FolderMount.released_at.is_(None))
        .order_by(FolderMount.session_id, FolderMount.position)
    )
    return [
        (
            mount,
            _shown(
                mount, name if seen else None, email if seen or whose or mount.owner_id == known else None
            ),
        )
        for mount, name, email, seen in rows
    ]


def _shown(mount: FolderMount, name: str | None, email: str | None) -> MountedIn:
    return MountedIn(
        session_id=mount.session_id,
        session_name=name,
        owner=UserRef(id=mount.owner_id, email=email) if email else None,
        path=mount.path,
        subpath=mount.subpath,
        read_only=mount.read_only,
    )


async def require_unmounted(
    tx: AsyncSession, actor: Actor, folder: VFolder, *, but_by: UserId | None = None
) -> None:
    """Check that no live session mounts the folder, except those of the permitted user.

    Raises: Conflict naming those sessions that the actor may see.
    """
    mounts = [shown for mount, shown in await _mounts(tx, actor, folder) if mount.owner_id != but_by]
    if not mounts:
        return
    names = sorted({mount.session_name for mount in mounts if mount.session_name})
    owners = sorted({mount.owner.email for mount in mounts if mount.owner})
    sessions = len({mount.session_id for mount in mounts})
    contacts = ", ".join(owners[:3]) or "their owners"
    them = "them" if sessions > 1 else "it"
    named = f": {', '.join(names[:3])}{', ...' if sessions > len(names[:3]) else ''}" if names else ""
    raise Conflict(
        "vfolder.mounted",
        f"{folder.name} is mounted in {sessions} live session{'s' if sessions > 1 else ''}{named}.",
        hint=f"End {them} first." if names else f"Ask {contacts} to end {them} first.",
        details={
            "sessions": [
                {
                    "id": mount.session_id,
                    "name": mount.session_name,
                    "owner": mount.owner.email if mount.owner else None,
                }
                for mount in mounts[:_NAMED]
            ],
            "live": sessions,
        },
    )
