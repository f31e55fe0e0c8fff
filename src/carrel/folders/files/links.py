"""Download links: sealed by the installation, valid for a minute, with the current permissions of their creator."""

import base64
import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson
from sqlalchemy import select

from carrel.core.errors import Invalid, NotFound, Unavailable
from carrel.core.ids import UserId
from carrel.folders.files.folder_access import OpenedFolder, open_folder
from carrel.folders.files.schemas import LinkView
from carrel.folders.files.services import FileServices
from carrel.permissions.decide import Actor
from carrel.signin.logins.service import allowed_from
from carrel.storage.listing import FileKind, entry
from carrel.storage.paths import names
from carrel.tables.folders import Permission
from carrel.tables.tenancy import Domain, User
from carrel.tenancy import service as tenancy

LASTS = timedelta(seconds=60)
_PURPOSE = "download link"
_LONGEST = 7000
_MOST_BYTES = 8 << 20


async def make(services: FileServices, actor: Actor, ref: str, paths: list[str]) -> LinkView:
    """A link to these files. Raises: NotFound, Forbidden, Conflict, Invalid."""
    for path in paths:
        names(path)
    opened = await open_folder(services, actor, ref, Permission.READ)
    ends = services.clock.now() + LASTS
    payload = orjson.dumps([opened.folder.id, actor.user_id, ends.isoformat(), paths])
    sealed = (
        base64.urlsafe_b64encode(services.seal.close(zlib.compress(payload), _PURPOSE)).decode().rstrip("=")
    )
    if len(sealed) > _LONGEST:
        raise Invalid(
            "file.too_many",
            f"A download link cannot name {len(paths)} items.",
            hint="Choose their directory, or fewer items.",
            field="paths",
        )
    return LinkView(url=f"/api/v1/downloads/{sealed}", expires_at=ends)


@dataclass(frozen=True)
class Linked:
    """The target of a link. is_file: a single file as it is; otherwise an archive of all files."""

    opened: OpenedFolder
    paths: list[str]
    is_file: bool


async def follow(services: FileServices, token: str, address: str) -> Linked:
    """The target of a link, if its creator may still access it. address: the client's.

    Raises: NotFound, Forbidden, Conflict.
    """
    folder, user, ends, paths = _opened(services, token)
    if datetime.fromisoformat(ends) <= services.clock.now():
        raise _over()
    actor = await _actor(services, UserId(user), address)
    opened = await open_folder(services, actor, folder, Permission.READ)
    is_file = len(paths) == 1 and bool(paths[0]) and not await _is_directory(opened, paths[0])
    return Linked(opened, paths, is_file)


def _opened(services: FileServices, token: str) -> tuple[str, str, str, list[str]]:
    try:
        sealed = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        packed = services.seal.open(sealed, _PURPOSE)
        payload = zlib.decompressobj().decompress(packed, _MOST_BYTES)
    except (ValueError, Unavailable):
        raise _over() from None
    folder, user, ends, paths = orjson.loads(payload)
    return folder, user, ends, paths


async def _actor(services: FileServices, user_id: UserId, address: str) -> Actor:
    async with services.database.transaction() as tx:
        known = select(User).join(Domain, Domain.id == User.domain_id)
        user = (await tx.execute(known.where(User.id == user_id, User.active, Domain.active))).scalar()
        if user is None or not allowed_from(user, address):
            raise _over()
        return await tenancy.actor_of(tx, user, credential="link", address=address)


async def _is_directory(opened: OpenedFolder, path: str) -> bool:
    target = await opened.call(entry, opened.root, path)
    return target.kind is FileKind.DIRECTORY


def _over() -> NotFound:
    return NotFound(
        "file.link_over", "The download link is invalid or expired.", hint="Start the download again."
    )
