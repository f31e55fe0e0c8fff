"""Commands that replay: a trace under a policy, in virtual time.

The replay runs the scheduler's own code, which the server's package has; the other commands need only the client.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from carrel_client.cli.context import Context
from carrel_client.cli.output import print_json, say, write_bytes
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.progress import Progress
from carrel_client.errors import CarrelError
from carrel_client.units import parse_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel.simulator.installation import SimulatedInstallation
    from carrel.simulator.simulate import Replay
    from carrel.simulator.traces import TraceEntry

_PATIENCE_S = 2.0
_STEPS = 200


def simulate_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "--trace",
        metavar="FILE",
        required=True,
        help="who asked for what and when: JSON lines, or Standard Workload Format (may be packed with gzip); "
        "- for standard input",
    )
    parser.add_argument(
        "--policy",
        metavar="FILE",
        help="nodes, resource groups and ceilings: JSON or TOML (default: those of the installation)",
    )
    parser.add_argument("--picture", metavar="FILE", type=reading(_drawing), help="draw it too, as SVG")
    parser.add_argument("--first", metavar="N", type=reading(_count), help="replay only so many sessions")
    parser.add_argument(
        "--container-cores",
        metavar="N",
        type=reading(_count),
        help="split larger jobs of a Standard Workload file into containers of so many cores",
    )
    parser.explain(
        "Replay a trace in virtual time with the code that places real sessions, and print how long people waited,\n"
        "how much was in use, and how fairly the projects fared. Without --policy it asks the server for the present\n"
        "one, for superadmins. The trace and the policy called campus ship, to try it with."
    )
    parser.example(
        "carrel scheduler simulate --trace campus --policy campus --picture campus.svg",
        "carrel scheduler trace --since 30d > month.jsonl && carrel scheduler policy > now.json",
        "carrel scheduler simulate --trace month.jsonl --policy changed.json -o json | jq .waits",
        "carrel scheduler simulate --trace machine.swf.gz --policy machine.toml --container-cores 8",
    )


def simulate(args: argparse.Namespace, context: Context) -> int:
    """Replay a trace under a policy."""
    with _servers_code():
        from carrel.queue import replay_files
        from carrel.simulator.report import report

        arrivals = replay_files.trace(args.trace, container_cores=args.container_cores, first=args.first)
        found = report(_replayed(arrivals, _installation(args, context)))
    if args.picture:
        from carrel.simulator.picture import picture

        _write(args.picture, picture(found, args.trace))
    from carrel_client.cli.replay_views import as_json, print_report

    context.answer(as_json(found), lambda: print_report(found))
    return 0


def policy_arguments(parser: Arguments) -> None:
    parser.without_output()
    parser.explain(
        "Print nodes, resource groups with their weights, and ceilings as they are now, as JSON that\n"
        "carrel scheduler simulate reads. For superadmins."
    )
    parser.example("carrel scheduler policy > now.json")


def policy(args: argparse.Namespace, context: Context) -> int:
    """Print the present policy."""
    print_json(context.client.scheduler.policy())
    return 0


def trace_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "--since",
        metavar="TIME",
        type=reading(_moment),
        help="so long ago, as 30d, or from a time on (default 30d)",
    )
    parser.add_argument("--until", metavar="TIME", type=reading(_moment), help="the same (default: now)")
    parser.without_output()
    parser.explain(
        "Print the sessions that were asked for in that time and held resources, as JSON lines that\n"
        "carrel scheduler simulate reads: when, what, for how long, and the ids of user, project and domain, without\n"
        "their names. For superadmins. The export is noted in the audit trail."
    )
    parser.example("carrel scheduler trace --since 30d > month.jsonl")


def trace(args: argparse.Namespace, context: Context) -> int:
    """Print the past as a trace."""
    for block in context.client.scheduler.trace(since=args.since, until=args.until):
        write_bytes(block)
    return 0


def synth_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "--users", metavar="N", type=reading(_count), default=20, help="how many (default 20)"
    )
    parser.add_argument(
        "--projects", metavar="N", type=reading(_count), default=5, help="that they are in (default 5)"
    )
    parser.add_argument(
        "--days", metavar="N", type=reading(_count), default=2, help="from a Monday on (default 2)"
    )
    parser.add_argument(
        "--per-day",
        metavar="N",
        type=reading(_count),
        default=6,
        help="how often each asks on a working day, on average (default 6)",
    )
    parser.add_argument(
        "--seed", metavar="N", type=reading(whole_number), default=1, help="another, another trace"
    )
    parser.without_output()
    parser.explain(
        "Print a trace that nobody made: people come by day, some far more often than others; most sessions are\n"
        "short, and a few take most of the time. The same seed gives the same trace."
    )
    parser.example("carrel scheduler synth --users 20 --days 2 --seed 1 > made-up.jsonl")


def synth(args: argparse.Namespace, context: Context) -> int:
    """Print a trace that nobody made."""
    with _servers_code():
        from carrel.simulator.synthesis import Habits, synthesize
        from carrel.simulator.traces import line

    habits = Habits(args.users, args.days, args.per_day, projects=args.projects)
    for one in synthesize(habits, args.seed):
        sys.stdout.write(f"{line(one)}\n")
    return 0


def _installation(args: argparse.Namespace, context: Context) -> SimulatedInstallation:
    from carrel.queue import replay_files
    from carrel.queue.policy_file import SchedulerPolicy, installation

    if args.policy:
        return installation(replay_files.policy(args.policy))
    return installation(SchedulerPolicy.model_validate(context.client.scheduler.policy()))


def _replayed(arrivals: list[TraceEntry], installation: SimulatedInstallation) -> Replay:
    from carrel.simulator.simulate import simulate

    told = -1

    def tell(done: int, of: int) -> None:
        nonlocal told
        if done * _STEPS // of != told:
            told = done * _STEPS // of
            progress.update(f"replayed {done} of {of} sessions", done / of)

    with Progress(after_s=_PATIENCE_S) as progress:
        return simulate(arrivals, installation, watch=tell)


@contextmanager
def _servers_code() -> Iterator[None]:
    """Around what needs the server's package. Raises: CarrelError, also for what that package refuses."""
    try:
        from carrel.core import errors
    except ModuleNotFoundError as missing:
        if missing.name not in ("carrel", "carrel.core"):
            raise
        raise CarrelError(
            "client.no_server_code",
            "A replay runs the scheduler's own code, and only the client is installed here.",
            status=422,
            hint="Run it where the server is installed, for example in its checkout: ./carrel scheduler simulate",
        ) from None
    try:
        yield
    except errors.CarrelError as refused:
        raise CarrelError(
            refused.code, refused.message, status=refused.status, hint=refused.hint, field=refused.field
        ) from None


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise CarrelError("client.file", f"{path}: {error.strerror or error}.", status=422) from error
    say(f"drawn in {path}")


def _drawing(text: str) -> str:
    """Raises: ValueError."""
    if text.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf")):
        raise ValueError(f"the picture is SVG, and {text!r} says something else; write for example waits.svg")
    return text


def _count(text: str) -> int:
    """Raises: ValueError."""
    if not (number := whole_number(text)):
        raise ValueError("0 is too few")
    return number


def _moment(text: str) -> str:
    """A time, from a time or from how long ago it was. Raises: ValueError."""
    if text[:4].isdigit() and text[4:5] == "-":
        return text
    return (datetime.now(UTC) - timedelta(seconds=parse_duration(text))).isoformat()
