"""Commands for sign-ins."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, counted, print_line, print_table
from carrel_client.cli.parser import Arguments
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError

_PAGE = 200


def ls_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "--user", metavar="USER", help="id or e-mail of a user that you administer (default: yourself)"
    )
    parser.explain("List the signed-in browsers, last used first.")
    parser.watches()
    parser.example("carrel sign-in ls", "carrel sign-in ls --user ada@example.org -o json")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List sign-ins."""
    response = context.client.logins.list(user=args.user, limit=_PAGE)
    columns = [Column(t) for t in ("ID", "BROWSER", "SYSTEM", "ADDRESS", "METHOD", "SIGNED IN", "LAST SEEN")]
    rows = [
        [
            item["id"],
            item["browser"],
            item["system"],
            item["address"],
            item["method"],
            local_time(item["created_at"]),
            local_time(item["seen_at"]),
        ]
        for item in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("ids", metavar="ID", nargs="*", help="as carrel sign-in ls shows them")
    parser.add_argument("--everywhere", action="store_true", help="sign out all browsers")
    parser.add_argument("--user", metavar="USER", help="with --everywhere: of a user that you administer")
    yes_argument(parser)
    parser.explain("Sign out browsers. Keypairs and tokens stay valid.")
    parser.example(
        "carrel sign-in rm kq3v7abcdefg",
        "carrel sign-in rm --everywhere",
        "carrel sign-in rm --everywhere --user ada@example.org",
    )


def rm(args: argparse.Namespace, context: Context) -> int:
    """Sign out browsers."""
    if bool(args.ids) == args.everywhere:
        raise CarrelError("usage", "Which sign-ins?", status=422, hint="Specify ids or --everywhere.")
    who = counted(len(args.ids), "browser") if args.ids else f"{args.user or 'yourself'} everywhere"
    if not confirmed(f"Sign out {who}?", yes=args.yes):
        return 1
    if args.everywhere:
        ended = context.client.logins.remove_all(user=args.user)
        context.answer(ended, lambda: _print_ended(ended["ended"]))
        return 0
    for login in args.ids:
        context.client.logins.remove(login)
    context.answer({"ended": len(args.ids)}, lambda: _print_ended(len(args.ids)))
    return 0


def _print_ended(ended: int) -> None:
    print_line(f"{counted(ended, 'browser is', 'browsers are')} signed out")
