"""Addresses for one download: sealed by the installation, for a minute, and no more than their maker may fetch then."""

import base64
import zlib
from datetime import datetime, timedelta

import orjson
from fastapi import Request, Response
from sqlalchemy import select

from carrel.core.errors import Invalid, NotFound, Unavailable
from carrel.core.ids import UserId
from carrel.folders.files import downloads
from carrel.folders.files.folder_access import Reached, reach
from carrel.folders.files.schemas import LinkView
from carrel.folders.files.services import FileServices
from carrel.http.auth import by_address, client_address
from carrel.http.services import services_of
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


async def make(request: Request, actor: Actor, ref: str, paths: list[str]) -> LinkView:
    """An address for these things. Raises: NotFound, Forbidden, Conflict, Invalid."""
    services = services_of(request, FileServices)
    for path in paths:
        names(path)
    reached = await reach(services, actor, ref, Permission.READ)
    ends = services.clock.now() + LASTS
    said = orjson.dumps([reached.folder.id, actor.user_id, ends.isoformat(), paths])
    sealed = base64.urlsafe_b64encode(services.seal.close(zlib.compress(said), _PURPOSE)).decode().rstrip("=")
    if len(sealed) > _LONGEST:
        raise Invalid(
            "file.too_many",
            f"An address cannot name {len(paths)} things.",
            hint="Choose the directory that they are in, or fewer at once.",
            field="paths",
        )
    return LinkView(url=f"/api/v1/downloads/{sealed}", expires_at=ends)


async def follow(request: Request, token: str) -> Response:
    """What the address is for, as far as its maker may have it. Raises: NotFound, Forbidden, Conflict."""
    await by_address(request)
    services = services_of(request, FileServices)
    folder, user, ends, paths = _opened(request, token)
    if datetime.fromisoformat(ends) <= services.clock.now():
        raise _over()
    actor = await _actor(request, UserId(user))
    reached = await reach(services, actor, folder, Permission.READ)
    if len(paths) == 1 and paths[0] and not await _is_directory(reached, paths[0]):
        return await downloads.sent(request, reached, paths[0])
    return await downloads.zipped(request, reached, paths)


def _opened(request: Request, token: str) -> tuple[str, str, str, list[str]]:
    try:
        sealed = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        packed = services_of(request, FileServices).seal.open(sealed, _PURPOSE)
        said = zlib.decompressobj().decompress(packed, _MOST_BYTES)
    except (ValueError, Unavailable):
        raise _over() from None
    folder, user, ends, paths = orjson.loads(said)
    return folder, user, ends, paths


async def _actor(request: Request, user_id: UserId) -> Actor:
    async with services_of(request, FileServices).database.transaction() as tx:
        address = client_address(request)
        known = select(User).join(Domain, Domain.id == User.domain_id)
        user = (await tx.execute(known.where(User.id == user_id, User.active, Domain.active))).scalar()
        if user is None or not allowed_from(user, address):
            raise _over()
        return await tenancy.actor_of(tx, user, credential="link", address=address)


async def _is_directory(reached: Reached, path: str) -> bool:
    found = await reached.call(entry, reached.root, path)
    return found.kind is FileKind.DIRECTORY


def _over() -> NotFound:
    return NotFound(
        "file.link_over", "This address is over, or none of ours.", hint="Begin the download again."
    )
