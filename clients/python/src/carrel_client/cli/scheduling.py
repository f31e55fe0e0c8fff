"""Commands that query the scheduler: why, check, priority, queue, shares."""

from __future__ import annotations

import argparse
import sys

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_facts, print_line, print_table, say
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.people import each
from carrel_client.cli.session_request import check_request, scheduling_arguments
from carrel_client.cli.times import local_time
from carrel_client.slots import format_amount, slots_text
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel_client import models

_PAGE = 1000


def why_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.explain(
        "Explain why a session is pending: its queue position, what blocks it, and what would start it now."
    )
    parser.example("carrel session why train-3", "carrel session why train-3 -o json | jq .changes")


def why(args: argparse.Namespace, context: Context) -> int:
    """Explain why a session is pending."""
    response = context.client.sessions.why(args.id)

    def show() -> None:
        facts = [("why", response["reason"]), *(("also", reason) for reason in response["also"])]
        if response["waiting"]:
            place = (
                f"{response['position']} of {response['queue_length']}" if response["position"] else "next"
            )
            places = [] if response["cause"] == "machine" else [("place", place)]
            facts = [("group", response["group"]["name"]), *places, *facts]
        print_facts([*facts, *_rest(response, response["expected_start"]), *_pull(response["image_pull"])])
        _print_obstacles(response["limits"], response["nodes"])
        _print_alternatives(response["alternatives"])

    context.answer(response, show)
    return 0


def check_arguments(parser: Arguments) -> None:
    parser.add_argument("--image", help="image name, for its minimum slots; see carrel image ls")
    scheduling_arguments(parser)
    parser.explain(
        "Check a session request and show your remaining capacity. Creates nothing. Exit "
        "code 0 if it would start now, 1 if it would wait or never start."
    )
    parser.example(
        "carrel session check --cpu 16 --mem 64g",
        "carrel session check --slot cuda.device=4 -o json | jq .verdict",
    )


def check(args: argparse.Namespace, context: Context) -> int:
    """Check a session request."""
    request: models.CheckRequest = {**check_request(args), "image": args.image}
    response = context.client.sessions.check(**request)
    context.answer(response, lambda: _print_check(response))
    return 0 if response["verdict"] == "starts" else 1


def _print_check(response: models.CheckView) -> None:
    verdicts = {"starts": "starts now", "waits": "would wait", "never": "could never start"}
    # A refusal at admission may be temporary, or specific to this user.
    verdict = "would be refused" if response["code"] else verdicts[response["verdict"]]
    facts = [("verdict", verdict), ("why", response["reason"])]
    facts.append(("group", (response["starts_in"] or response["group"])["name"]))
    if response["position"]:
        facts.append(("place", str(response["position"])))
    expected = response["expected_start"] if response["verdict"] == "waits" else None
    memory = response["device_mem_bytes"].items()
    facts += [("memory of devices", f"{family}: {format_size(size)} each") for family, size in sorted(memory)]
    facts += [("warning", f"{one['message']} {one['hint']}") for one in response["warnings"]]
    print_facts([*facts, *_rest(response, expected), *_pull(response["image_pull"])])
    _print_obstacles(response["limits"], response["nodes"])
    _print_alternatives(response["alternatives"])
    print_line("")
    rows = [
        [slot, format_amount(slot, room["now"]), format_amount(slot, room["most"]), room["by"]]
        for slot, room in response["slots"].items()
    ]
    print_table([Column("SLOT"), Column("NOW AT MOST"), Column("EVER AT MOST"), Column("SET BY")], rows)
    if len(response["groups"]) > 1:
        print_line("")
        groups = [[one["name"], verdicts[one["verdict"]], one["reason"]] for one in response["groups"]]
        print_table([Column("GROUP"), Column("VERDICT"), Column("WHY")], groups)
    if response["presets"]:
        print_line("")
        presets = [
            [one["name"], slots_text(one["slots"]), verdicts[one["verdict"]], one["reason"]]
            for one in response["presets"]
        ]
        print_table([Column("PRESET"), Column("SLOTS"), Column("VERDICT"), Column("WHY")], presets)


def _pull(cost: models.ImagePullCostView | None) -> list[tuple[str, str]]:
    return [("image", cost["sentence"])] if cost else []


def _print_alternatives(groups: Sequence[models.GroupWhyView]) -> None:
    """Why it does not start in the other groups that it accepts."""
    for one in groups:
        print_line("")
        place = f"{one['position']} of {one['queue_length']}"
        facts = [("also accepts", one["group"]["name"]), ("place", place), ("why", one["reason"])]
        print_facts([*facts, *(("also", reason) for reason in one["also"])])
        _print_obstacles(one["limits"], one["nodes"])


def _rest(response: models.WhyView | models.CheckView, expected: str | None) -> list[tuple[str, str]]:
    facts = [("would start it", change["text"]) for change in response["changes"]]
    if expected:
        facts.append(
            (
                "expected",
                f"{local_time(expected)}, if no session is added before it and all use their full "
                f"time limits",
            )
        )
    elif response["no_estimate"]:
        facts.append(("expected", response["no_estimate"]))
    return facts


