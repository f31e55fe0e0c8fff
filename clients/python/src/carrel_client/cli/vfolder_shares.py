"""Commands for folder sharing: shares, invitations and access."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import agreed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.main import exit_code
from carrel_client.cli.output import Column, print_line, print_table, report, say
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import each
from carrel_client.cli.times import local_time
from carrel_client.cli.vfolders import PERMISSIONS, still_mounted
from carrel_client.errors import CarrelError
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_STATES = {"accepted": "green", "invited": "yellow"}
_VIA = {
    "owner": "owner",
    "share": "shared with them",
    "project": "in the project {}",
    "shared_project": "shared with the project {}",
}


def share_arguments(parser: Arguments) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="its name or id")
    parser.add_argument(
        "users", metavar="E-MAIL", nargs="*", help="users to invite, or whose share to change"
    )
    parser.add_argument(
        "--with-project",
        metavar="PROJECT",
        action="append",
        default=[],
        help="share with a project; repeatable",
    )
    parser.add_argument(
        "--permission",
        choices=PERMISSIONS,
        default="ro",
        help="permission: read, write, or write and delete (default ro)",
    )
    parser.explain(
        "Invite users to a folder by e-mail, and share it with projects. Existing shares get the new\n"
        "permission; sessions that mount the folder keep their access until they end, and are listed."
    )
    parser.example(
        "carrel vfolder share data ada@example.org bob@example.org --permission rw",
        "carrel vfolder share corpus --with-project vision",
    )


def share(args: argparse.Namespace, context: Context) -> int:
    """Share a folder, or change a share."""
    if not args.users and not args.with_project:
        raise CarrelError("usage", "With whom?", status=422, hint="Specify e-mails or --with-project.")
    shares = context.client.shares
    have = {_with(there).lower(): there["id"] for there in shares.list(args.folder)["items"]}
    called = [*args.users, *args.with_project]
    for who in [who for who in called if who.lower() in have]:
        changed = shares.update(args.folder, have[who.lower()], permission=args.permission)
        context.answer(changed, lambda who=who: print_line(f"{who} now has {args.permission}"))  # type: ignore[misc]
        still_mounted(changed["still_mounted"])
    users = [who for who in args.users if who.lower() not in have]
    projects = [who for who in args.with_project if who.lower() not in have]
    if not users and not projects:
        return 0
    added = shares.create(args.folder, users=users, projects=projects, permission=args.permission)

    def show() -> None:
        for made in added["items"]:
            how = "is invited" if made["state"] == "invited" else "has it"
            print_line(f"{_with(made)} {how}: {made['permission']}")

    context.answer(added, show)
    for refused in added["refused"]:
        report(CarrelError(refused["code"], f"{refused['who']}: {refused['message']}", status=409))
    return 1 if added["refused"] else 0


def unshare_arguments(parser: Arguments) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="its name or id")
    parser.add_argument(
        "users", metavar="WHO", nargs="+", help="e-mails, names of projects, or ids of shares"
    )
    yes_argument(parser)
    parser.explain("Stop sharing a folder with users and projects, or withdraw invitations.")
    parser.example("carrel vfolder unshare data bob@example.org")


def unshare(args: argparse.Namespace, context: Context) -> int:
    """Stop sharing a folder."""
    if not agreed(args, f"Stop sharing {args.folder} with {{}}?", "holder", args.users):
        return 1
    worst = 0
    for who in args.users:
        try:
            changed = context.client.shares.remove(args.folder, who)
        except CarrelError as error:
            report(error)
            worst = max(worst, exit_code(error))
            continue
        context.answer(changed, lambda who=who: print_line(f"{who} no longer has access"))  # type: ignore[misc]
        still_mounted(changed["still_mounted"])
    return worst


def shares_arguments(parser: Arguments) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="its name or id")
    parser.watches("vfolder", "invitation")
    parser.example("carrel vfolder shares data")


def shares(args: argparse.Namespace, context: Context) -> int:
    """List the shares of a folder."""
    response = context.client.shares.list(args.folder)
    columns = [Column("WHO"), Column("PERMISSION"), Column("STATE", _STATES), Column("BY"), Column("SINCE")]
    rows = [
        [
            _with(there),
            there["permission"],
            there["state"],
            there["invited_by"]["email"] if there["invited_by"] else "",
            local_time(there["accepted_at"] or there["created_at"]),
        ]
        for there in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def access_arguments(parser: Arguments) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="its name or id")
    parser.explain("List everybody with access to the files of a folder, since when, and why.")
    parser.example("carrel vfolder access corpus")


def access(args: argparse.Namespace, context: Context) -> int:
    """List access to a folder's files."""
    response = context.client.vfolders.access(args.folder)
    columns = [Column(title) for title in ("WHO", "PERMISSION", "SINCE", "WHY")]
    rows = [
        [
            entry["user"]["email"],
            entry["permission"],
            local_time(entry["since"]),
            _VIA[entry["via"]].format(entry["project"]["name"] if entry["project"] else ""),
        ]
        for entry in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def invitations_arguments(parser: Arguments) -> None:
    parser.watches("invitation")
    parser.explain("List folder invitations.")
    parser.example("carrel vfolder invitations", "carrel vfolder accept corpus")


def invitations(args: argparse.Namespace, context: Context) -> int:
    """List invitations."""
    response = context.client.invitations.list()
    columns = [Column(title) for title in ("FOLDER", "FROM", "PERMISSION", "SIZE", "SINCE", "ID")]
    rows = [
        [
            offer["folder_name"],
            offer["invited_by"]["email"] if offer["invited_by"] else "",
            offer["permission"],
            format_size(offer["used_bytes"]),
            local_time(offer["created_at"]),
            offer["id"],
        ]
        for offer in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def accept_arguments(parser: Arguments) -> None:
    parser.add_argument("invitations", metavar="FOLDER", nargs="+", help="names of the folders, or ids")
    parser.example("carrel vfolder accept corpus")


def accept(args: argparse.Namespace, context: Context) -> int:
    """Accept folder invitations."""

    def take(ref: str) -> tuple[object, str]:
        offer = _offer(context, ref)
        context.client.invitations.accept(offer["id"])
        return offer, f"{offer['folder_name']} accepted: {offer['permission']}"

    return each(context, args.invitations, take)


def decline_arguments(parser: Arguments) -> None:
    parser.add_argument("invitations", metavar="FOLDER", nargs="+", help="names of the folders, or ids")
    yes_argument(parser)
    parser.example("carrel vfolder decline corpus")


def decline(args: argparse.Namespace, context: Context) -> int:
    """Decline folder invitations."""
    if not agreed(args, "Decline {}?", "folder", args.invitations):
        return 1

    def refuse(ref: str) -> tuple[object, str]:
        offer = _offer(context, ref)
        context.client.invitations.decline(offer["id"])
        return offer, f"{offer['folder_name']} declined"

    return each(context, args.invitations, refuse)


def leave_arguments(parser: Arguments) -> None:
    parser.add_argument("folders", metavar="FOLDER", nargs="+", help="names or ids")
    yes_argument(parser)
    parser.explain("Leave folders that others share with you.")
    parser.example("carrel vfolder leave corpus")


def leave(args: argparse.Namespace, context: Context) -> int:
    """Leave shared folders."""
    if not agreed(args, "Leave {}?", "folder", args.folders):
        return 1

    def give_up(ref: str) -> tuple[object, str]:
        still_mounted(context.client.shares.leave(ref)["still_mounted"])
        return {"folder": ref, "left": True}, f"you left {ref}"

    return each(context, args.folders, give_up)


def _offer(context: Context, ref: str) -> models.InvitationView:
    """The invitation with this id or folder name. Raises: CarrelError if it is not unique."""
    offers = context.client.invitations.list()["items"]
    matches = [offer for offer in offers if ref in (offer["id"], offer["folder_id"], offer["folder_name"])]
    if len(matches) == 1:
        return matches[0]
    if matches:
        say(f"{len(matches)} people invite you to a folder named {ref}:")
        for offer in matches:
            say(f"  {offer['id']}  from {offer['invited_by']['email'] if offer['invited_by'] else '?'}")
    raise CarrelError(
        "client.no_invitation" if not matches else "client.ambiguous",
        f"You have no invitation to {ref}." if not matches else f"Several invitations match {ref}.",
        status=404 if not matches else 409,
        hint="carrel vfolder invitations",
    )


def _with(there: models.ShareView) -> str:
    if there["user"]:
        return there["user"]["email"]
    return there["project"]["name"] if there["project"] else ""
