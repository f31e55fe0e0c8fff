"""Commands about where people are signed in."""

from __future__ import annotations

import argparse

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_line, print_table
from carrel_client.cli.parser import USAGE, Arguments

_PAGE = 200


def ls_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "--user", metavar="USER", help="id or e-mail of somebody you administer; else yourself"
    )
    parser.explain("List the browsers that are signed in, used last first.")
    parser.example("carrel sign-in ls", "carrel sign-in ls --user ada@example.org -o json")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List sign-ins."""
    found = context.client.logins.list(user=args.user, limit=_PAGE)
    columns = [Column(t) for t in ("ID", "BROWSER", "SYSTEM", "ADDRESS", "METHOD", "SIGNED IN", "LAST SEEN")]
    fields = ("id", "browser", "system", "address", "method", "created_at", "seen_at")
    rows = [[str(dict(item)[field]) for field in fields] for item in found["items"]]
    context.answer(found, lambda: print_table(columns, rows))
    return 0


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("ids", metavar="ID", nargs="*", help="as carrel sign-in ls shows them")
    parser.add_argument("--everywhere", action="store_true", help="all of them")
    parser.add_argument("--user", metavar="USER", help="with --everywhere: of somebody you administer")
    parser.explain("Sign browsers out. Keypairs and tokens stay.")
    parser.example(
        "carrel sign-in rm kq3v7abcdefg",
        "carrel sign-in rm --everywhere",
        "carrel sign-in rm --everywhere --user ada@example.org",
    )


def rm(args: argparse.Namespace, context: Context) -> int:
    """Sign browsers out."""
    if bool(args.ids) == args.everywhere:
        print_line("Give the ids of sign-ins, or --everywhere.")
        return USAGE
    if args.everywhere:
        ended = context.client.logins.remove_all(user=args.user)
        context.answer(ended, lambda: print_line(f"{ended['ended']} signed out"))
        return 0
    for login in args.ids:
        context.client.logins.remove(login)
    context.answer({"ended": len(args.ids)}, lambda: print_line(f"{len(args.ids)} signed out"))
    return 0