def _print_obstacles(limits: Sequence[models.LimitView], nodes: Sequence[models.NodeCauseView]) -> None:
    if limits:
        print_line("")
        print_table(
            [Column("LIMIT OF"), Column("SLOT"), Column("AT MOST"), Column("USED"), Column("ASKED")],
            [
                [one["label"], one["slot"], *(format_amount(one["slot"], n) for n in _numbers(one))]
                for one in limits
            ],
        )
    if nodes:
        print_line("")
        rows = [[str(one["count"]), one["text"]] for one in nodes]
        print_table([Column("NODES"), Column("WHY NOT")], rows)


def _numbers(limit: models.LimitView) -> tuple[int, int, int]:
    return limit["ceiling"], limit["used"], limit["asked"]


def priority_arguments(parser: Arguments) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+", help="ids, unique id prefixes, or names")
    parser.add_argument("priority", metavar="N", type=reading(whole_number), help="0 to 100, highest first")
    parser.explain(
        "Change the priority of pending sessions in their queues. The name of an array changes all its pending\n"
        "sessions."
    )
    parser.example("carrel session priority train-3 20", "carrel session priority urgent sweep 90")


def priority(args: argparse.Namespace, context: Context) -> int:
    """Change the priority of pending sessions; continues after a failure."""

    def one(ref: str) -> tuple[object, str]:
        session = context.client.sessions.prioritise(ref, priority=args.priority)
        array = session["array"]
        name = array["name"] if array and ref == array["name"] else session["name"]
        return session, f"{name} is pending with priority {args.priority}."

    return each(context, args.ids, one)


def queue_arguments(parser: Arguments) -> None:
    _group_argument(parser)
    parser.add_argument(
        "--limit", type=reading(whole_number), default=50, help="maximum number (default 50); 0 for all"
    )
    parser.watches("session")
    parser.explain("Show the pending sessions of a resource group in queue order.")
    parser.example("carrel scheduler queue", "carrel scheduler queue --group gpu -o json")


def queue(args: argparse.Namespace, context: Context) -> int:
    """Show the queue of a resource group."""
    limit = args.limit or sys.maxsize
    response = context.client.scheduler.queue(group=args.group, limit=min(limit, _PAGE))
    while response["next_cursor"] and len(response["items"]) < limit:
        more = context.client.scheduler.queue(
            group=args.group, limit=min(limit - len(response["items"]), _PAGE), cursor=response["next_cursor"]
        )
        response = {**more, "items": [*response["items"], *more["items"]]}

    def show() -> None:
        columns = [
            Column(title)
            for title in ("PLACE", "NAME", "OWNER", "PROJECT", "SLOTS", "PRIORITY", "EXPECTED", "WHY")
        ]
        rows = [
            [
                str(one["position"]),
                one["name"] or "",
                one["owner"]["email"] if one["owner"] else "",
                one["project"]["name"] if one["project"] else "",
                slots_text(one["slots"]),
                str(one["priority"]),
                local_time(one["expected_start"]) if one["expected_start"] else "",
                one["reason"],
            ]
            for one in response["items"]
        ]
        print_table(columns, rows)
        if response["length"] > len(rows):
            say(f"These are the first {len(rows)} of {response['length']}; use --limit for more.")
        if not response["forecast_complete"]:
            say("The queue is too long to compute when all of it is expected to start.")

    context.answer(response, show)
    return 0


def shares_arguments(parser: Arguments) -> None:
    _group_argument(parser)
    parser.explain(
        "Show current and past usage of a resource group by domain, project and user, "
        "with their entitled shares. Under fair share, the lowest level goes next."
    )
    parser.example("carrel scheduler shares --group gpu")


def shares(args: argparse.Namespace, context: Context) -> int:
    """Show the fair shares of a resource group."""
    response = context.client.scheduler.shares(group=args.group)

    def show() -> None:
        columns = [
            Column(title) for title in ("WHO", "WEIGHT", "SHARE", "ENTITLED", "LEVEL", "HOLDS", "WAITING")
        ]
        print_table(columns, list(_share_rows(response["items"], 0)))

    context.answer(response, show)
    return 0


def _share_rows(nodes: Sequence[models.ShareNode], depth: int) -> Iterator[list[str]]:
    for one in nodes:
        numbers = (
            f"{one['weight']:g}",
            f"{one['share']:.1%}",
            f"{one['entitled']:.1%}",
            f"{one['level']:.3f}",
        )
        held = {slot: round(amount) for slot, amount in one["held"].items()}
        yield ["  " * depth + one["name"], *numbers, slots_text(held), str(one["waiting"])]
        yield from _share_rows(one["children"], depth + 1)


def _group_argument(parser: Arguments) -> None:
    parser.add_argument("--group", default="default", metavar="GROUP", help="id or name (default: default)")
