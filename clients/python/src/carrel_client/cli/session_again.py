"""Commands that continue sessions: restart, start again, extend."""

from __future__ import annotations

import argparse
import sys

from carrel_client.cli.asking import confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import print_line
from carrel_client.cli.parser import Arguments, reading
from carrel_client.cli.people import each
from carrel_client.cli.session_views import print_session, warn_of_deprecated
from carrel_client.errors import CarrelError
from carrel_client.units import format_duration, parse_duration


def restart_arguments(parser: Arguments) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+", help="ids, unique id prefixes, or names")
    yes_argument(parser)
    parser.explain(
        "Restart running interactive sessions in place: same session, same node, with new containers. They keep\n"
        "their slots and folders; programs end, and files outside mounted folders are lost."
    )
    parser.example("carrel session restart train-3", "carrel session restart train-3 train-4 --yes")


def restart(args: argparse.Namespace, context: Context) -> int:
    """Restart sessions in place; continues after a failure."""
    question = f"Restart {', '.join(args.ids)}? Content outside mounted folders is lost."
    if not confirmed(question, yes=args.yes):
        return 1

    def one(ref: str) -> tuple[object, str]:
        session = context.client.sessions.restart(ref)
        return session, f"{session['name']} ({session['id']}) restarts"

    return each(context, args.ids, one)


def again_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.add_argument(
        "--exact-image",
        action="store_true",
        help="by the digest of the image that it ran, whatever its tag means now",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print only the id")
    parser.explain(
        "Start another session with the present definition of one of yours, ended or not. It gets the same name\n"
        "if no live session has it."
    )
    parser.example(
        "carrel session again train-3",
        "carrel session again train-3 --exact-image",
        "id=$(carrel session again -q k3f)",
    )


def again(args: argparse.Namespace, context: Context) -> int:
    """Start a session again."""
    session = context.client.sessions.again(args.id, exact_image=args.exact_image)
    warn_of_deprecated(session)
    if args.quiet and not context.structured:
        sys.stdout.write(f"{session['id']}\n")
    else:
        context.answer(session, lambda: print_session(session))
    return 0


def extend_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.add_argument(
        "time", metavar="TIME", type=reading(parse_duration), help="added to the time limit: 30m, 2h, 1d"
    )
    parser.explain("Extend the time limit of a live session, up to what your resource policy allows.")
    parser.example("carrel session extend train-3 2h")


def extend(args: argparse.Namespace, context: Context) -> int:
    """Extend the time limit of a session."""
    before = context.client.sessions.show(args.id)
    if before["time_limit_s"] is None:
        raise CarrelError("session.no_time_limit", f"{before['name']} has no time limit.", status=409)
    session = context.client.sessions.extend(
        before["id"], time_limit_s=before["time_limit_s"] + round(args.time)
    )
    limit = format_duration(session["time_limit_s"] or 0)
    context.answer(session, lambda: print_line(f"The time limit of {session['name']} is {limit} now"))
    return 0
