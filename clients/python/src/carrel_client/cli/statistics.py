"""Commands for statistics of a period."""

from __future__ import annotations

import argparse
import calendar
import re

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_table, say, write_bytes
from carrel_client.cli.parser import Arguments, reading
from carrel_client.cli.times import local_time
from carrel_client.slots import format_amount
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_SCOPES = ("site", "domain", "project", "group", "user")
_BY = ("domain", "project", "user", "group", "image")


def stats_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "scope",
        metavar="SCOPE",
        nargs="?",
        choices=_SCOPES,
        default="user",
        help=f"whose sessions: one of {', '.join(_SCOPES)}; default user",
    )
    parser.add_argument("ref", metavar="NAME", nargs="?", help="its name or id; for a user by default you")
    parser.add_argument(
        "--by", choices=_BY, default="project", help="one row for each of these (default project)"
    )
    parser.add_argument("--month", metavar="YYYY-MM", type=reading(_month), help="a whole month")
    parser.add_argument("--from", dest="from_", metavar="DAY", help="first day (default: of this month)")
    parser.add_argument("--to", metavar="DAY", help="last day, inclusive (default: today)")
    parser.add_argument("--limit", type=int, default=100, help="maximum number of rows (default 100)")
    parser.add_argument("--csv", action="store_true", help="print all rows as CSV")
    parser.explain(
        "Show slot-hours, peak, utilisation of what was allocated, waiting times, unused allocations with the\n"
        "session that wasted most, cost where prices are set, and the energy of accelerators where it is\n"
        "measured. Days are in UTC. Administrators see the site and what they administer; everybody sees their\n"
        "own statistics."
    )
    parser.example(
        "carrel stats",
        "carrel stats site --by project --month 2026-01",
        "carrel stats project vision --by user --csv > vision.csv",
    )


def stats(args: argparse.Namespace, context: Context) -> int:
    """Show statistics of a period."""
    first, last = args.month or (args.from_, args.to)
    if args.csv:
        text = context.client.usage.export(scope=args.scope, ref=args.ref, by=args.by, from_=first, to=last)
        write_bytes(text.encode())
        return 0
    response = context.client.usage.statistics(
        scope=args.scope, ref=args.ref, by=args.by, from_=first, to=last, limit=args.limit
    )
    context.answer(response, lambda: _print(response))
    return 0


def _print(view: models.StatisticsView) -> None:
    say(f"{view['first']} to {view['last']}, complete until {local_time(view['until'], 'nothing yet')}")
    names = [
        view["by"].upper(),
        "SLOT",
        "SLOT-HOURS",
        "PEAK",
        "UTILISATION",
        "UNUSED",
        "MOST UNUSED BY",
        "COST",
        "ENERGY",
    ]
    print_table(
        [Column(name) for name in names],
        [
            [row["label"] or "total", slot, *_amounts(slot, of, view["currency"])]
            for row in [*view["items"], view["total"]]
            for slot, of in sorted(row["slots"].items())
        ],
    )
    waits = ("PLACED", "WAIT P50", "P90", "P99", "SESSION-HOURS", "PEAK")
    print_table(
        [Column(name) for name in (view["by"].upper(), *waits)],
        [
            [
                row["label"] or "total",
                str(row["waits"]["sessions"]),
                *(_seconds(row["waits"][share]) for share in ("p50_s", "p90_s", "p99_s")),
                f"{row['session_hours']:.1f}",
                f"{row['session_peak']:.1f}",
            ]
            for row in [*view["items"], view["total"]]
        ],
    )
    if view["omitted"]:
        say(f"{view['omitted']} more rows; use --limit or --csv.")


def _amounts(slot: str, of: models.SlotStatistics, currency: str) -> list[str]:
    worst = of["worst"]
    return [
        _hours(slot, of["held"]),
        format_amount(slot, round(of["peak"])),
        "-" if of["utilisation"] is None else f"{100 * of['utilisation']:.0f} %",
        _hours(slot, of["unused"]),
        f"{worst['name']} ({worst['owner']['email']})" if worst else "-",
        "-" if of["cost"] is None else f"{of['cost']:.2f} {currency}",
        "-" if of["energy_kwh"] is None else f"{of['energy_kwh']:.2f} kWh",
    ]


def _hours(slot: str, amount: float) -> str:
    if slot == "mem":
        return f"{format_size(round(amount))}·h"
    return f"{amount / (1000 if slot == 'cpu' or slot.endswith('.shares') else 1):.1f}"


def _seconds(wait_s: float | None) -> str:
    return "-" if wait_s is None else f"{wait_s:.0f} s"


def _month(text: str) -> tuple[str, str]:
    """Its first and last day. Raises: ValueError."""
    match = re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])", text)
    if not match:
        raise ValueError(f"{text!r} is not a month; write for example 2026-01")
    days = calendar.monthrange(int(match[1]), int(match[2]))[1]
    return f"{text}-01", f"{text}-{days}"
