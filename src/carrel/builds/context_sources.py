"""Contexts of builds that the server reads itself: of Git repositories and of folders."""

import asyncio

from carrel.builds import contexts, folder_contexts, git_fetch, service
from carrel.builds.git_fetch import GitSecret
from carrel.builds.schemas import BuildContextView, FolderContext, GitContext
from carrel.builds.services import BuildServices
from carrel.core.errors import Invalid
from carrel.folders.files.folder_access import LONG_S, note, open_folder
from carrel.imports import service as imports
from carrel.imports import sources
from carrel.imports.schemas import ImportCredentials
from carrel.imports.sources import SourceKind
from carrel.permissions.decide import Actor
from carrel.tables.folders import Permission


async def of_repository(services: BuildServices, actor: Actor, request: GitContext) -> BuildContextView:
    """The files of a Git repository, kept for a build.

    Raises: Invalid, Forbidden, Refused, TooLarge; Conflict if the server has no git; TooMany, Unavailable.
    """
    secret = GitSecret(token=request.token, key=request.key)
    source = imports.with_credentials(
        sources.read(request.url, kind=SourceKind.GIT, ref=request.ref, path=request.path),
        _credentials(secret),
    )
    async with services.database.transaction() as tx:
        await service.require_context(tx, actor)
        named = await imports.require_permitted(tx, source)
    with services.fetches.open(actor.user_id):
        fetched = await git_fetch.fetch(source, secret, private=named)
        packed = await asyncio.to_thread(contexts.pack, fetched.content)
    origin = f"{source.url}@{fetched.commit}" + (f" {source.path}" if source.path else "")
    async with services.database.transaction() as tx:
        return await service.keep_context(tx, services.clock, actor, packed, source=origin)


async def of_folder(services: BuildServices, actor: Actor, request: FolderContext) -> BuildContextView:
    """The files of a directory that the actor may read, kept for a build.

    Raises: NotFound, Conflict, Invalid, Forbidden, Refused, TooLarge, TooMany, Unavailable.
    """
    async with services.database.transaction() as tx:
        await service.require_context(tx, actor)
    opened = await open_folder(services, actor, request.folder, Permission.READ)
    with services.fetches.open(actor.user_id):
        content = await opened.call(folder_contexts.read, opened.root, request.path, deadline_s=LONG_S)
        packed = await asyncio.to_thread(contexts.pack, content)
    origin = f"vfolder {opened.folder.name}" + (f":{request.path}" if request.path else "")
    async with services.database.transaction() as tx:
        note(tx, opened, "file.download", [request.path], archive=True)
        return await service.keep_context(tx, services.clock, actor, packed, source=origin)


def _credentials(secret: GitSecret) -> ImportCredentials:
    """Raises: Invalid."""
    if secret.token and secret.key:
        raise Invalid("build.two_secrets", "A repository is opened by a token or by a key.", field="key")
    if secret.key:
        return ImportCredentials.KEY
    return ImportCredentials.TOKEN if secret.token else ImportCredentials.NONE
