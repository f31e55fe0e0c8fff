"""Commands for images on nodes: list them, pull ahead, clean up."""

from __future__ import annotations

import argparse
import re
import time
from functools import partial

from carrel_client.cli.asking import confirmed, require_terminal, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, counted, print_line, print_table, say
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.people import list_arguments, listed
from carrel_client.cli.progress import ProgressLine
from carrel_client.cli.times import local_time
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_STATES = {"done": "green", "failed": "red", "cancelled": "yellow"}
_FASTEST_S, _SLOWEST_S = 0.1, 2.0
_REFUSED = 1
_KEPT = {
    "foreign": "not pulled by Carrel",
    "in_use": "in use by a container",
    "needed": "needed by a session, a pull, an environment or Carrel",
    "registered": "registered under a name",
    "recent": "used more recently",
}


def images_arguments(parser: Arguments) -> None:
    parser.add_argument("node", metavar="NODE", help="its name or id")
    list_arguments(parser, "size", "used_at", "since")
    parser.watches("node_image")
    parser.explain(
        "List the images on a node, the largest first. Layers that images share count for each of them. Only images\n"
        "that Carrel pulled are ever removed by carrel image prune."
    )
    parser.example("carrel node images gpu-1", "carrel node images gpu-1 --sort used_at")


def images(args: argparse.Namespace, context: Context) -> int:
    """List the images on a node."""
    sums: dict[str, int] = {}

    def page(**query: Any) -> models.NodeImageList:
        shown = context.client.nodes.images(args.node, **query)
        sums.update(count=shown["count"], size_bytes=shown["size_bytes"])
        return shown

    response = {**listed(args, page), **sums}
    titles = ("IMAGE", "SIZE", "IN USE", "LAST USED", "SINCE", "PULLED BY", "DIGEST", "PROBLEM")
    rows = [
        [
            ", ".join(one["references"]) or one["image_id"],
            format_size(one["size_bytes"]),
            "removing" if one["removing"] else "yes" if one["in_use"] else "no",
            local_time(one["used_at"]),
            local_time(one["since"]),
            "carrel" if one["pulled"] else "others",
            (one["digest"] or "")[:19],
            one["problem"] or "",
        ]
        for one in response["items"]
    ]

    def show() -> None:
        print_table([Column(title) for title in titles], rows)
        print_line(f"{counted(response['count'], 'image')}, {format_size(response['size_bytes'])}")

    context.answer(response, show)
    return 0


def pull_arguments(parser: Arguments) -> None:
    parser.add_argument("image", metavar="IMAGE", help="a reference, such as python:3.12")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--node", dest="nodes", metavar="NODE", action="append", help="to this node; repeatable"
    )
    where.add_argument("--group", metavar="GROUP", help="to all nodes of this resource group")
    parser.add_argument(
        "--project",
        metavar="PROJECT",
        help="with the credentials of the registries of this project (default: of the installation)",
    )
    parser.add_argument("--no-wait", action="store_true", help="do not wait until it has ended")
    parser.explain(
        "Pull an image to nodes ahead of sessions, the latest of its tag; exit code 1 if that fails on a node.\n"
        "It goes on without this command. Superadministrators only."
    )
    parser.example(
        "carrel image pull python:3.12 --group gpu", "carrel image pull python:3.12 --node gpu-1 --node gpu-2"
    )


def pull(args: argparse.Namespace, context: Context) -> int:
    """Pull an image to nodes."""
    started = context.client.image_pulls.create(
        reference=args.image,
        nodes=args.nodes or [],
        **{name: value for name in ("group", "project") if (value := getattr(args, name))},
    )
    ended = started if args.no_wait else _ended(context, started)
    context.answer(ended, lambda: _print_pull(ended))
    return _REFUSED if ended["state"] in ("failed", "cancelled") else 0


def pulls_arguments(parser: Arguments) -> None:
    parser.add_argument("--limit", type=reading(whole_number), default=20, help="maximum number (default 20)")
    parser.watches("image_pull")
    parser.explain("List pulls of images to nodes, the latest first. Superadministrators only.")
    parser.example("carrel image pulls", "carrel image pulls -o json | jq '.items[0].nodes'")


