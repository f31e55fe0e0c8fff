"""Commands for folders: list, create, change, quotas."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, counted, print_facts, print_line, print_table, say
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import given, list_arguments, listed
from carrel_client.cli.times import local_time
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

PERMISSIONS = ("ro", "rw", "rw-delete")
MODES = ("general", "model", "data")
_STATES = {"READY": "green", "FAILED": "red", "TRASHED": "dim", "DELETING": "dim"}
_LEVELS = {"adequate": "green", "caution": "yellow", "insufficient": "red"}


def ls_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "place", metavar="FOLDER:PATH", nargs="?", help="list these files (default: list the folders)"
    )
    parser.add_argument(
        "--of",
        choices=("me", "mine", "project", "shared", "all"),
        help="which folders: usable by you (me), your own, your projects', shared with you, all you may see",
    )
    parser.add_argument("--trash", action="store_true", help="only trashed folders")
    parser.add_argument("--domain", help="only folders of this domain, by name or id")
    parser.add_argument("--project", help="only folders of this project, by name or id")
    parser.add_argument("--host", help="only folders on this storage host, by name or id")
    parser.add_argument("--usage-mode", choices=MODES, help="only this usage mode")
    parser.add_argument("-R", "--recursive", action="store_true", help="with a path: include subdirectories")
    list_arguments(parser, "name", "created_at, used_bytes, trashed_at", "of files name, size, modified")
    parser.watches("vfolder", "files", "vfolder_task")
    parser.explain("List folders; with a folder, the files in it, directories first.")
    parser.example(
        "carrel vfolder ls",
        "carrel vfolder ls --of shared --sort=-used_bytes",
        "carrel vfolder ls data:train",
        "carrel vfolder ls -o json | jq -r '.items[].name'",
    )


def ls(args: argparse.Namespace, context: Context) -> int:
    """List folders, or the files of one."""
    if args.place is not None:
        from carrel_client.cli.vfolder_files import list_files

        return list_files(args, context)
    page = partial(
        context.client.vfolders.list,
        of=args.of,
        state="trash" if args.trash else None,
        domain=args.domain,
        project=args.project,
        host=args.host,
        usage_mode=args.usage_mode,
    )
    response = listed(args, page)
    titles = ("PERMISSION", "OWNER", "HOST", "SIZE", "FILES", "SHARED", "MOUNTED")
    columns = [Column("NAME"), Column("STATE", _STATES, otherwise="yellow"), *map(Column, titles)]
    rows = [
        [
            folder["name"],
            folder["state"],
            folder["my_permission"] or "-",
            owner_text(folder),
            folder["host"]["name"],
            format_size(folder["used_bytes"]),
            str(folder["files"]),
            str(folder["shared"] or ""),
            str(folder["mounted"] or ""),
        ]
        for folder in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="its name or id")
    parser.example("carrel vfolder show data", "carrel vfolder show data -o json | jq .used_bytes")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one folder."""
    folder = context.client.vfolders.show(args.folder)
    context.answer(folder, lambda: print_folder(folder))
    return 0


def create_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        help="letters, digits, - _ and .; a leading dot mounts it in all your sessions",
    )
    parser.add_argument("--host", help="storage host (default: the one with the most free space)")
    parser.add_argument("--project", help="make it a project's, by name or id (default: your own)")
    _settings(parser)
    parser.example(
        "carrel vfolder create data",
        "carrel vfolder create corpus --project vision --permission ro --usage-mode data",
        "carrel vfolder create .ssh",
    )


def create(args: argparse.Namespace, context: Context) -> int:
    """Create a folder."""
    made = context.client.vfolders.create(
        name=args.name, **given(args, "host", "project", "usage_mode", "permission")
    )
    context.answer(
        made, lambda: print_line(f"{made['name']} created on {made['host']['name']} ({made['id']})")
    )
    return 0


def update_arguments(parser: Arguments) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="its name or id")
    _settings(parser)
    parser.explain("Change the usage mode of a folder, or the maximum permission of its project's members.")
    parser.example("carrel vfolder update corpus --permission rw --usage-mode model")


def update(args: argparse.Namespace, context: Context) -> int:
    """Change a folder."""
    changed = context.client.vfolders.update(args.folder, **given(args, "usage_mode", "permission"))
    context.answer(changed, lambda: print_folder(changed))
    return 0


