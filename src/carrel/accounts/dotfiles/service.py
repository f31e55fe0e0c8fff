"""Use cases of dotfiles."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Invalid, NotFound
from carrel.core.ids import UserId
from carrel.db.encryption import SecretBox
from carrel.permissions.decide import Actor
from carrel.tables.dotfiles import Dotfile

MAX_FILES = 50
MAX_BYTES = 65_536


async def list_own(tx: AsyncSession, actor: Actor) -> list[Dotfile]:
    """The actor's dotfiles by path."""
    own = select(Dotfile).where(Dotfile.user_id == actor.user_id).order_by(Dotfile.path)
    return list((await tx.execute(own)).scalars())


async def show(tx: AsyncSession, seal: SecretBox, actor: Actor, path: str) -> tuple[Dotfile, str]:
    """One of the actor's dotfiles with its content. Raises: NotFound."""
    file = await tx.get(Dotfile, (actor.user_id, path))
    if file is None:
        raise _not_found(path)
    return file, opened(seal, [file])[path].decode()


async def put(tx: AsyncSession, clock: Clock, seal: SecretBox, actor: Actor, path: str, content: str) -> None:
    """Create or replace a dotfile. Raises: Invalid if it is too large; Conflict if there are too many, or a file would
    be in the place of a directory.
    """
    if len(content.encode()) > MAX_BYTES:
        raise Invalid("dotfile.too_large", f"A dotfile has at most {MAX_BYTES} bytes.", field="content")
    # One after the other, so that two at once do not both take the last place.
    await tx.execute(select(func.pg_advisory_xact_lock(func.hashtext(f"dotfiles:{actor.user_id}"))))
    others = [one.path for one in await list_own(tx, actor) if one.path != path]
    if len(others) >= MAX_FILES:
        raise Conflict(
            "dotfile.too_many", f"The limit is {MAX_FILES} dotfiles per user.", hint="Remove one first."
        )
    if nested := next((one for one in others if _nested(one, path) or _nested(path, one)), None):
        raise Conflict(
            "dotfile.nested", f"{path} and {nested} cannot both exist: one is a directory.", field="path"
        )
    row = {
        "content": seal.close(content.encode(), _purpose(actor.user_id)),
        "size_bytes": len(content.encode()),
        "updated_at": clock.now(),
    }
    await tx.execute(
        insert(Dotfile)
        .values(user_id=actor.user_id, path=path, **row)
        .on_conflict_do_update(index_elements=[Dotfile.user_id, Dotfile.path], set_=row)
    )
    details = {"after": {"path": path, "size_bytes": row["size_bytes"]}}
    audit.record(tx, actor, "dotfile.update", actor.user_id, name=path, details=details)


async def remove(tx: AsyncSession, actor: Actor, path: str) -> None:
    """Delete one of the actor's dotfiles. Raises: NotFound."""
    gone = await tx.execute(
        delete(Dotfile).where(Dotfile.user_id == actor.user_id, Dotfile.path == path).returning(Dotfile.path)
    )
    if gone.scalar_one_or_none() is None:
        raise _not_found(path)
    audit.record(tx, actor, "dotfile.update", actor.user_id, name=path, details={"before": {"path": path}})


async def of_users(tx: AsyncSession, users: Iterable[UserId]) -> Mapping[UserId, Sequence[Dotfile]]:
    """The users' dotfiles. One query."""
    rows = await tx.execute(select(Dotfile).where(Dotfile.user_id.in_(set(users))))
    files: defaultdict[UserId, list[Dotfile]] = defaultdict(list)
    for row in rows.scalars():
        files[row.user_id].append(row)
    return files


def opened(seal: SecretBox, files: Iterable[Dotfile]) -> dict[str, bytes]:
    """Their contents by path."""
    return {one.path: seal.open(one.content, _purpose(one.user_id)) for one in files}


def _nested(inner: str, outer: str) -> bool:
    return inner.startswith(f"{outer}/")


def _purpose(user: UserId) -> str:
    return f"dotfile:{user}"


def _not_found(path: str) -> NotFound:
    return NotFound("dotfile.not_found", f"You have no dotfile {path}.", hint="See `carrel dotfile ls`.")