def pulls(args: argparse.Namespace, context: Context) -> int:
    """List pulls of images."""
    response = context.client.image_pulls.list(limit=args.limit)
    columns = [Column("IMAGE"), Column("STATE", _STATES)]
    columns += [Column(title) for title in ("NODES", "FAILED", "REQUESTED", "ID")]
    rows = [
        [
            one["reference"],
            one["state"],
            f"{one['done']}/{one['total']}",
            str(one["failed"]),
            local_time(one["created_at"]),
            one["id"],
        ]
        for one in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def cancel_pull_arguments(parser: Arguments) -> None:
    parser.add_argument("pull", metavar="ID", help="id of a pull, see carrel image pulls")
    parser.explain("Cancel a pull on the nodes where it is not done.")
    parser.example("carrel image cancel-pull abcdefghijkl")


def cancel_pull(args: argparse.Namespace, context: Context) -> int:
    """Cancel a pull."""
    cancelled = context.client.image_pulls.cancel(args.pull)
    context.answer(cancelled, lambda: print_line(f"the pull of {cancelled['reference']} is cancelled"))
    return 0


def prune_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "--older-than",
        metavar="DAYS",
        type=reading(_days),
        default=30,
        help="not used for this long, such as 30d or 12w (default: 30d)",
    )
    parser.add_argument(
        "--node", dest="nodes", metavar="NODE", action="append", help="only on this node; repeatable"
    )
    parser.add_argument(
        "--registered", action="store_true", help="also images that are registered under a name"
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would be removed")
    yes_argument(parser)
    parser.explain(
        "Remove images from nodes that Carrel pulled and no session has used for a while. Images of others, and those\n"
        "that containers, sessions, pulls or environments need, always stay. Superadministrators only."
    )
    parser.example("carrel image prune --dry-run", "carrel image prune --older-than 90d --node gpu-1 --yes")


def prune(args: argparse.Namespace, context: Context) -> int:
    """Clean up images on nodes."""
    ask = partial(
        context.client.images.prune,
        older_than_days=args.older_than,
        nodes=args.nodes or [],
        registered=args.registered,
    )
    if not args.yes and not args.dry_run:
        require_terminal("Use --yes to skip the confirmation, or --dry-run to see what would be removed.")
    result = ask(dry_run=True)
    if not args.dry_run and result["count"]:
        if not args.yes:
            _print_prune(result)
            if not confirmed("Remove these images?", yes=False):
                say("Nothing was removed.")
                return _REFUSED
        result = ask(dry_run=False)
    context.answer(result, lambda: _print_prune(result))
    return 0


def _days(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,4})(d|w)?", text)
    if not match:
        raise ValueError(f"{text} is not a number of days, such as 30d or 12w")
    return int(match[1]) * (7 if match[2] == "w" else 1)


def _ended(context: Context, pull: models.ImagePullView) -> models.ImagePullView:
    """The pull once it has ended; its progress is on stderr meanwhile."""
    pause_s = _FASTEST_S
    with ProgressLine(after_s=1.0) as line:
        while pull["ended_at"] is None:
            line.update(f"Pulled to {pull['done']} of {counted(pull['total'], 'node')}", pull["progress"])
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _SLOWEST_S)
            pull = context.client.image_pulls.show(pull["id"])
    return pull


def _print_pull(pull: models.ImagePullView) -> None:
    columns = [Column("NODE"), Column("STATE", _STATES), Column("SIZE"), Column("PROBLEM")]
    rows = [
        [
            one["node"]["name"],
            one["state"],
            format_size(one["size_bytes"]) if one["size_bytes"] else "",
            one["problem"] or "",
        ]
        for one in pull["nodes"]
    ]
    print_table(columns, rows)
    if pull["ended_at"] is None:
        print_line(f"see carrel image pulls, or cancel it: carrel image cancel-pull {pull['id']}")


def _print_prune(result: models.ImagePruneView) -> None:
    rows = [
        [
            one["node"]["name"],
            ", ".join(one["references"]) or one["image_id"],
            format_size(one["size_bytes"]),
            local_time(one["used_at"]),
        ]
        for one in result["items"]
    ]
    if rows:
        print_table([Column(title) for title in ("NODE", "IMAGE", "SIZE", "LAST USED")], rows)
    verb = "would be removed" if result["dry_run"] else "are being removed"
    print_line(f"{counted(result['count'], 'image')}, {format_size(result['size_bytes'])}, {verb}")
    for kept in result["kept"]:
        size = format_size(kept["size_bytes"])
        print_line(
            f"stays: {counted(kept['count'], 'image')}, {size}: {_KEPT.get(kept['cause'], kept['cause'])}"
        )
