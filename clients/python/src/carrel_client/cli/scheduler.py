"""Commands for replays of a trace under a policy, in virtual time.

The replay runs the scheduler's own code from the server package; the other commands need only the client.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from carrel_client.cli.context import Context
from carrel_client.cli.output import print_json, say, write_bytes
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.progress import ProgressLine
from carrel_client.cli.times import moment
from carrel_client.errors import CarrelError

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
        help="trace of session requests: JSON lines or Standard Workload Format (optionally "
        "gzip); - for standard input",
    )
    parser.add_argument(
        "--policy",
        metavar="FILE",
        help="nodes, resource groups and ceilings: JSON or TOML (default: the installation's)",
    )
    parser.add_argument("--picture", metavar="FILE", type=reading(_drawing), help="also draw an SVG chart")
    parser.add_argument("--first", metavar="N", type=reading(_count), help="replay only the first N sessions")
    parser.add_argument(
        "--container-cores",
        metavar="N",
        type=reading(_count),
        help="split larger jobs of a Standard Workload file into containers with this many cores",
    )
    parser.explain(
        "Replay a trace in virtual time with the real scheduler, and print wait times, utilisation and\n"
        "fairness between projects. Without --policy it fetches the current policy from the server, for\n"
        "superadmins. The bundled trace and policy named campus are samples."
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
        result = report(_replayed(arrivals, _installation(args, context)))
    if args.picture:
        from carrel.simulator.picture import picture

        _write(args.picture, picture(result, args.trace))
    from carrel_client.cli.replay_views import as_json, print_report

    context.answer(as_json(result), lambda: print_report(result))
    return 0


def policy_arguments(parser: Arguments) -> None:
    parser.without_output()
    parser.explain(
        "Print the current nodes, resource groups with weights, and ceilings, as JSON for carrel scheduler\n"
        "simulate. For superadmins."
    )
    parser.example("carrel scheduler policy > now.json")


def policy(args: argparse.Namespace, context: Context) -> int:
    """Print the current policy."""
    print_json(context.client.scheduler.policy())
    return 0


def trace_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "--since",
        metavar="TIME",
        type=reading(moment),
        help="start: a duration ago, as 30d, or a time (default 30d)",
    )
    parser.add_argument(
        "--until", metavar="TIME", type=reading(moment), help="end: as --since (default: now)"
    )
    parser.without_output()
    parser.explain(
        "Print the sessions created in that period that held resources, as JSON lines for carrel scheduler\n"
        "simulate: time, request, duration, and the ids of user, project and domain, without names. For\n"
        "superadmins. The export is recorded in the audit trail."
    )
    parser.example("carrel scheduler trace --since 30d > month.jsonl")


def trace(args: argparse.Namespace, context: Context) -> int:
    """Print past sessions as a trace."""
    for block in context.client.scheduler.trace(since=args.since, until=args.until):
        write_bytes(block)
    return 0


def synth_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "--users", metavar="N", type=reading(_count), default=20, help="number of users (default 20)"
    )
    parser.add_argument(
        "--projects", metavar="N", type=reading(_count), default=5, help="number of projects (default 5)"
    )
    parser.add_argument(
        "--days",
        metavar="N",
        type=reading(_count),
        default=2,
        help="number of days, starting on a Monday (default 2)",
    )
    parser.add_argument(
        "--per-day",
        metavar="N",
        type=reading(_count),
        default=6,
        help="mean number of sessions per user and working day (default 6)",
    )
    parser.add_argument("--seed", metavar="N", type=reading(whole_number), default=1, help="random seed")
    parser.without_output()
    parser.explain(
        "Generate a synthetic trace: users are active by day, some far more than others; most sessions are\n"
        "short, and a few take most of the time. The same seed gives the same trace."
    )
    parser.example("carrel scheduler synth --users 20 --days 2 --seed 1 > made-up.jsonl")


def synth(args: argparse.Namespace, context: Context) -> int:
    """Generate a synthetic trace."""
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

    reported = -1

    def on_progress(done: int, of: int) -> None:
        nonlocal reported
        if done * _STEPS // of != reported:
            reported = done * _STEPS // of
            progress.update(f"replayed {done} of {of} sessions", done / of)

    with ProgressLine(after_s=_PATIENCE_S) as progress:
        return simulate(arrivals, installation, watch=on_progress)


@contextmanager
def _servers_code() -> Iterator[None]:
    """Guards code that needs the server package. Raises: CarrelError, also for that package's errors."""
    try:
        from carrel.core import errors
    except ModuleNotFoundError as missing:
        if missing.name not in ("carrel", "carrel.core"):
            raise
        raise CarrelError(
            "client.no_server_code",
            "A replay needs the scheduler of the server package, but only the client is installed.",
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
