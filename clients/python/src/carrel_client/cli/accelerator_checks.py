"""Commands for checks of accelerators."""

from __future__ import annotations

import argparse
import time

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, counted, print_facts, print_line, print_table
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.people import given
from carrel_client.cli.progress import ProgressLine
from carrel_client.cli.times import local_time
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_STATES = {"done": "green", "failed": "red", "cancelled": "yellow"}
_OUTCOMES = {"passed": "green", "failed": "red", "not measured": "yellow"}
_FASTEST_S, _SLOWEST_S = 0.1, 2.0
_REFUSED = 1
_WHOLE = 1000


def check_arguments(parser: Arguments) -> None:
    parser.add_argument("node", metavar="NODE", help="its name or id")
    parser.add_argument(
        "--device", metavar="ID", help="only this one, by its full id (default: all that no session holds)"
    )
    parser.add_argument(
        "--image",
        metavar="IMAGE",
        help="of the containers: with a shell, and Python 3 for shares of NVIDIA GPUs (default: one of the catalogue)",
    )
    parser.add_argument("--no-wait", action="store_true", help="do not wait until it has ended")
    parser.explain(
        "Check the accelerators of a node with containers that look from inside: what each was given, that it sees no\n"
        "other device, and for shares of NVIDIA GPUs whether the driver refuses memory beyond the share, and how much\n"
        "slower a neighbour computes. Accelerators that sessions hold are left out. It goes on without this command;\n"
        "exit code 1 if something failed. Superadministrators only."
    )
    parser.example(
        "carrel node check-accelerators gpu-1",
        "carrel node check-accelerators gpu-1 --device GPU-3f0a51c2-7d6e-4b19-8a02-c5e94f1b6d37",
        "carrel node check-accelerators gpu-1 --image python:3.12 -o json",
    )


def check(args: argparse.Namespace, context: Context) -> int:
    """Check the accelerators of a node."""
    started = context.client.accelerator_checks.create(node=args.node, **given(args, "device", "image"))
    ended = started if args.no_wait else _ended(context, started)
    context.answer(ended, lambda: _print(ended))
    return _REFUSED if ended["state"] in ("failed", "cancelled") or ended["outcome"] == "failed" else 0


def checks_arguments(parser: Arguments) -> None:
    parser.add_argument("node", metavar="NODE", nargs="?", help="only of this node: its name or id")
    parser.add_argument("--limit", type=reading(whole_number), default=20, help="maximum number (default 20)")
    parser.watches("accelerator_check")
    parser.explain("List checks of accelerators, the latest first. Superadministrators only.")
    parser.example(
        "carrel node accelerator-checks gpu-1",
        "carrel node accelerator-checks -o json | jq '.items[0].results'",
    )