def mount_info_arguments(parser: Arguments) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="its name or id")
    parser.explain(
        "Show which live sessions mount a folder, where and how. Sessions that you may not see are anonymous."
    )
    parser.example("carrel vfolder mount-info data")


def mount_info(args: argparse.Namespace, context: Context) -> int:
    """Show where a folder is mounted."""
    response = context.client.vfolders.mounts(args.folder)
    context.answer(response, lambda: print_mounts(response["items"]))
    return 0


def quota_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "--all", dest="of", action="store_const", const="all", help="all quotas that you may see"
    )
    parser.add_argument("--kind", choices=("user", "project"), help="only users, or only projects")
    list_arguments(parser, "label", "used_bytes")
    parser.watches("quota", "vfolder", "files")
    parser.explain("Show the folder usage and quotas of you and your projects.")
    parser.example("carrel vfolder quota", "carrel vfolder quota --all --sort=-used_bytes")


def quota(args: argparse.Namespace, context: Context) -> int:
    """Show quotas and usage."""
    response = listed(args, partial(context.client.quotas.list, of=args.of, kind=args.kind))
    columns = [Column(title) for title in ("KIND", "WHO", "FOLDERS", "USED", "OF")]
    columns += [Column("LEVEL", _LEVELS), Column("MEASURED")]
    rows = [
        [
            each["kind"],
            each["label"],
            f"{each['folders']} of {_limit(each['most_folders'])}",
            format_size(each["used_bytes"]),
            "no limit" if each["most_bytes"] is None else format_size(each["most_bytes"]),
            each["level"],
            local_time(each["measured_at"]),
        ]
        for each in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def print_folder(folder: models.VFolderView) -> None:
    """Print the details of a folder."""
    print_facts(
        [
            ("name", folder["name"]),
            ("id", folder["id"]),
            ("state", folder["state"]),
            ("reason", folder["reason"] or ""),
            ("owner", owner_text(folder)),
            ("host", folder["host"]["name"]),
            ("for", folder["usage_mode"]),
            ("you may", folder["my_permission"] or "only administer it"),
            ("members may", folder["permission"] if folder["project"] else ""),
            ("mounted", "automatically in every session of its owner" if folder["automatic"] else ""),
            ("size", f"{format_size(folder['used_bytes'])} in {counted(folder['files'], 'file')}"),
            ("measured", local_time(folder["measured_at"])),
            ("shared with", str(folder["shared"] or "")),
            ("in sessions", str(folder["mounted"] or "")),
            ("created", local_time(folder["created_at"])),
            ("in the trash", local_time(folder["trashed_at"])),
            ("permanently deleted", local_time(folder["expires_at"])),
        ]
    )


def print_mounts(mounts: list[models.MountedIn]) -> None:
    """Print live sessions and their mount paths."""
    columns = [Column(title) for title in ("SESSION", "NAME", "OWNER", "PATH", "OF IT", "HOW")]
    rows = [
        [
            mount["session_id"],
            mount["session_name"] or "-",
            mount["owner"]["email"] if mount["owner"] else "-",
            mount["path"],
            mount["subpath"] or "all",
            "read-only" if mount["read_only"] else "read-write",
        ]
        for mount in mounts
    ]
    print_table(columns, rows)


def still_mounted(mounts: list[models.MountedIn]) -> None:
    """Warn about sessions that keep their old access."""
    if mounts:
        sys.stdout.flush()
        names = ", ".join(
            f"{mount['session_name'] or mount['session_id']} of {mount['owner']['email'] if mount['owner'] else '-'}"
            for mount in mounts
        )
        say(f"these sessions keep their access until they end: {names}")


def owner_text(folder: models.VFolderView) -> str:
    """The owner: an e-mail, or a project."""
    if folder["owner"]:
        return folder["owner"]["email"]
    return f"project {folder['project']['name']}" if folder["project"] else ""


def _settings(parser: Arguments) -> None:
    parser.add_argument("--usage-mode", choices=MODES, help="usage mode (default general)")
    parser.add_argument(
        "--permission", choices=PERMISSIONS, help="maximum permission of the project's members (default rw)"
    )


def _limit(most: int | None) -> str:
    return "no limit" if most is None else str(most)
