"""Commands that show the installation: images, resources, events, health."""

from __future__ import annotations

import argparse
from functools import partial

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_line, print_table
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.times import local_time
from carrel_client.slots import format_amount

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_PASSING = ("hello", "usage")
_DOWN = 1


def resources_arguments(parser: Arguments) -> None:
    parser.explain("Show total and free capacity, and the largest free amount on one node.")
    parser.example("carrel resources")


def resources(args: argparse.Namespace, context: Context) -> int:
    """Show resources."""
    response = context.client.resources.show()
    sums: Any = (response["capacity"], response["used"], response["left"], response["largest"])
    rows = [
        [slot, *[format_amount(slot, amounts.get(slot, 0)) for amounts in sums]]
        for slot in sorted({slot for amounts in sums for slot in amounts})
    ]
    columns = [Column(title) for title in ("SLOT", "CAPACITY", "USED", "LEFT", "ON ONE NODE")]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def events_arguments(parser: Arguments) -> None:
    parser.add_argument("-f", "--follow", action="store_true", help="follow new events")
    parser.add_argument(
        "--usage", action="store_true", help="with --follow: include usage samples, every few seconds"
    )
    parser.add_argument(
        "--limit", type=reading(whole_number), default=100, help="number of latest events (default 100)"
    )
    parser.explain("Show events, newest last. With --follow -o json: one object per line.")
    parser.example("carrel events", "carrel events --follow -o json | jq -r .kind")


def events(args: argparse.Namespace, context: Context) -> int:
    """Show events."""
    if args.follow:
        return _follow(args, context)
    response = context.client.events.list(limit=args.limit)

    def show() -> None:
        for event in reversed(response["items"]):
            _print_event(event)

    context.answer(response, show)
    return 0


def status_arguments(parser: Arguments) -> None:
    parser.explain("Show the health of each component; exit code 1 if one is down.")
    parser.example("carrel server status")


def status(args: argparse.Namespace, context: Context) -> int:
    """Show the server's components."""
    server = context.client.server.show()
    columns = [Column("PART"), Column("STATE", {"ok": "green", "low": "yellow"}, otherwise="red")]
    columns += [Column(title) for title in ("VERSION", "ADDRESS", "DETAIL")]
    rows = [
        [part["name"], part["state"], part["version"] or "", part["address"] or "", part["detail"] or ""]
        for part in server["parts"]
    ]

    def show() -> None:
        print_line(f"{server['name']} {server['version']} at {context.client.transport.target.url}")
        print_table(columns, rows)

    context.answer(server, show)
    return _DOWN if any(part["state"] == "down" for part in server["parts"]) else 0


def _follow(args: argparse.Namespace, context: Context) -> int:
    for event in context.client.events.follow():
        if event["kind"] == "hello" or (event["kind"] in _PASSING and not args.usage):
            continue
        context.stream(event, partial(_print_event, event))
    return 0


def _print_event(event: models.EventView) -> None:
    print_line(_line(event))


def _line(event: models.EventView) -> str:
    """An event as a line: time, kind, object and state."""
    at = event["at"]
    when = local_time(at, "-")
    content = event["data"]
    if not event["object"]["id"]:
        return f"{when}  {event['kind']}  {content}"
    words = [str(content[field]) for field in ("name", "state", "reason") if content.get(field)]
    progress = content.get("progress")
    if isinstance(progress, dict) and progress.get("text"):
        words.append(str(progress["text"]))
    return f"{when}  {event['kind']}  {event['object']['id']}  {'  '.join(words)}".rstrip()
