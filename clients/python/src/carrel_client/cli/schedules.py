"""Commands for recurring sessions."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_facts, print_line, print_table
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.people import each, given
from carrel_client.cli.session_request import batch_arguments, session_arguments, session_request
from carrel_client.cli.times import local_time
from carrel_client.definition import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_REF = "id, or the name of one of your schedules"


def ls_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "--everyone",
        dest="owner",
        action="store_const",
        const="all",
        default="me",
        help="include other users' schedules that you may see",
    )
    parser.watches("schedule")
    parser.explain("List schedules of recurring sessions.")
    parser.example("carrel schedule ls", "carrel schedule ls -o json | jq -r '.items[].name'")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List schedules."""
    response: models.ScheduleList = {"items": [], "next_cursor": None}
    while True:
        page = context.client.schedules.list(owner=args.owner, limit=200, cursor=response["next_cursor"])
        response = {**page, "items": response["items"] + page["items"]}
        if not page["next_cursor"]:
            break
    columns = [Column(title) for title in ("NAME", "CRON", "TIME ZONE", "NEXT", "LAST", "ID")]
    rows = [
        [one["name"], one["cron"], one["timezone"], _next(one), _last(one["last"]), one["id"]]
        for one in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    parser.add_argument("schedule", metavar="SCHEDULE", help=_REF)
    parser.example("carrel schedule show nightly")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one schedule."""
    one = context.client.schedules.show(args.schedule)
    context.answer(one, lambda: _print(one))
    return 0


def create_arguments(parser: Arguments) -> None:
    parser.add_argument("schedule", metavar="NAME", help="unique among your schedules, 4 to 48 characters")
    _time_arguments(parser, required=True)
    session_arguments(parser)
    batch_arguments(parser)
    parser.followed_by_command("file")
    parser.explain(
        "Create a session at recurring times. It is created with your rights at that time; if it is refused\n"
        "then, the history says why. Missed are times more than 5 minutes ago, when Carrel was down.\n"
        "The time zone is that of the times (default UTC) and of the sessions (default: of your preferences)."
    )
    parser.example(
        "carrel schedule create nightly --cron '0 6 * * 1-5' --timezone Europe/Berlin -v data -- python report.py",
        "carrel schedule create hourly --cron '0 * * * *' --overlap forbid -f job.yaml",
    )


def create(args: argparse.Namespace, context: Context) -> int:
    """Create a schedule."""
    request = session_request(args)
    if args.command:
        request["kind"], request["command"] = "batch", list(args.command)
    made = context.client.schedules.create(
        name=args.schedule, session=request, **given(args, "cron", "timezone", "missed", "overlap")
    )
    context.answer(made, lambda: _print(made))
    return 0


def edit_arguments(parser: Arguments) -> None:
    parser.add_argument("schedule", metavar="SCHEDULE", help=_REF)
    parser.add_argument("--name", help="new name")
    _time_arguments(parser, required=False)
    parser.add_argument("--timezone", metavar="ZONE", help="such as Europe/Berlin")
    parser.add_argument(
        "-f", "--file", metavar="FILE", help="a definition that replaces that of its sessions"
    )
    parser.explain("Change a schedule. Sessions of earlier runs are unaffected.")
    parser.example(
        "carrel schedule edit nightly --cron '30 5 * * *'", "carrel schedule edit nightly -f job.yaml"
    )


def edit(args: argparse.Namespace, context: Context) -> int:
    """Change a schedule."""
    changes: dict[str, Any] = given(args, "name", "cron", "timezone", "missed", "overlap")
    if args.file:
        changes["session"] = load(args.file)
    changed = context.client.schedules.update(args.schedule, **changes)
    context.answer(changed, lambda: _print(changed))
    return 0


def pause_arguments(parser: Arguments) -> None:
    parser.add_argument("schedules", metavar="SCHEDULE", nargs="+", help=_REF)
    parser.explain("Pause schedules: their times pass without a run, until carrel schedule resume.")
    parser.example("carrel schedule pause nightly")


def pause(args: argparse.Namespace, context: Context) -> int:
    """Pause schedules."""
    pause = context.client.schedules.pause
    return each(context, args.schedules, lambda ref: (pause(ref), f"{ref} is paused"))


def resume_arguments(parser: Arguments) -> None:
    parser.add_argument("schedules", metavar="SCHEDULE", nargs="+", help=_REF)
    parser.example("carrel schedule resume nightly")


def resume(args: argparse.Namespace, context: Context) -> int:
    """Resume schedules."""

    def one(ref: str) -> tuple[object, str]:
        resumed = context.client.schedules.resume(ref)
        return resumed, f"{ref} runs next at {_next(resumed)}"

    return each(context, args.schedules, one)


def run_arguments(parser: Arguments) -> None:
    parser.add_argument("schedule", metavar="SCHEDULE", help=_REF)
    parser.explain(
        "Run a schedule now, by its rules, besides its times. Exit code 1 if no session was created."
    )
    parser.example("carrel schedule run nightly")


def run(args: argparse.Namespace, context: Context) -> int:
    """Run a schedule now."""
    made = context.client.schedules.run(args.schedule)
    context.answer(made, lambda: print_line(_last(made)))
    return 0 if made["outcome"] == "started" else 1


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("schedules", metavar="SCHEDULE", nargs="+", help=_REF)
    yes_argument(parser)
    parser.explain("Delete schedules and their histories. Sessions are unaffected.")
    parser.example("carrel schedule rm nightly")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Delete schedules."""
    if not removal_confirmed(args, "schedule", args.schedules):
        return 1

    def remove(ref: str) -> tuple[object, str]:
        context.client.schedules.remove(ref)
        return {"schedule": ref, "removed": True}, f"{ref} deleted"

    return each(context, args.schedules, remove)


def history_arguments(parser: Arguments) -> None:
    parser.add_argument("schedule", metavar="SCHEDULE", help=_REF)
    parser.add_argument("--limit", type=reading(whole_number), default=50, help="maximum number")
    parser.explain(
        "List the runs of a schedule, newest first: started, skipped or refused, with the results."
    )
    parser.example("carrel schedule history nightly --limit 10")


def history(args: argparse.Namespace, context: Context) -> int:
    """List the runs of a schedule."""
    response = context.client.schedules.runs(args.schedule, limit=args.limit)
    columns = [Column(title) for title in ("PLANNED", "OUTCOME", "SESSION", "STATE", "RESULT", "REASON")]
    rows = [
        [
            local_time(one["planned_at"]),
            one["outcome"],
            one["session_name"] or "",
            one["state"] or "",
            one["result"] or "",
            one["reason"] or "",
        ]
        for one in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def _time_arguments(parser: Arguments, *, required: bool) -> None:
    parser.add_argument(
        "--cron",
        metavar="TIMES",
        required=required,
        help="minute, hour, day of month, month, day of week: '0 6 * * 1-5'",
    )
    parser.add_argument(
        "--missed",
        choices=("skip", "run_once"),
        help="times missed while Carrel was down: skip them (default), or run the last one once",
    )
    parser.add_argument(
        "--overlap",
        choices=("allow", "forbid", "replace"),
        help="if the session of an earlier run has not ended: start anyway (default), skip, or replace it",
    )


def _next(one: models.ScheduleView) -> str:
    if not one["active"]:
        return "paused"
    return local_time(one["next_times"][0]) if one["next_times"] else "never"


def _last(run: models.ScheduleRunView | None) -> str:
    if run is None:
        return ""
    if run["outcome"] == "started":
        return f"{run['session_name']} is {run['result'] or run['state']}"
    return f"{run['outcome']}: {run['reason']}"


def _print(one: models.ScheduleView) -> None:
    print_facts(
        [
            ("id", one["id"]),
            ("name", one["name"]),
            ("owner", one["owner"]["email"]),
            ("project", one["project"]["name"]),
            ("times", f"{one['cron']} ({one['timezone']})"),
            ("missed", one["missed"]),
            ("overlap", one["overlap"]),
            *(("next", local_time(time)) for time in one["next_times"]),
            *(() if one["active"] else (("next", "paused"),)),
            ("last", _last(one["last"])),
            ("image", one["session"]["image"]),
            ("command", " ".join(one["session"].get("command", []))),
        ]
    )