def checks(args: argparse.Namespace, context: Context) -> int:
    """List checks of accelerators."""
    response = context.client.accelerator_checks.list(node=args.node, limit=args.limit)
    columns = [Column("NODE"), Column("STATE", _STATES), Column("OUTCOME", _OUTCOMES)]
    columns += [Column(title) for title in ("DEVICES", "DRIVER", "REQUESTED", "BY", "PROBLEM", "ID")]
    rows = [
        [
            one["node"]["name"],
            one["state"],
            _words(one["outcome"]),
            str(len(one["results"] or one["taken"])),
            one["driver"],
            local_time(one["created_at"]),
            one["requested_by"]["email"] if one["requested_by"] else "carrel",
            one["problem"],
            one["id"],
        ]
        for one in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def show_check_arguments(parser: Arguments) -> None:
    _check(parser)
    parser.explain("Show a check of accelerators, with what was seen of each.")
    parser.example("carrel node show-check abcdefghijkl")


def show_check(args: argparse.Namespace, context: Context) -> int:
    """Show a check of accelerators."""
    shown = context.client.accelerator_checks.show(args.check)
    context.answer(shown, lambda: _print(shown))
    return 0


def cancel_check_arguments(parser: Arguments) -> None:
    _check(parser)
    parser.explain(
        "Cancel a check of accelerators: its containers are removed, and its accelerators are free again."
    )
    parser.example("carrel node cancel-check abcdefghijkl")


def cancel_check(args: argparse.Namespace, context: Context) -> int:
    """Cancel a check of accelerators."""
    cancelled = context.client.accelerator_checks.cancel(args.check)
    name = cancelled["node"]["name"]
    context.answer(
        cancelled, lambda: print_line(f"the check of the accelerators of {name} is being cancelled")
    )
    return 0


def put_back_arguments(parser: Arguments) -> None:
    parser.add_argument("node", metavar="NODE", help="its name or id")
    parser.add_argument("device", metavar="DEVICE", help="full id of an accelerator, see carrel node devices")
    parser.explain(
        "Offer an accelerator to sessions again that was out of order and has no problem any more, without the check\n"
        "that Carrel makes otherwise. Superadministrators only."
    )
    parser.example("carrel node put-back gpu-1 GPU-3f0a51c2-7d6e-4b19-8a02-c5e94f1b6d37")


def put_back(args: argparse.Namespace, context: Context) -> int:
    """Put an accelerator back without a check."""
    changed = context.client.nodes.put_back(args.node, device=args.device)
    context.answer(
        changed,
        lambda: print_line(f"{changed['device']} of {changed['node']['name']} is offered to sessions again"),
    )
    return 0


def _check(parser: Arguments) -> None:
    parser.add_argument("check", metavar="ID", help="id of a check, see carrel node accelerator-checks")


def _ended(context: Context, check: models.AcceleratorCheckView) -> models.AcceleratorCheckView:
    """The check once it has ended; its progress is on stderr meanwhile."""
    pause_s = _FASTEST_S
    with ProgressLine(after_s=1.0) as line:
        while check["ended_at"] is None:
            line.update(check["problem"] or check["step"] or "Waiting", check["progress"])
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _SLOWEST_S)
            check = context.client.accelerator_checks.show(check["id"])
    return check


def _print(check: models.AcceleratorCheckView) -> None:
    facts = [
        ("Node", check["node"]["name"]),
        ("State", check["state"]),
        ("Outcome", _words(check["outcome"])),
        ("Problem", check["problem"]),
        ("Driver", check["driver"]),
        ("Image", check["image"] or ""),
        ("Ended", local_time(check["ended_at"])),
    ]
    print_facts([(name, value) for name, value in facts if value])
    columns = [Column("DEVICE"), Column("MEASURE"), Column("OUTCOME", _OUTCOMES), Column("WHAT WAS SEEN")]
    rows = [
        [one["device"], measure["name"], _words(measure["outcome"]), measure["text"]]
        for one in check["results"]
        for measure in one["measures"]
    ]
    rows += [
        [
            one["device"],
            f"{share['thousandths'] / _WHOLE:g} of it",
            _words(share["outcome"]),
            _share_text(share),
        ]
        for one in check["results"]
        for share in one["shares"]
    ]
    if rows:
        print_table(columns, rows)
    if check["ended_at"] is None:
        taken = counted(len(check["taken"]), "accelerator")
        print_line(f"{taken} taken; see carrel node show-check {check['id']}, or cancel it with cancel-check")


def _share_text(share: models.ShareResult) -> str:
    limit, allocated, loss = share["limit_bytes"], share["allocated_bytes"], share["neighbour_loss_percent"]
    parts = []
    if limit is not None and allocated is not None:
        parts.append(f"got {format_size(allocated)} of memory; its share is {format_size(limit)}.")
    if loss is not None:
        parts.append(f"The neighbour computed {loss:g} % slower.")
    return " ".join([*parts, *filter(None, [share["text"]])])


def _words(outcome: str | None) -> str:
    return (outcome or "").replace("_", " ")
