"""Commands for usage of a session, and for allocation and usage over time."""

from __future__ import annotations

import argparse

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_table, say
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.session_views import sparkline
from carrel_client.slots import format_amount, slots_text
from carrel_client.units import format_cpu, format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_SCOPES = ("site", "domain", "project", "group", "node", "user")
_RATES = ("received", "sent", "read", "written")
"""Of a machine, in bytes per second."""


_MEASURES = {
    "cpu_millis": "cpu",
    "mem_bytes": "mem",
    "accelerator_percent": "accelerator",
    "accelerator_mem_percent": "accelerator mem",
    "read_rate": "disk read",
    "write_rate": "disk write",
    "rx_rate": "received",
    "tx_rate": "sent",
    "disk_bytes": "disk",
}


def session_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.add_argument(
        "--minutes", type=reading(whole_number), help="the last minutes (default 60)", metavar="N"
    )
    parser.add_argument("--from", dest="from_", metavar="TIME", help="not before: 2026-01-31, or with T14:00")
    parser.add_argument("--to", metavar="TIME", help="before this time; without a zone it is UTC")
    parser.add_argument(
        "--step",
        metavar="SECONDS",
        type=reading(whole_number),
        help="length of an interval (default: 400 of them)",
    )
    parser.add_argument("--container", metavar="NAME", help="only this one, such as sub1; default: all")
    parser.explain(
        "Show CPU, memory, accelerators, disk and network I/O and disk space of a session's containers,\n"
        "and the energy of accelerators that measure their power, since the session started.\n"
        "Kept are every 10 seconds of the last day, minutes of a month, and hours of three years."
    )
    parser.example(
        "carrel session usage train-3 --minutes 10",
        "carrel session usage train-3 --from 2026-01-31 --to 2026-02-01 --step 60 -o json",
    )


def session(args: argparse.Namespace, context: Context) -> int:
    """Show measured use."""
    response = context.client.sessions.usage(
        args.id,
        minutes=args.minutes,
        from_=args.from_,
        to=args.to,
        container=args.container,
        step=args.step,
    )

    def show() -> None:
        rows = [
            [one["name"], _MEASURES[measure], *_course(measure, one["measures"][measure])]
            for one in response["containers"]
            for measure in _MEASURES
            if measure in one["measures"]
        ]
        if not rows:
            say("There are no measurements for that time.")
        else:
            titles = ("CONTAINER", "MEASURE", "NOW", "MEAN", "PEAK", "COURSE")
            print_table([Column(title) for title in titles], rows)
        if response["energy"]:
            devices = [Column(title) for title in ("DEVICE", "MODEL", "ENERGY", "MEASURED")]
            print_table(devices, [_energy(one) for one in response["energy"]])

    context.answer(response, show)
    return 0


def _energy(one: models.DeviceEnergyView) -> list[str]:
    return [
        one["device"],
        one["model"] or "-",
        f"{one['energy_kwh']:.3f} kWh",
        f"{one['power_hours']:.1f} h",
    ]


def _course(measure: str, series: models.MeasureSeries) -> list[str]:
    means = [value for value in series["mean"] if value is not None]
    peaks = [value for value in series["peak"] if value is not None]
    amounts = (means[-1], sum(means) / len(means), max(peaks))
    return [*(_measured(measure, amount) for amount in amounts), sparkline([round(mean) for mean in means])]


def _measured(measure: str, amount: float) -> str:
    if measure == "cpu_millis":
        return format_cpu(round(amount))
    if measure.endswith("_percent"):
        return f"{amount:.0f} %"
    return format_size(round(amount)) + ("/s" if measure.endswith("_rate") else "")


def idle_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "--below", metavar="PERCENT", type=int, default=5, help="percentage of the allocated CPU (default 5)"
    )
    parser.add_argument("--limit", type=int, default=50, help="maximum number, 1 to 200 (default 50)")
    parser.explain(
        "List running sessions whose mean CPU usage of the last five minutes is below a percentage of their "
        "allocation, the largest allocation first."
    )
    parser.example("carrel usage idle", "carrel usage idle --below 10 -o json | jq -r '.items[].id'")


def idle(args: argparse.Namespace, context: Context) -> int:
    """List sessions that hardly use their CPU."""
    response = context.client.usage.idle(below=args.below, limit=args.limit)

    def show() -> None:
        columns = [Column(title) for title in ("ID", "NAME", "OWNER", "CPU", "ALLOCATED")]
        rows = [
            [
                one["id"],
                one["name"],
                one["owner"]["email"],
                f"{one['cpu_percent']:.1f} %",
                slots_text(one["slots"]),
            ]
            for one in response["items"]
        ]
        print_table(columns, rows)
        if response["total"] > len(rows):
            say(f"These are {len(rows)} of {response['total']}; use --limit for more.")

    context.answer(response, show)
    return 0


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
    if name == "accelerator.used" or name.endswith(".percent"):
        return f"{amount:.0f} %"
    slot, _, measure = name.rpartition(".")
    if slot == "host" and measure != "cpu":
        size = format_size(round(amount))
        return f"{size}/s" if measure in _RATES else size
    if slot == "host":
        return format_amount(measure, round(amount))
    return f"{amount:.1f}" if slot == "sessions" else format_amount(slot, round(amount))
