"""Commands for allocation and usage over time."""

from __future__ import annotations

import argparse

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_table, say
from carrel_client.cli.parser import Arguments
from carrel_client.cli.session_views import sparkline
from carrel_client.slots import format_amount

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_SCOPES = ("site", "domain", "project", "group", "node", "user")


def history_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "scope",
        metavar="SCOPE",
        nargs="?",
        choices=_SCOPES,
        default="user",
        help=f"one of {', '.join(_SCOPES)}; default user",
    )
    parser.add_argument("ref", metavar="NAME", nargs="?", help="its name or id; for a user by default you")
    parser.add_argument("--range", choices=("24h", "7d", "30d"), default="24h", help="default 24h")
    parser.explain(
        "Show what was allocated and used over time, the pending sessions, and the median wait of those that "
        "were placed. Administrators see the site and what they administer; everybody sees their own usage."
    )
    parser.example("carrel usage history", "carrel usage history project vision --range 7d -o json")


def history(args: argparse.Namespace, context: Context) -> int:
    """Show allocation and usage over time."""
    response = context.client.usage.history(scope=args.scope, ref=args.ref, range=args.range)

    def show() -> None:
        if not response["times"]:
            say("There are no measurements for that time.")
            return
        columns = [Column(title) for title in ("MEASURE", "NOW", "MEAN", "PEAK", "COURSE")]
        print_table(columns, [_row(name, series) for name, series in response["measures"].items()])

    context.answer(response, show)
    return 0


def _row(name: str, series: models.MeasureSeries) -> list[str]:
    means = [value for value in series["mean"] if value is not None]
    peaks = [value for value in series["peak"] if value is not None]
    if not means:
        return [name, "-", "-", "-", ""]
    amounts = [means[-1], sum(means) / len(means), max(peaks)]
    return [name, *(_amount(name, amount) for amount in amounts), sparkline([round(mean) for mean in means])]


def _amount(name: str, amount: float) -> str:
    if name == "wait_s":
        return f"{amount:.0f} s"
    if name == "accelerator.used":
        return f"{amount:.0f} %"
    slot, _, _ = name.rpartition(".")
    return f"{amount:.1f}" if slot == "sessions" else format_amount(slot, round(amount))
