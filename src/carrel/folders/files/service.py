"""Use cases of files.

Reading requires "ro"; creating, writing and moving "rw"; deleting, and moving over existing files, "rw-delete".
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from sqlalchemy import select

from carrel.core.errors import CarrelError, Invalid
from carrel.core.ids import new_id
from carrel.folders import access, quotas, tasks
from carrel.folders.files import file_views
from carrel.folders.files.folder_access import MOST_NOTED, OpenedFolder, note, open_folder, require_in_place
from carrel.folders.files.interrupted import ending, intent
from carrel.folders.files.schemas import (
    FileList,
    FileQuery,
    FilesCopy,
    FilesDone,
    FilesMove,
    FileView,
    FoundFiles,
)
from carrel.folders.files.services import FileServices
from carrel.folders.hosts.storages import refusal
from carrel.folders.schemas import TaskView
from carrel.permissions.decide import Actor
from carrel.storage import listing as looking
from carrel.storage import tree
from carrel.storage.intents import Intent
from carrel.storage.listing import FileKind
from carrel.storage.paths import joined, names, split
from carrel.storage.port import StorageError
from carrel.storage.threads import translated
from carrel.storage.tree import Clash
from carrel.tables.folders import FolderTask, Permission, TaskKind

_Done = tuple[list[str], list[tuple[str, CarrelError]]]


async def listing(services: FileServices, actor: Actor, ref: str, query: FileQuery) -> FileList:
    """A page of a directory. Raises: NotFound, Forbidden, Conflict, Invalid."""
    order = file_views.order(query.sort, query.cursor)
    only = FileKind.DIRECTORY if query.kind else None
    opened = await open_folder(services, actor, ref, Permission.READ)
    page = await opened.call(_page, opened.root, query.path, order, query.limit, only)
    return FileList(
        items=[file_views.view(entry) for entry in page.entries],
        path=query.path,
        total=page.total,
        permission=opened.permission,
        next_cursor=file_views.cursor(query.sort, page.last),
    )


async def show(services: FileServices, actor: Actor, ref: str, path: str) -> FileView:
    """One file or directory. Raises: NotFound, Forbidden, Conflict, Invalid."""
    opened = await open_folder(services, actor, ref, Permission.READ)
    return file_views.view(await opened.call(looking.entry, opened.root, path))


async def search(
    services: FileServices, actor: Actor, ref: str, path: str, part: str, limit: int
) -> FoundFiles:
    """Entries whose name contains the text. Raises: NotFound, Forbidden, Conflict, Invalid."""
    opened = await open_folder(services, actor, ref, Permission.READ)
    result = await opened.call(looking.search, opened.root, path, part, limit)
    return FoundFiles(items=[file_views.view(entry) for entry in result.entries], complete=result.complete)


async def make_directory(services: FileServices, actor: Actor, ref: str, path: str) -> FileView:
    """Create a directory with its parents. Twice: the existing one. Raises: as `show`."""
    opened = await open_folder(services, actor, ref, Permission.WRITE)
    about = intent(services.clock, opened, "file.make_directory")
    await opened.call(tree.make_directory, opened.root, path, about)
    await _noted(services, opened, about, "file.make_directory", [path])
    return file_views.view(await opened.call(looking.entry, opened.root, path))


async def move(services: FileServices, actor: Actor, ref: str, request: FilesMove) -> FilesDone:
    """Move as many as possible; report a reason for each of the others.

    Raises: NotFound, Forbidden, Conflict, Invalid; the first refusal if nothing could be moved.
    """
    moves = _moves(request)
    replaces = request.clash is Clash.REPLACE
    opened = await open_folder(services, actor, ref, Permission.DELETE if replaces else Permission.WRITE)
    root, clash, known = opened.root, request.clash, {"from": list(moves)[:MOST_NOTED]}
    about = intent(services.clock, opened, "file.move", known)

    def one(path: str) -> str:
        return tree.move(root, path, moves[path], clash)

    def all_() -> _Done:
        there = [(path, to, tree.inode(root, path)) for path, to in moves.items()]
        with about.about("move", moves=[each for each in there if each[2] is not None]):
            return _each(opened.storage.name, one, list(moves), about)

    done, refused = await opened.call(all_)
    if done:
        await _noted(services, opened, about, "file.move", done, **known)
    return file_views.outcome(done, refused)


async def copy(services: FileServices, actor: Actor, ref: str, request: FilesCopy) -> TaskView:
    """Start a task that copies files. Raises: NotFound, Forbidden, Conflict, Invalid, Refused."""
    source = await open_folder(services, actor, ref, Permission.READ)
    target = await open_folder(services, actor, request.folder or source.folder.id, Permission.WRITE)
    to, name = _goal(request)
    size = await source.call(_size, source.root, request.paths)
    arguments = {
        "paths": list(request.paths),
        "folder": target.folder.id,
        "to": to,
        "name": name,
        "clash": request.clash,
    }
    async with services.database.transaction() as tx:
        held = await access.find(tx, actor, source.folder.id, "vfolder.use")
        access.require(held, Permission.READ)
        await quotas.require_room(tx, target.folder, size)
        task = await tasks.enqueue(tx, services.clock, actor, TaskKind.COPY, held.folder, arguments)
        note(tx, source, "file.copy", request.paths, to=request.rename_to or to, folder=target.folder.id)
        return TaskView.model_validate(task, from_attributes=True)


async def remove(services: FileServices, actor: Actor, ref: str, paths: Sequence[str]) -> FilesDone:
    """Delete as many as possible; report a reason for each of the others.

    Raises: NotFound, Forbidden, Conflict; the first refusal if nothing could be deleted.
    """
    opened = await open_folder(services, actor, ref, Permission.DELETE)
    root, stage, entry = opened.root, opened.stage, f"{tree.REMOVED}{new_id()}"
    about, unique = intent(services.clock, opened, "file.remove"), list(dict.fromkeys(paths))

    def one(path: str) -> str:
        tree.remove(root, stage, path, entry)
        return path

    def all_() -> _Done:
        there = [(path, tree.inode(root, path)) for path in unique]
        with about.about("remove", paths=[each for each in there if each[1] is not None]):
            return _each(opened.storage.name, one, unique, about)

    done, refused = await opened.call(all_)
    if done:
        async with ending(opened, about):
            await _removed(services, opened, done)
    return file_views.outcome(done, refused)


async def _removed(services: FileServices, opened: OpenedFolder, paths: Sequence[str]) -> None:
    # This also removes leftovers of an earlier request that was killed.
    entries = await opened.call(tree.removed, opened.stage)
    folder = opened.folder
    async with services.database.transaction() as tx:
        await require_in_place(tx, opened)
        note(tx, opened, "file.remove", paths)
        if entries:
            known = FolderTask.arguments["entry"].astext
            waiting = select(known).where(
                FolderTask.folder_id == folder.id,
                FolderTask.kind == TaskKind.CLEAN,
                FolderTask.ended_at.is_(None),
            )
            for entry in sorted(set(entries) - set((await tx.execute(waiting)).scalars())):
                await tasks.enqueue(
                    tx, services.clock, opened.actor, TaskKind.CLEAN, folder, {"entry": entry}
                )
    services.file_changes.note(folder)


async def _noted(
    services: FileServices,
    opened: OpenedFolder,
    about: Intent,
    action: str,
    paths: Sequence[str],
    **details: object,
) -> None:
    async with ending(opened, about), services.database.transaction() as tx:
        await require_in_place(tx, opened)
        note(tx, opened, action, paths, **details)
    services.file_changes.note(opened.folder)


def _page(
    root: Path, path: str, order: looking.ListingOrder, limit: int, only: FileKind | None
) -> looking.ListingPage:
    return looking.page(root, path, order, limit, only=only)


def _moves(request: FilesMove) -> dict[str, str]:
    """Pairs of source and target."""
    if (request.to is None) is (request.rename_to is None):
        raise Invalid(
            "invalid.request", "Specify either `to`, a directory, or `rename_to`, a new path.", field="to"
        )
    if request.rename_to is not None:
        if len(request.paths) != 1:
            raise Invalid("invalid.request", "`rename_to` needs exactly one path.", field="paths")
        return {request.paths[0]: request.rename_to}
    to = request.to or ""
    return {path: joined(to, split(path)[1]) for path in request.paths}


def _goal(request: FilesCopy) -> tuple[str, str | None]:
    """The target directory, and the name of the copy if specified. Raises: Invalid."""
    if request.rename_to is None:
        names(request.to)
        return request.to, None
    if len(request.paths) != 1 or request.to:
        raise Invalid(
            "invalid.request", "`rename_to` needs exactly one path and replaces `to`.", field="rename_to"
        )
    return split(request.rename_to)


def _each(host: str, work: Callable[[str], str], paths: Sequence[str], about: Intent) -> _Done:
    """Apply the operation to each path. A host failure ends it with a partial outcome.

    Raises: OSError if nothing was done.
    """
    done: list[str] = []
    refused: list[tuple[str, CarrelError]] = []
    for number, path in enumerate(paths):
        try:
            done.append(work(path))
            about.happened()
        except CarrelError as error:
            refused.append((path, error))
        except OSError as error:
            fault = translated(error, host)
            if not done or not isinstance(fault, StorageError):
                raise
            refused += [(each, refusal(fault)) for each in paths[number:]]
            break
    about.settle([(path, None) for path in done])
    return done, refused


def _size(root: Path, paths: Sequence[str]) -> int:
    """Total size of the files among these paths. Raises: NotFound, Conflict, Invalid when one is missing."""
    size = 0
    for path in paths:
        split(path)
        entry = looking.entry(root, path)
        size += entry.size_bytes if entry.kind is FileKind.FILE else 0
    return size
