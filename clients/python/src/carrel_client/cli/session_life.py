"""Commands that start, rename and end sessions."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from carrel_client.cli.arrays import array_counts, display_name, is_array_name, wait_for_array
from carrel_client.cli.asking import confirmed, require_terminal, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.main import exit_code
from carrel_client.cli.output import print_line, report, say
from carrel_client.cli.parser import Arguments, reading
from carrel_client.cli.people import each
from carrel_client.cli.progress import ProgressLine
from carrel_client.cli.session_request import SIGNALS, session_arguments, session_request, signal
from carrel_client.cli.session_views import print_session, progress_text, warn_of_deprecated
from carrel_client.cli.times import local_time
from carrel_client.client import ENDED, SETTLED
from carrel_client.errors import CarrelError
from carrel_client.units import parse_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

    from carrel_client import models


def start_arguments(parser: Arguments) -> None:
    """The arguments of `print_started`."""
    parser.add_argument(
        "--wait", action="store_true", help="wait until it runs; exit code 1 if it ends instead"
    )
    parser.add_argument(
        "--timeout",
        type=reading(parse_duration),
        metavar="TIME",
        help="timeout of --wait: 90s, 10m, 2h",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print only the id")


def create_arguments(parser: Arguments) -> None:
    session_arguments(parser)
    parser.add_argument(
        "--replace",
        metavar="ID",
        help="cancel this pending session in the same step, and keep its name and what starts after it",
    )
    start_arguments(parser)
    parser.explain("Start a session. Without --wait the command returns as soon as the session is queued.")
    parser.example(
        "carrel session create --wait",
        "carrel session create --image starter --cpu 2 --mem 4g --name train-3 --env SEED=7 --wait",
        "carrel session create -v data -v corpus:train:/data:ro --wait",
        "carrel session create --cpu 8 --mem 64g --slot cuda.device=1 --group gpu --time-limit 12h",
        "carrel session create --cpu 1 --mem 2g --replace train-3",
        "carrel session create --name report --after train-3 --after download:ended",
        "carrel session create --cluster-size 4 --placement together --wait",
        "carrel session create -f cluster.yaml --name train-5",
        "id=$(carrel session create -q --wait) && carrel session exec $id -- python3 --version",
        "carrel session create -f job.yaml --name train-5",
    )


def create(args: argparse.Namespace, context: Context) -> int:
    """Start a session."""
    session = context.client.sessions.create(**session_request(args), replaces=args.replace)
    return print_started(args, context, session)


def print_started(args: argparse.Namespace, context: Context, session: models.SessionDetail) -> int:
    """Print a new session, with --wait once it has run. Returns the exit code."""
    warn_of_deprecated(session)
    if args.wait:
        session = wait_for(context, session, SETTLED, args.timeout)
    if args.quiet and not context.structured:
        sys.stdout.write(f"{session['id']}\n")
    else:
        context.answer(session, lambda: print_session(session))
    if args.wait and session["started_at"] is None:
        why = session["reason"] or f"it is {session['state']}"
        report(
            CarrelError(
                "client.session_ended",
                f"{session['name']} did not start: {why}",
                status=409,
                hint=f"carrel session history {session['id']}",
            )
        )
        return 1
    return 0


def rename_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.add_argument("name", metavar="NAME", help="the new name")
    parser.example("carrel session rename k3f train-4")


def rename(args: argparse.Namespace, context: Context) -> int:
    """Rename a session."""
    session = context.client.sessions.rename(args.id, name=args.name)
    context.answer(session, lambda: print_line(f"{session['id']} is now {session['name']}"))
    return 0


def keep_arguments(parser: Arguments) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+", help="ids, unique id prefixes, or names")
    exempt = parser.add_mutually_exclusive_group()
    exempt.add_argument(
        "--always",
        dest="exempt",
        action="store_const",
        const=True,
        help="exempt it from idle timeouts; administrators only",
    )
    exempt.add_argument(
        "--no-longer", dest="exempt", action="store_const", const=False, help="revoke the exemption"
    )
    parser.explain("Reset the idle clocks of sessions. Their lifetime is unaffected.")
    parser.example("carrel session keep train-3", "carrel session keep train-3 --always")


def keep(args: argparse.Namespace, context: Context) -> int:
    """Reset the idle clocks of sessions."""

    def one(ref: str) -> tuple[object, str]:
        if args.exempt is not None:
            kept = context.client.sessions.exempt(ref, exempt=args.exempt)
            return (
                kept,
                f"{ref} {'never counts' if args.exempt else 'counts'} as idle{'' if args.exempt else ' again'}",
            )
        kept = context.client.sessions.keep(ref)
        ends = min((rule["ends_at"] for rule in kept["rules"] if rule["ends_at"]), default=None)
        return kept, f"{ref} is kept" + (f"; it ends at {local_time(ends)} at the earliest" if ends else "")

    return each(context, args.ids, one)


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+", help="ids, unique id prefixes, or names")
    parser.add_argument(
        "--force",
        action="store_true",
        help="end it now, even if the engine does not respond; programs are killed",
    )
    parser.add_argument("--signal", choices=SIGNALS, help="sent to its main process")
    parser.add_argument(
        "--grace",
        metavar="TIME",
        type=reading(parse_duration),
        help="time until it is killed: 0s to 5m (default: as requested with it, else 10s)",
    )
    parser.add_argument(
        "--array", action="store_true", help="end all sessions of the arrays that these belong to"
    )
    parser.add_argument("--wait", action="store_true", help="wait until it has ended")
    parser.add_argument(
        "--timeout",
        type=reading(parse_duration),
        metavar="TIME",
        help="timeout of --wait: 90s, 10m, 2h",
    )
    yes_argument(parser)
    parser.explain(
        "End sessions; pending ones are cancelled. Their content outside mounted folders is lost.\n"
        "The name of an array, train for train[1-100], ends all its sessions.\n"
        "Signal and grace period are about the main process: the command of a batch session. With --force the\n"
        "session has ended at once; what may remain of it on the engine is listed and removed later, and its\n"
        "slots stay allocated until then."
    )
    parser.example(
        "carrel session rm train-3",
        "carrel session rm train-3 --signal INT --grace 2m",
        "carrel session rm train-3 train-4 --force --wait --yes",
    )


def rm(args: argparse.Namespace, context: Context) -> int:
    """End sessions; continues after a failure."""
    if not args.yes:
        require_terminal()
    worst = 0
    for ref in args.ids:
        try:
            if not args.yes and not _confirmed(context.client.sessions.show(ref), ref, array=args.array):
                worst = max(worst, 1)
                continue
            session = context.client.sessions.remove(
                ref,
                force=args.force,
                array=args.array or None,
                signal=signal(args.signal),
                grace_s=None if args.grace is None else round(args.grace),
            )
            whole = args.array or is_array_name(session, ref)
            if args.wait:
                session = (
                    wait_for_array(context, session, args.timeout)
                    if whole
                    else wait_for(context, session, ENDED, args.timeout)
                )
            context.answer(session, partial(_print_end, session, whole=whole, forced=args.force))
        except CarrelError as error:
            report(error)
            worst = max(worst, exit_code(error))
    return worst


def wait_for(
    context: Context, session: models.SessionDetail, until: Container[str], timeout_s: float | None
) -> models.SessionDetail:
    """Wait for one of these states, with progress on stderr. Returns the session."""
    from carrel_client.waiting import watch

    client = context.client
    try:
        with ProgressLine() as line:
            for seen in watch(client.sessions, client.transport, session["id"], timeout_s=timeout_s):
                if seen["state"] in until:
                    return seen
                now = " ".join(filter(None, [seen["state"], progress_text(seen) or seen["reason"]]))
                fraction = (seen["progress"] or {"fraction": None})["fraction"]
                line.update(f"{seen['name']}: {now}", fraction, stage=seen["state"])
    except KeyboardInterrupt:
        say(f"\n{session['name']} keeps running; carrel session rm {session['id']} ends it")
        raise
    raise AssertionError("watching ends only by an error")


def _print_end(session: models.SessionDetail, *, whole: bool, forced: bool) -> None:
    print_line(_ended(session, whole=whole))
    if whole and forced:
        say(
            "Containers of its sessions may remain on their nodes until the engine confirms that they are gone; "
            "`carrel session show` of each session lists them."
        )
        return
    for one in session["containers"]:
        if one["state"] == "ABANDONED":
            say(
                f"Its container {one['name']} ({one['id']}) may remain on {one['node']} until the engine "
                "confirms that it is gone."
            )


def _ended(session: models.SessionDetail, *, whole: bool) -> str:
    array = session["array"]
    if whole and array:
        return f"{display_name(session)}: {array_counts(array)}"
    return f"{session['name']} ({session['id']}) is {session['state']}"


def _confirmed(session: models.SessionDetail, ref: str, *, array: bool) -> bool:
    about = f"{session['name']} ({session['id']}, {session['state']})"
    if session["array"] and (array or is_array_name(session, ref)):
        about = f"all sessions of {display_name(session)} ({array_counts(session['array'])})"
    return confirmed(f"End {about}? Its content outside mounted folders is lost.", yes=False)
