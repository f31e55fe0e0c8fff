"""Commands that rename, clone, move, transfer, trash and restore folders, and their tasks."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import agreed, require_terminal, retyped, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.folders import amount, until_done, waiting_arguments
from carrel_client.cli.output import Column, print_line, print_table
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import each, given, list_arguments, listed
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_STATES = {"done": "green", "failed": "red", "cancelled": "dim"}


def rename_arguments(parser: Arguments) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="its name or id")
    parser.add_argument("name", metavar="NAME", help="the new name")
    parser.example("carrel vfolder rename data data-2026")


def rename(args: argparse.Namespace, context: Context) -> int:
    """Rename a folder."""
    changed = context.client.vfolders.update(args.folder, name=args.name)
    context.answer(changed, lambda: print_line(f"{args.folder} is now {changed['name']}"))
    return 0


def clone_arguments(parser: Arguments) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="its name or id")
    parser.add_argument("name", metavar="NAME", help="the name of the copy")
    parser.add_argument("--host", help="storage host of the copy (default: the same)")
    whose = parser.add_mutually_exclusive_group()
    whose.add_argument("--owner", metavar="E-MAIL", help="owner of the copy, within their limits")
    whose.add_argument("--project", help="owning project, by name or id (default: yourself)")
    waiting_arguments(parser)
    parser.explain("Clone a folder that you can read.")
    parser.example(
        "carrel vfolder clone corpus my-corpus",
        "carrel vfolder clone data data-2 --host fast --no-wait",
        "carrel vfolder clone results results --owner ada@example.org",
    )


def clone(args: argparse.Namespace, context: Context) -> int:
    """Clone a folder."""
    place = given(args, "host", "owner", "project")
    return clone_as(context, args.folder, args.name, wait=not args.no_wait, **place)


def clone_as(context: Context, folder: str, name: str, *, wait: bool, **place: str) -> int:
    """Clone with parsed arguments."""
    made = context.client.vfolders.clone(folder, name=name, **place)
    if wait and made["task"]:
        until_done(context, made["task"])
        made["state"], made["task"] = "READY", None  # another owner's folder may not be visible to us
    doing = "is a copy of" if made["state"] == "READY" else "fills with a copy of"
    context.answer(made, lambda: print_line(f"{made['name']} {doing} {folder} ({made['id']})"))
    return 0


def move_arguments(parser: Arguments) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="its name or id")
    parser.add_argument("host", metavar="HOST", help="the storage host to move it to, by name or id")
    waiting_arguments(parser)
    parser.explain(
        "Move a folder to another storage host. It is read-only meanwhile and must not be mounted in a live\n"
        "session. To rename it use carrel vfolder rename; to transfer it use carrel vfolder hand-over."
    )
    parser.example("carrel vfolder move corpus archive")


def move(args: argparse.Namespace, context: Context) -> int:
    """Move a folder to another storage host."""
    folder = context.client.vfolders.move(args.folder, host=args.host)
    if not args.no_wait:
        folder = _settled(context, folder)
    doing = "moves" if folder["state"] == "MOVING" else "has moved"
    context.answer(folder, lambda: print_line(f"{folder['name']} {doing} to {args.host}"))
    return 0


def hand_over_arguments(parser: Arguments) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="its name or id")
    whose = parser.add_mutually_exclusive_group(required=True)
    whose.add_argument("--user", metavar="E-MAIL", help="the new owner, a user")
    whose.add_argument("--project", help="the new owning project, by name or id")
    yes_argument(parser)
    parser.explain(
        "Transfer a folder to another owner, within their limits. It must not be mounted in a live session."
    )
    parser.example("carrel vfolder hand-over data --user ada@example.org")


def hand_over(args: argparse.Namespace, context: Context) -> int:
    """Transfer a folder to another owner."""
    to = args.user or args.project
    if not agreed(args, f"Transfer {{}} to {to}?", "folder", [args.folder]):
        return 1
    folder = context.client.vfolders.hand_over(args.folder, **given(args, "user", "project"))
    context.answer(folder, lambda: print_line(f"{folder['name']} now belongs to {to}"))
    return 0


def trash_arguments(parser: Arguments) -> None:
    parser.add_argument("folders", metavar="FOLDER", nargs="+", help="names or ids")
    yes_argument(parser)
    parser.explain("Move folders to the trash, where they can be restored until they expire.")
    parser.example("carrel vfolder trash old-data", "carrel vfolder ls --trash")


def trash(args: argparse.Namespace, context: Context) -> int:
    """Move folders to the trash."""
    if not agreed(args, "Move {} to the trash?", "folder", args.folders):
        return 1

    def put(ref: str) -> tuple[object, str]:
        folder = context.client.vfolders.trash(ref)
        until = f" until {local_time(folder['expires_at'])}" if folder["expires_at"] else ""
        return folder, f"{folder['name']} is in the trash{until}; carrel vfolder restore {folder['id']}"

    return each(context, args.folders, put)


def restore_arguments(parser: Arguments) -> None:
    parser.add_argument("trashed", metavar="FOLDER", nargs="+", help="ids, or unique names")
    parser.explain("Restore folders from the trash.")
    parser.example("carrel vfolder restore old-data")


def restore(args: argparse.Namespace, context: Context) -> int:
    """Restore folders from the trash."""

    def take(ref: str) -> tuple[object, str]:
        folder = context.client.vfolders.restore(ref)
        return folder, f"{folder['name']} restored"

    return each(context, args.trashed, take)


def remove_folders(context: Context, refs: list[str], *, yes: bool, wait: bool) -> int:
    """Permanently delete trashed folders, after each name is confirmed."""
    if not yes:
        require_terminal()

    def remove(ref: str) -> tuple[object, str]:
        folder = context.client.vfolders.show(ref)
        if folder["state"] not in ("TRASHED", "FAILED", "DELETING"):
            raise CarrelError(
                "client.not_in_trash",
                f"{folder['name']} is not in the trash; only trashed folders can be permanently deleted.",
                status=409,
                hint=f"carrel vfolder trash {ref}",
            )
        if not retyped(folder["name"], yes=yes):
            raise CarrelError("client.unconfirmed", f"{folder['name']} was not deleted.", status=409)
        task = context.client.vfolders.remove(folder["id"], name=folder["name"])
        if wait:
            task = until_done(context, task)
        doing = "was permanently deleted" if task["ended_at"] else "is being permanently deleted"
        return task, f"{folder['name']} {doing}"

    return each(context, refs, remove)


def tasks_arguments(parser: Arguments) -> None:
    parser.add_argument("--open", action="store_true", default=None, help="only unfinished tasks")
    parser.add_argument("--folder", help="only those of one folder, by name or id")
    list_arguments(parser, "created_at")
    parser.watches("vfolder_task")
    parser.explain("List your folder tasks, newest first: copies, moves, deletions.")
    parser.example("carrel vfolder tasks --open")


def tasks(args: argparse.Namespace, context: Context) -> int:
    """List tasks."""
    if args.search:
        raise CarrelError("usage", "Tasks cannot be searched.", status=422, hint="Give --folder.")

    def page(q: str | None, **filters: object) -> models.TaskList:
        return context.client.vfolder_tasks.list(open=args.open, folder=args.folder, **filters)  # type: ignore[arg-type]

    response = listed(args, page)
    columns = [Column("ID"), Column("KIND"), Column("FOLDER"), Column("STATE", _STATES, otherwise="yellow")]
    columns += [Column(title) for title in ("DONE", "SINCE", "PROBLEM")]
    rows = [
        [
            task["id"],
            task["kind"],
            task["folder_name"],
            task["state"],
            amount(task),
            local_time(task["created_at"]),
            task["problem"] or "",
        ]
        for task in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def cancel_arguments(parser: Arguments) -> None:
    parser.add_argument("tasks", metavar="TASK", nargs="+", help="ids, see carrel vfolder tasks")
    yes_argument(parser)
    parser.explain("Cancel tasks and remove their partial results. Deletions cannot be cancelled.")
    parser.example("carrel vfolder cancel t7x2k9m4qp")


def cancel(args: argparse.Namespace, context: Context) -> int:
    """Cancel tasks."""
    if not agreed(args, "Cancel {}?", "task", args.tasks):
        return 1

    def end(ref: str) -> tuple[object, str]:
        task = context.client.vfolder_tasks.cancel(ref)
        ending = "is cancelled" if task["state"] == "cancelled" else "is being cancelled"
        return (
            task,
            f"{task['kind']} of {task['folder_name']} {ending if not task['ended_at'] else task['state']}",
        )

    return each(context, args.tasks, end)


def _settled(context: Context, folder: models.VFolderView) -> models.VFolderView:
    """Wait for the folder's task; returns the folder."""
    if folder["task"]:
        until_done(context, folder["task"])
    return context.client.vfolders.show(folder["id"])
