"""Folders for the tests of the API: made, filled behind its back, shared, and waited for."""

from pathlib import Path
from typing import Any

from databases import sql
from installation import Api, Caller
from people import eventually
from sqlalchemy import text

from carrel.storage.port import FolderLocation, StorageBackend


async def folder(caller: Caller, name: str = "data", **fields: object) -> dict[str, Any]:
    """A folder as the API shows it right after it was asked for."""
    answer = await caller.post("/vfolders", {"name": name, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()  # type: ignore[no-any-return]


async def second_host(api: Api, root: Path, name: str = "second") -> str:
    """Another storage host that everybody may use; its id."""
    admin = await api.as_("superadmin")
    made = await admin.post("/storage-hosts", {"name": name, "root": str(root)})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def backend(api: Api, host: str) -> StorageBackend:
    return (await api.services.storages.of(host)).backend  # type: ignore[no-any-return]


async def files_of(api: Api, folder: str) -> Path:
    """The directory on this machine that holds the files of a folder."""
    async with api.database.transaction() as tx:
        row = await tx.execute(text("SELECT host_id, scope FROM vfolders WHERE id = :id"), {"id": folder})
        host, scope = row.one()
    return (await backend(api, host)).files(FolderLocation(scope, folder))  # type: ignore[arg-type]


async def in_state(caller: Caller, ref: str, state: str) -> dict[str, Any]:
    """The folder once it is in that state."""

    async def reached() -> dict[str, Any] | None:
        shown = (await caller.get(f"/vfolders/{ref}")).json()
        return shown if shown.get("state") == state else None

    return await eventually(reached)


async def ended(caller: Caller, task: str) -> dict[str, Any]:
    """The task once it has ended."""

    async def reached() -> dict[str, Any] | None:
        shown = (await caller.get(f"/vfolder-tasks/{task}")).json()
        return shown if shown["ended_at"] else None

    return await eventually(reached)


async def invited(api: Api, owner: Caller, ref: str, name: str, permission: str = "ro") -> str:
    """The invitation of somebody of `People`."""
    body = {"users": [f"{name}@example.org"], "permission": permission}
    made = await owner.post(f"/vfolders/{ref}/shares", body)
    assert (made.status_code, made.json()["refused"]) == (200, []), made.text
    return str(made.json()["items"][0]["id"])


async def shared(api: Api, owner: Caller, ref: str, name: str, permission: str = "ro") -> str:
    """The share of a folder that somebody of `People` has taken from its owner."""
    share = await invited(api, owner, ref, name, permission)
    taken = await (await api.as_(name)).post(f"/invitations/{share}/accept")
    assert taken.status_code == 204, taken.text
    return share


async def mounted(api: Api, caller: Caller, folder: str, *, read_only: bool = False) -> str:
    """A live session of theirs that has the folder, written down as a session's start does; its id."""
    session = (await caller.start())["id"]
    await sql(
        api.database,
        "INSERT INTO vfolder_mounts (session_id, position, folder_id, folder_name, owner_id, path, read_only)"
        " SELECT :session, 9, id, name, :owner, '/home/work/x', :read_only FROM vfolders WHERE id = :folder",
        session=session,
        folder=folder,
        read_only=read_only,
        owner=caller.actor.user_id if caller.actor else "",
    )
    return str(session)


async def unmounted(api: Api, session: str) -> None:
    """The session has ended, as far as its folders go."""
    await sql(
        api.database, "UPDATE vfolder_mounts SET released_at = now() WHERE session_id = :id", id=session
    )


async def trail(api: Api, kind: str = "vfolder") -> list[tuple[str, str, dict[str, Any]]]:
    """What the audit trail says was done, in order: action, name, details."""
    async with api.database.transaction() as tx:
        rows = await tx.execute(
            text(
                "SELECT action, object_name, details FROM audit WHERE object_kind = :kind AND outcome = 'done'"
                " ORDER BY id"
            ),
            {"kind": kind},
        )
        return [(row[0], row[1], row[2]) for row in rows]
