"""Commands for files in a folder: list, find, print, create directories, move and delete."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator

from carrel_client.cli.asking import confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.folders import FolderPath, inside, of_one_folder, place, waiting_arguments
from carrel_client.cli.output import Column, print_line, print_table, report, say, write_bytes
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.people import each
from carrel_client.cli.times import local_time
from carrel_client.cli.vfolder_life import rename
from carrel_client.errors import CarrelError
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_PAGE = 1000
_BLOCK = 256 << 10
CLASHES = ("refuse", "replace", "rename")
_KINDS = {"directory": "cyan", "link": "dim", "other": "dim"}


def list_files(args: argparse.Namespace, context: Context) -> int:
    """Print `vfolder ls FOLDER:PATH`."""
    where = place(args.place) or FolderPath(args.place, "")
    limit = args.limit or sys.maxsize
    items: list[models.FileView] = []
    total = 0
    for page in _pages(context, where, sort=args.sort, recursive=args.recursive):
        items += page["items"][: limit - len(items)]
        total += page["total"]
        if len(items) >= limit:
            break
    answer = {"items": items, "path": where.inner, "total": total}
    context.answer(answer, lambda: _print(items))
    if len(items) < total and not context.structured:
        say(f"These are {len(items):,} of {total:,}; use --limit for more.")
    return 0


def mkdir_arguments(parser: Arguments) -> None:
    parser.add_argument("places", metavar="FOLDER:PATH", nargs="+", help="directories to create")
    parser.explain("Create directories, including missing parents.")
    parser.example("carrel vfolder mkdir data:runs/2026/first")


def mkdir(args: argparse.Namespace, context: Context) -> int:
    """Make directories."""

    def make(text: str) -> tuple[object, str]:
        where = inside(text)
        made = context.client.files.make_directory(where.folder, path=where.inner)
        return made, f"{where.folder}:{made['path']} created"

    return each(context, args.places, make)


def mv_arguments(parser: Arguments) -> None:
    parser.add_argument("sources", metavar="SOURCE", nargs="+", help="FOLDER:PATH; or a folder to rename")
    parser.add_argument("to", metavar="TO", help="FOLDER:PATH in the same folder; or the folder's new name")
    parser.add_argument("--clash", choices=CLASHES, default="refuse", help="what to do if the target exists")
    parser.explain(
        "Move files and directories within a folder: into TO if it is a directory or ends with a slash,\n"
        "otherwise to that path. A missing directory with a trailing slash is created. Without colons, rename\n"
        "a folder."
    )
    parser.example(
        "carrel vfolder mv data:a.csv data:b.csv data:tables/",
        "carrel vfolder mv data:draft.txt data:paper.txt",
        "carrel vfolder mv data data-2026",
    )


def mv(args: argparse.Namespace, context: Context) -> int:
    """Move files, or rename a folder."""
    if place(args.to) is None and not any(map(place, args.sources)):
        if len(args.sources) > 1:
            raise CarrelError("usage", "Only one folder can be renamed.", status=422)
        args.folder, args.name = args.sources[0], args.to
        return rename(args, context)
    folder, places = of_one_folder([*args.sources, args.to])
    *sources, to = places
    files = context.client.files
    paths = [source.inner for source in sources]
    if goes_into(context, to, several=len(paths) > 1):
        if to.path.endswith("/") and to.inner:
            files.make_directory(folder, path=to.inner)  # one that is there stays as it is
        done = files.move(folder, paths=paths, to=to.inner, clash=args.clash)
    else:
        done = files.move(folder, paths=paths, rename_to=to.inner, clash=args.clash)
    return _print_outcome(context, done, lambda path: f"{folder}:{path}")


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("places", metavar="FOLDER[:PATH]", nargs="+", help="files, or folders in the trash")
    yes_argument(parser)
    waiting_arguments(parser)
    parser.explain(
        "Delete files and directories of a folder recursively. Without a colon, permanently delete a trashed\n"
        "folder after you confirm its name. This cannot be undone."
    )
    parser.example(
        "carrel vfolder rm data:old.csv data:runs/2025",
        "carrel vfolder trash old-data && carrel vfolder rm old-data --yes",
    )


def rm(args: argparse.Namespace, context: Context) -> int:
    """Delete files, or permanently delete folders."""
    places = [text for text in args.places if place(text)]
    if not places:
        from carrel_client.cli.vfolder_life import remove_folders

        return remove_folders(context, args.places, yes=args.yes, wait=not args.no_wait)
    if len(places) < len(args.places):
        raise CarrelError(
            "usage",
            "Files and folders cannot be mixed.",
            status=422,
            hint="Specify one kind at a time; a file has a colon.",
        )
    folder, entries = of_one_folder(places)
    paths = [where.inner for where in entries]
    if "" in paths:
        raise CarrelError(
            "usage",
            f"{folder}: is the whole folder.",
            status=422,
            hint=f"Specify paths in it, or run: carrel vfolder trash {folder}",
        )
    shown = places[0] if len(places) == 1 else f"{len(places)} files and directories of {folder}"
    if not confirmed(f"Permanently delete {shown}?", yes=args.yes):
        return 1
    done = context.client.files.remove(folder, paths=paths)
    return _print_outcome(context, done, lambda path: f"{folder}:{path} deleted")


def find_arguments(parser: Arguments) -> None:
    parser.add_argument("place", metavar="FOLDER[:PATH]", help="directory to search")
    parser.add_argument("text", metavar="TEXT", help="part of a name, case-insensitive")
    parser.add_argument("--limit", type=reading(whole_number), default=200, help="maximum number")
    parser.explain("Find files and directories by part of their names.")
    parser.example("carrel vfolder find data .csv", "carrel vfolder find data:runs checkpoint --limit 1000")


def find(args: argparse.Namespace, context: Context) -> int:
    """Find files by name."""
    where = place(args.place) or FolderPath(args.place, "")
    response = context.client.files.search(where.folder, path=where.inner, q=args.text, limit=args.limit)

    def show() -> None:
        for entry in response["items"]:
            print_line(f"{where.folder}:{entry['path']}{_sign(entry)}")
        if not response["complete"]:
            say("The result is incomplete; search below a directory, or use --limit.")

    context.answer(response, show)
    return 0


def cat_arguments(parser: Arguments) -> None:
    parser.add_argument("places", metavar="FOLDER:PATH", nargs="+", help="files")
    parser.explain("Print the content of files.")
    parser.without_output()
    parser.example("carrel vfolder cat data:notes.md", "carrel vfolder cat data:table.csv | head")


def cat(args: argparse.Namespace, context: Context) -> int:
    """Print files."""
    for text in args.places:
        where = inside(text)
        with context.client.files.download(where.folder, path=where.inner) as answer:
            for block in answer.blocks(_BLOCK):
                write_bytes(block)
    return 0


def goes_into(context: Context, to: FolderPath, *, several: bool) -> bool:
    """True if a path names a target directory and not a new name."""
    if several or not to.inner or to.path.endswith("/"):
        return True
    try:
        return context.client.files.show(to.folder, path=to.inner)["kind"] == "directory"
    except CarrelError as error:
        if error.status != 404:
            raise
        return False


def _pages(context: Context, where: FolderPath, *, sort: Any, recursive: bool) -> Iterator[models.FileList]:
    """The entries of a directory, page by page; with `recursive` of the whole tree.

    Shape: `total` is 0 except on the first page of a directory.
    """
    waiting = [where.inner]
    while waiting:
        path = waiting.pop(0)
        cursor, first = None, True
        while first or cursor:
            page = context.client.files.list(where.folder, path=path, sort=sort, limit=_PAGE, cursor=cursor)
            yield page if first else {**page, "total": 0}
            cursor, first = page["next_cursor"], False
            if recursive:
                directories = (entry for entry in page["items"] if entry["kind"] == "directory")
                waiting += [entry["path"] for entry in directories if entry["readable"]]


def _print(items: Iterable[models.FileView]) -> None:
    columns = [Column("PATH"), Column("KIND", _KINDS)]
    columns += [Column(title) for title in ("SIZE", "MODE", "MODIFIED")]
    rows = [
        [
            entry["path"] + _sign(entry),
            entry["kind"],
            format_size(entry["size_bytes"]) if entry["size_bytes"] is not None else "",
            entry["mode"],
            local_time(entry["modified_at"]),
        ]
        for entry in items
    ]
    print_table(columns, rows)


def _sign(entry: models.FileView) -> str:
    return "/" if entry["kind"] == "directory" else ""


def _print_outcome(context: Context, done: models.FilesDone, sentence: Callable[[str], str]) -> int:
    def show() -> None:
        for path in done["paths"]:
            print_line(sentence(path))

    context.answer(done, show)
    for refused in done["refused"]:
        report(CarrelError(refused["code"], f"{refused['path']}: {refused['message']}", status=409))
    return 1 if done["refused"] else 0
