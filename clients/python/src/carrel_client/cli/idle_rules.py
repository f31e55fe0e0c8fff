"""Dry runs of idle rules."""

from __future__ import annotations

import argparse

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_line, print_table, say
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import given
from carrel_client.cli.policies import idle_arguments
from carrel_client.cli.progress import ProgressLine
from carrel_client.cli.times import local_time
from carrel_client.units import format_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models


def dry_run_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "policy",
        metavar="POLICY",
        nargs="?",
        help="only the sessions that follow this policy, with its rules unless others are given; omitted: all sessions",
    )
    idle_arguments(parser)
    parser.add_argument(
        "--days", metavar="N", type=int, default=30, help="how far to look back (default: 30)"
    )
    parser.explain(
        "Show which sessions of the last days idle rules would have ended, when, and with which measured figures.\n"
        "Changes nothing. Traffic before the last one of a session is not recorded and counts as use."
    )
    parser.example(
        "carrel policy dry-run students --idle-use cpu=5,accelerator=5,window=1h,grace=10m",
        "carrel policy dry-run --idle-timeout 2h --days 7 -o json | jq '.items[].name'",
    )


def dry_run(args: argparse.Namespace, context: Context) -> int:
    """Try idle rules on past sessions."""
    asked: dict[str, Any] = given(args, "policy", "idle_timeout_s", "idle_use")
    endings: list[models.DryRunEnding] = []
    cursor: str | None = None
    with ProgressLine(after_s=1.0) as progress:
        while True:
            page = context.client.policies.dry_run(days=args.days, cursor=cursor, **asked)
            endings += page["items"]
            checked, total, cursor = page["checked"], page["total"], page["next_cursor"]
            if cursor is None:
                break
            progress.update(f"{checked} of {total} sessions, {len(endings)} ended", checked / max(total, 1))
    context.answer(
        {"items": endings, "checked": checked, "total": total}, lambda: _print(endings, checked, args.days)
    )
    return 0


def _print(endings: list[models.DryRunEnding], checked: int, days: int) -> None:
    columns = [
        Column(title) for title in ("SESSION", "OWNER", "PROJECT", "STARTED", "WOULD END", "EARLIER BY")
    ]
    rows = [
        [
            one["name"],
            one["owner"]["email"],
            one["project"]["name"],
            local_time(one["started_at"]),
            local_time(one["ends_at"]),
            format_duration(one["freed_s"]),
            one["why"],
        ]
        for one in sorted(endings, key=lambda one: -one["freed_s"])
    ]
    if rows:
        print_table([*columns, Column("WHY")], rows)
        print_line("")
    say(f"{len(endings)} of {checked} sessions of the last {days} days would have been ended.")
