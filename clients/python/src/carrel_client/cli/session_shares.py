"""Commands for sharing sessions: share, list, revoke, open a link, and leave."""

from __future__ import annotations

import argparse
from urllib.parse import parse_qs, urlsplit

from carrel_client.cli.asking import agreed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_line, print_table, say
from carrel_client.cli.parser import Arguments, reading
from carrel_client.cli.people import each
from carrel_client.cli.times import local_time
from carrel_client.units import parse_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_LEVELS = {"look": "look at", "use": "use"}


def share_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    recipient = parser.add_mutually_exclusive_group(required=True)
    recipient.add_argument("--with", dest="user", metavar="E-MAIL", help="a user of your domain")
    recipient.add_argument("--project", metavar="PROJECT", help="the members of a project, by name or id")
    recipient.add_argument(
        "--link", action="store_true", help="users of your domain who open a link; needs --expires"
    )
    parser.add_argument(
        "--level",
        choices=tuple(_LEVELS),
        default="look",
        help="look: see its details, log, usage and history; use: also its apps, terminals and commands"
        " (default look)",
    )
    parser.add_argument(
        "--expires",
        type=reading(parse_duration),
        metavar="TIME",
        help="end the access after 2h, 7d ...; links: at most 30d. Default: until you revoke it",
    )
    parser.explain(
        "Share a session. It stays yours: others can neither end nor change it, nor share it further. Who may use\n"
        "it can read and write its folders as you do. Sharing again with the same user or project changes the share."
    )
    parser.example(
        "carrel session share train-3 --with ada@example.org",
        "carrel session share train-3 --project vision --level use --expires 7d",
        "carrel session share train-3 --link --level look --expires 2h",
    )


def share(args: argparse.Namespace, context: Context) -> int:
    """Share a session."""
    made = context.client.sessions.share(
        args.id,
        user=args.user,
        project=args.project,
        link=args.link,
        level=args.level,
        expires_in_s=round(args.expires) if args.expires else None,
    )

    def show() -> None:
        until = f" until {local_time(made['expires_at'])}" if made["expires_at"] else ""
        print_line(made["url"] or f"{_with(made)} may {_LEVELS[made['level']]} {args.id}{until}")
        if made["url"]:
            say(f"Who opens this link may {_LEVELS[made['level']]} {args.id}{until}. It is shown only once.")

    context.answer(made, show)
    return 0


def shares_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.watches("session")
    parser.example("carrel session shares train-3")


def shares(args: argparse.Namespace, context: Context) -> int:
    """List who has access to a session by a share, and until when."""
    response = context.client.sessions.shares(args.id)
    columns = [Column(name) for name in ("ID", "WHO", "LEVEL", "VIA LINK", "BY", "SINCE", "UNTIL")]
    rows = [
        [
            one["id"],
            _with(one),
            one["level"],
            one["via_link"] or "",
            one["granted_by"]["email"] if one["granted_by"] else "",
            local_time(one["created_at"]),
            local_time(one["expires_at"]),
        ]
        for one in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def unshare_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name of the session")
    parser.add_argument(
        "shares", metavar="SHARE", nargs="+", help="ids of shares, e-mails, or names of projects"
    )
    yes_argument(parser)
    parser.explain(
        "Revoke shares of a session; a link with the access of everybody who opened it. Their apps, terminals and\n"
        "log streams are closed at once."
    )
    parser.example("carrel session unshare train-3 ada@example.org")


def unshare(args: argparse.Namespace, context: Context) -> int:
    """Revoke shares of a session; continues after a failure."""
    if not agreed(args, f"Stop sharing {args.id} with {{}}?", "holder", args.shares):
        return 1

    def one(ref: str) -> tuple[object, str]:
        context.client.sessions.unshare(args.id, ref)
        return {"share": ref, "removed": True}, f"{ref} no longer has access"

    return each(context, args.shares, one)


def join_arguments(parser: Arguments) -> None:
    parser.add_argument("link", metavar="LINK", help="the link, or the token at its end")
    parser.explain("Get the access to a session that a link grants, until the link expires.")
    parser.example("carrel session join https://carrel.example.org/shared#token=p7Yk...")


def join(args: argparse.Namespace, context: Context) -> int:
    """Open a link to a session."""
    tokens = parse_qs(urlsplit(args.link).fragment).get("token")
    joined = context.client.sessions.join(token=tokens[0] if tokens else args.link)

    def show() -> None:
        level, until = joined["level"], local_time(joined["expires_at"])
        terms = (
            f"You may {_LEVELS[level]} {joined['name']} until {until}" if level else "It is your own session"
        )
        print_line(f"{terms}: carrel session show {joined['id']}")

    context.answer(joined, show)
    return 0


def leave_arguments(parser: Arguments) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+", help="id, unique id prefix, or name")
    yes_argument(parser)
    parser.explain(
        "End your own access to sessions that others share with you personally or by a link. Your open apps,\n"
        "terminals and log streams of them are closed. Shares with your projects remain."
    )
    parser.example("carrel session leave train-3", "carrel session leave --yes train-3 train-4")


def leave(args: argparse.Namespace, context: Context) -> int:
    """Leave sessions; continues after a failure."""
    if not agreed(args, "Leave {}?", "session", args.ids):
        return 1

    def one(ref: str) -> tuple[object, str]:
        left = context.client.sessions.leave(ref)
        level = left["shared_as"]
        rest = f"; it is still shared with a project of yours, to {_LEVELS[level]}" if level else ""
        return left, f"You have left {left['name']}{rest}"

    return each(context, args.ids, one)


def _with(share: models.SessionShareView) -> str:
    if share["user"]:
        return share["user"]["email"]
    return f"members of {share['project']['name']}" if share["project"] else "link"
