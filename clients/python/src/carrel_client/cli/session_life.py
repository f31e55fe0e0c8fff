"""Commands that start, rename and end sessions."""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial

from carrel_client.cli.asking import confirmed, require_terminal, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.main import exit_code
from carrel_client.cli.output import print_line, report, say
from carrel_client.cli.parser import Arguments, reading
from carrel_client.cli.people import each
from carrel_client.cli.progress import Progress
from carrel_client.cli.scheduling import wish_arguments, wished_slots
from carrel_client.cli.session_views import print_session, progress_text
from carrel_client.cli.times import local_time
from carrel_client.client import ENDED, SETTLED
from carrel_client.errors import CarrelError
from carrel_client.units import parse_cpu, parse_duration, parse_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

    from carrel_client import models


def create_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "--image", default="starter", help="name in carrel image ls, or any reference (default starter)"
    )
    parser.add_argument(
        "--cpu", type=reading(parse_cpu), default=1000, help="cores: 2, 0.5 or 500m (default 1)"
    )
    parser.add_argument(
        "--mem", type=reading(parse_size), default=1 << 30, help="memory: 512m, 4g (default 1g)"
    )
    parser.add_argument(
        "--name", help="4 to 64 letters, digits, dots, dashes, underscores (default: a made-up one)"
    )
    parser.add_argument(
        "--env",
        type=reading(_variable),
        action="append",
        default=[],
        metavar="K=V",
        help="environment variable, may come more than once; K alone takes the value from here",
    )
    parser.add_argument("--project", help="id or name (default: yours)")
    parser.add_argument(
        "-v", "--mount", type=reading(_mount), action="append", default=[], dest="mounts",
        metavar="FOLDER[:SUBPATH][:PATH][:ro]",
        help="a folder, or a directory of it, and where in the session (default /home/work/FOLDER); again for another",
    )  # fmt: skip
    wish_arguments(parser)
    parser.add_argument("--wait", action="store_true", help="until it runs; exit code 1 when it ends instead")
    parser.add_argument(
        "--timeout",
        type=reading(parse_duration),
        metavar="TIME",
        help="wait no longer than this: 90s, 10m, 2h",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print only the id")
    parser.explain("Start a session. Without --wait this returns as soon as the session is in the queue.")
    parser.example(
        "carrel session create --wait",
        "carrel session create --image starter --cpu 2 --mem 4g --name train-3 --env SEED=7 --wait",
        "carrel session create -v data -v corpus:train:/data:ro --wait",
        "carrel session create --cpu 8 --mem 64g --slot cuda.device=1 --group gpu --time-limit 12h",
        "id=$(carrel session create -q --wait) && carrel session exec $id -- python3 --version",
    )


def create(args: argparse.Namespace, context: Context) -> int:
    """Start a session."""
    session = context.client.sessions.create(
        image=args.image,
        slots=wished_slots(args),
        name=args.name,
        env=dict(args.env),
        project=args.project,
        group=args.group,
        priority=args.priority,
        time_limit_s=round(args.time_limit) if args.time_limit else None,
        node=args.node,
        mounts=args.mounts,
    )
    if args.wait:
        session = _wait(context, session, SETTLED, args.timeout)
    if args.quiet and not context.structured:
        sys.stdout.write(f"{session['id']}\n")
    else:
        context.answer(session, lambda: print_session(session))
    if args.wait and session["state"] != "RUNNING":
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
    parser.add_argument("id", metavar="ID", help="id, unique beginning of it, or name")
    parser.add_argument("name", metavar="NAME", help="the new name")
    parser.example("carrel session rename k3f train-4")


def rename(args: argparse.Namespace, context: Context) -> int:
    """Rename a session."""
    session = context.client.sessions.rename(args.id, name=args.name)
    context.answer(session, lambda: print_line(f"{session['id']} is now {session['name']}"))
    return 0


def keep_arguments(parser: Arguments) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+", help="ids, unique beginnings of them, or names")
    exempt = parser.add_mutually_exclusive_group()
    exempt.add_argument(
        "--always", dest="exempt", action="store_const", const=True,
        help="let it never count as idle; administrators only",
    )  # fmt: skip
    exempt.add_argument(
        "--no-longer", dest="exempt", action="store_const", const=False, help="let it count as idle again"
    )
    parser.explain(
        "Say that sessions are in use although they look idle: their idle clocks begin anew. Their lifetime stays."
    )
    parser.example("carrel session keep train-3", "carrel session keep train-3 --always")


def keep(args: argparse.Namespace, context: Context) -> int:
    """Say that sessions are in use."""

    def one(ref: str) -> tuple[object, str]:
        if args.exempt is not None:
            kept = context.client.sessions.exempt(ref, exempt=args.exempt)
            return kept, f"{ref} {'never counts' if args.exempt else 'counts'} as idle{'' if args.exempt else ' again'}"
        kept = context.client.sessions.keep(ref)
        ends = min((rule["ends_at"] for rule in kept["rules"] if rule["ends_at"]), default=None)
        return kept, f"{ref} is kept" + (f"; it ends at {local_time(ends)} at the earliest" if ends else "")

    return each(context, args.ids, one)


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+", help="ids, unique beginnings of them, or names")
    parser.add_argument("--force", action="store_true", help="at once, without time for its processes to end")
    parser.add_argument("--wait", action="store_true", help="until it has ended")
    parser.add_argument(
        "--timeout",
        type=reading(parse_duration),
        metavar="TIME",
        help="wait no longer than this: 90s, 10m, 2h",
    )
    yes_argument(parser)
    parser.explain(
        "End sessions; one that does not run yet is cancelled. What is inside them is lost."
    )
    parser.example("carrel session rm train-3", "carrel session rm train-3 train-4 --force --wait --yes")


def rm(args: argparse.Namespace, context: Context) -> int:
    """End sessions; one that cannot be ended does not keep the others."""
    if not args.yes:
        require_terminal()
    worst = 0
    for ref in args.ids:
        try:
            if not args.yes and not _confirmed(context.client.sessions.show(ref)):
                worst = max(worst, 1)
                continue
            session = context.client.sessions.remove(ref, force=args.force)
            if args.wait:
                session = _wait(context, session, ENDED, args.timeout)
            context.answer(session, partial(print_line, f"{session['name']} ({session['id']}) is {session['state']}"))
        except CarrelError as error:
            report(error)
            worst = max(worst, exit_code(error))
    return worst


def _wait(
    context: Context, session: models.SessionDetail, until: Container[str], timeout_s: float | None
) -> models.SessionDetail:
    """The session when it is in one of these states, with its progress on stderr meanwhile."""
    from carrel_client.waiting import watch

    client = context.client
    try:
        with Progress() as line:
            for seen in watch(client.sessions, client.transport, session["id"], timeout_s=timeout_s):
                if seen["state"] in until:
                    return seen
                now = " ".join(filter(None, [seen["state"], progress_text(seen) or seen["reason"]]))
                fraction = (seen["progress"] or {"fraction": None})["fraction"]
                line.update(f"{seen['name']}: {now}", fraction, stage=seen["state"])
    except KeyboardInterrupt:
        say(f"\n{session['name']} goes on without you; carrel session rm {session['id']} ends it")
        raise
    raise AssertionError("watching ends only by an error")


def _confirmed(session: models.SessionDetail) -> bool:
    about = f"{session['name']} ({session['id']}, {session['state']})"
    return confirmed(f"End {about}? What is inside it is lost.", yes=False)


def _variable(text: str) -> tuple[str, str]:
    name, given, value = text.partition("=")
    if not name or name[0].isdigit() or not name.replace("_", "a").isalnum() or not name.isascii():
        raise ValueError(f"{name!r} is not a name for an environment variable")
    if not given and name not in os.environ:
        raise ValueError(f"{name} has no value here; write {name}=VALUE")
    return name, value if given else os.environ[name]


def _mount(text: str) -> models.MountRequest:
    """FOLDER[:SUBPATH][:PATH][:ro]. Of two in the middle the first is in the folder; a single one is a path in the
    session when it begins with a slash.
    """
    folder, *rest = text.split(":")
    wanted: models.MountRequest = {"folder": folder}
    if rest and rest[-1] in ("ro", "rw"):
        wanted["read_only"] = rest.pop() == "ro"
    if len(rest) == 2 or (rest and rest[-1].startswith("/")):
        wanted["path"] = rest.pop()
    if rest and rest[0]:
        wanted["subpath"] = rest[0]
    if not folder or len(rest) > 1:
        raise ValueError(f"{text!r} is not FOLDER[:SUBPATH][:PATH][:ro], as data or corpus:train:/data:ro")
    return wanted
