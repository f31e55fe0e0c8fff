"""Commands for projects and their members."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import agreed, removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_facts, print_line, print_table, say
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import (
    ceiling_argument,
    ceilings,
    each,
    given,
    list_arguments,
    listed,
    sessions_argument,
)
from carrel_client.cli.times import local_time
from carrel_client.slots import slots_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_STATES = {"open": "green", "archived": "dim"}
_REFUSED = 1


def ls_arguments(parser: Arguments) -> None:
    list_arguments(parser, "name", "created_at")
    parser.add_argument("--domain", metavar="DOMAIN", help="only those of this domain")
    parser.add_argument("--archived", action="store_true", help="only those that are archived")
    parser.watches("project")
    parser.explain("List the projects that you are a member of or administer.")
    parser.example("carrel project ls", "carrel project ls --archived --domain physics")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List projects."""

    def page(**filters: Any) -> models.ProjectList:
        return context.client.projects.list(domain=args.domain, archived=args.archived, **filters)

    response = listed(args, page)
    columns = [Column("NAME"), Column("DOMAIN"), Column("STATE", _STATES)]
    columns += [Column(title) for title in ("MEMBERS", "LIVE SESSIONS", "ADMINISTRATORS", "ID")]
    rows = [
        [
            project["name"],
            project["domain"]["name"],
            _state(project),
            str(project["members"]),
            str(project["live_sessions"]),
            ", ".join(admin["email"] for admin in project["admins"]),
            project["id"],
        ]
        for project in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    _project(parser)
    parser.example("carrel project show vision")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one project."""
    project = context.client.projects.show(args.project)
    context.answer(project, lambda: _print(project))
    return 0


def create_arguments(parser: Arguments) -> None:
    parser.add_argument("name", metavar="NAME", help="unique within its domain")
    parser.add_argument("--domain", metavar="DOMAIN", help="its domain (default: yours)")
    parser.add_argument("--description", help="description")
    ceiling_argument(parser)
    parser.example("carrel project create vision --ceiling cpu=64 --ceiling mem=512g")


def create(args: argparse.Namespace, context: Context) -> int:
    """Create a project."""
    made = context.client.projects.create(
        name=args.name, **given(args, "domain", "description"), **ceilings(args)
    )
    context.answer(made, lambda: print_line(f"{made['name']} created ({made['id']})"))
    return 0


def update_arguments(parser: Arguments) -> None:
    _project(parser)
    parser.add_argument("--name", help="new name")
    parser.add_argument("--description", help="description")
    ceiling_argument(parser)
    parser.explain("Change a project. Ceilings are replaced completely.")
    parser.example("carrel project update vision --name sight --ceiling cpu=128")


def update(args: argparse.Namespace, context: Context) -> int:
    """Change a project."""
    changed = context.client.projects.update(
        args.project, **given(args, "name", "description"), **ceilings(args)
    )
    context.answer(changed, lambda: _print(changed))
    return 0


def archive_arguments(parser: Arguments) -> None:
    _project(parser)
    sessions_argument(parser)
    parser.explain(
        "Archive a project: it accepts no new sessions; members and history stay. If it has live sessions,\n"
        "they are listed and --sessions is required to keep or end them."
    )
    parser.example("carrel project archive vision", "carrel project archive vision --sessions end")


def archive(args: argparse.Namespace, context: Context) -> int:
    """Archive a project."""
    changed = context.client.projects.archive(args.project, **given(args, "sessions"))
    context.answer(changed, lambda: print_line(f"{changed['name']} is archived"))
    return 0


def restore_arguments(parser: Arguments) -> None:
    _project(parser)
    parser.example("carrel project restore vision")


def restore(args: argparse.Namespace, context: Context) -> int:
    """Restore a project."""
    changed = context.client.projects.restore(args.project)
    context.answer(changed, lambda: print_line(f"{changed['name']} accepts sessions again"))
    return 0


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("projects", metavar="PROJECT", nargs="+", help="ids, or names of yours")
    yes_argument(parser)
    parser.explain("Delete projects that never had a session. Archive others instead.")
    parser.example("carrel project rm vision")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Remove projects."""
    if not removal_confirmed(args, "project", args.projects):
        return 1

    def remove(ref: str) -> tuple[object, str]:
        context.client.projects.remove(ref)
        return {"project": ref, "removed": True}, f"{ref} deleted"

    return each(context, args.projects, remove)


def members_arguments(parser: Arguments) -> None:
    _project(parser)
    list_arguments(parser, "email")
    parser.add_argument("--admins", action="store_true", help="only its administrators")
    parser.watches("project", "user")
    parser.example("carrel project members vision", "carrel project members vision --admins")


def members(args: argparse.Namespace, context: Context) -> int:
    """List the members of a project."""

    def page(**filters: Any) -> models.MemberList:
        return context.client.project_members.list(args.project, admin=args.admins or None, **filters)

    response = listed(args, page)
    columns = [Column(title) for title in ("E-MAIL", "NAME", "STATE", "OFFICE")]
    rows = [
        [member["email"], member["name"], member["state"], "administrator" if member["admin"] else ""]
        for member in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def enrol_arguments(parser: Arguments) -> None:
    _project(parser)
    parser.add_argument("users", metavar="USER", nargs="+", help="e-mails or ids of users of its domain")
    parser.add_argument("--admin", action="store_true", help="make them administrators of the project")
    parser.example("carrel project enrol vision ada@example.org grace@example.org")


def enrol(args: argparse.Namespace, context: Context) -> int:
    """Add members to a project."""
    added = context.client.project_members.add(args.project, users=args.users, admin=args.admin)

    def show() -> None:
        for item in added["items"]:
            if item["problem"]:
                say(f"error: {item['problem']['detail']} ({item['problem']['code']})")
            else:
                print_line(
                    f"{item['user']} is {'already a member' if item['status'] == 'already' else 'now a member'}"
                )

    context.answer(added, show)
    return _REFUSED if added["failed"] else 0


def appoint_arguments(parser: Arguments) -> None:
    _project(parser)
    parser.add_argument("users", metavar="USER", nargs="+", help="e-mails or ids of members")
    parser.add_argument("--revoke", action="store_true", help="revoke the administrator role")
    parser.explain("Make members administrators of a project, who may add members and see its sessions.")
    parser.example("carrel project appoint vision ada@example.org")


def appoint(args: argparse.Namespace, context: Context) -> int:
    """Grant or revoke the administrator role in a project."""

    def change(user: str) -> tuple[object, str]:
        member = context.client.project_members.update(args.project, user, admin=not args.revoke)
        return member, f"{member['email']} is {'an administrator' if member['admin'] else 'a member'}"

    return each(context, args.users, change)


def expel_arguments(parser: Arguments) -> None:
    _project(parser)
    parser.add_argument("users", metavar="USER", nargs="+", help="e-mails or ids of members")
    yes_argument(parser)
    parser.explain("Remove members from a project. Their sessions in it continue.")
    parser.example("carrel project expel vision ada@example.org")


def expel(args: argparse.Namespace, context: Context) -> int:
    """Remove members from a project."""
    from carrel_client.cli.vfolders import still_mounted

    if not agreed(args, f"Remove {{}} from {args.project}?", "user", args.users):
        return 1

    def remove(user: str) -> tuple[object, str]:
        still_mounted(context.client.project_members.remove(args.project, user)["still_mounted"])
        return {"user": user, "removed": True}, f"{user} removed"

    return each(context, args.users, remove)


def _project(parser: Arguments) -> None:
    parser.add_argument("project", metavar="PROJECT", help="id, or name if unique among yours")


def _state(project: models.ProjectView) -> str:
    return "archived" if project["archived_at"] else "open"


def _print(project: models.ProjectView) -> None:
    print_facts(
        [
            ("name", project["name"]),
            ("id", project["id"]),
            ("domain", project["domain"]["name"]),
            ("state", _state(project)),
            ("description", project["description"]),
            ("ceilings", slots_text(project["ceilings"]) or "none"),
            ("allocated", slots_text(project["used"]) or "nothing"),
            ("members", str(project["members"])),
            ("live sessions", str(project["live_sessions"])),
            ("administrators", ", ".join(admin["email"] for admin in project["admins"])),
            ("created", local_time(project["created_at"])),
            ("archived", local_time(project["archived_at"])),
        ]
    )
