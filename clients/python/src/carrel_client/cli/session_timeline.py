"""The command that shows how long each step of a session's start took."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_table, say
from carrel_client.cli.parser import Arguments
from carrel_client.cli.times import local_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models


def timeline_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.explain(
        "Show the last start of a session, step by step: queue, mounts (its folders), image and container of each\n"
        "container, barrier (a cluster waits for its last container), and each app from its first opening until it\n"
        "responds."
    )
    parser.example("carrel session timeline train-3", "carrel session timeline train-3 -o json")


def timeline(args: argparse.Namespace, context: Context) -> int:
    """Show how long each step of a session's start took."""
    response = context.client.sessions.timeline(args.id)

    def show() -> None:
        columns = [Column("STEP"), Column("OF"), Column("BEGAN"), Column("TOOK")]
        rows = [
            [
                step["step"],
                step["container"] or step["app"] or "",
                local_time(step["begins_at"]),
                took(response, step),
            ]
            for step in response["steps"]
        ]
        print_table(columns, rows)
        if response["ready_at"]:
            say(f"It ran after {span(response['begins_at'], response['ready_at'])}.")

    context.answer(response, show)
    return 0


def took(timeline: models.SessionTimeline, step: models.StepView) -> str:
    """How long the step took; of one without an end, how long it goes on, or that it was not completed."""
    if step["ends_at"]:
        return span(step["begins_at"], step["ends_at"])
    if timeline["ready_at"] or timeline["stopped_at"]:
        return "not completed"
    return f"{span(step['begins_at'], datetime.now(UTC).isoformat())} so far"


def span(begins_at: str, ends_at: str) -> str:
    """The time between two moments: "340 ms", "2.4 s", "5 min 12 s", "2 h 5 min"."""
    lasted_s = max(0.0, (datetime.fromisoformat(ends_at) - datetime.fromisoformat(begins_at)).total_seconds())
    if lasted_s < 1:
        return f"{lasted_s * 1000:.0f} ms"
    if lasted_s < 60:
        return f"{lasted_s:.1f} s"
    minutes, seconds = divmod(round(lasted_s), 60)
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{minutes} min {seconds} s"
