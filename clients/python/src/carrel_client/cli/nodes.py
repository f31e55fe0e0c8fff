"""Commands for nodes."""

from __future__ import annotations

import argparse
import re
import sys

from carrel_client.cli.asking import confirmed, require_terminal, retyped, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.device_conditions import condition_text
from carrel_client.cli.groups import used_text
from carrel_client.cli.node_devices import device_line, sharing_text
from carrel_client.cli.output import Column, counted, print_facts, print_line, print_table, say
from carrel_client.cli.parser import Arguments, reading
from carrel_client.cli.people import each, given, list_arguments, listed
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError
from carrel_client.slots import parse_slot, slots_text
from carrel_client.units import format_cpu, format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal

    from carrel_client import models

_STATES = {"READY": "green", "DOWN": "red"}
_REFUSED = 1
_CUDA_LABEL = "nvidia.com/cuda.runtime-version.full"


def ls_arguments(parser: Arguments) -> None:
    parser.add_argument("--group", metavar="GROUP", help="only those of this resource group")
    parser.add_argument("--state", choices=("READY", "DOWN"), help="only nodes in this state")
    parser.add_argument(
        "-l",
        "--selector",
        metavar="SELECTOR",
        help="only nodes whose labels meet it: 'zone=eu-1,gpu in (a100,h100),!spot'",
    )
    parser.add_argument("--labels", action="store_true", help="show the labels")
    list_arguments(parser, "name", "seen_at")
    parser.watches("node", "session")
    parser.explain(
        "List nodes. Users other than superadmins see the nodes of their groups, if the "
        "installation makes nodes visible."
    )
    parser.example(
        "carrel node ls",
        "carrel node ls --group gpu --state DOWN",
        "carrel node ls --labels -l 'gpu in (a100,h100),!spot'",
    )


def ls(args: argparse.Namespace, context: Context) -> int:
    """List nodes."""

    def page(**filters: Any) -> models.NodeList:
        return context.client.nodes.list(
            group=args.group, state=args.state, selector=args.selector, **filters
        )

    response = listed(args, page)
    columns = [Column("NAME"), Column("STATE", _STATES, otherwise="yellow")]
    columns += [Column(title) for title in ("GROUP", "SESSIONS", "USED", "ENGINE")]
    columns += [Column("LABELS")] if args.labels else []
    rows = [
        [
            node["name"],
            _state(node),
            node["group"]["name"],
            str(node["live_sessions"]),
            used_text(node["used"], node["offered"]),
            node["engine"]["name"],
            *([labels_text(node["labels"])] if args.labels else []),
        ]
        for node in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    _node(parser)
    parser.example("carrel node show gpu-1", "carrel node show gpu-1 -o json | jq .image_names")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one node and the sessions on it that you may see."""
    node = context.client.nodes.show(args.node)
    context.answer(node, lambda: _print(node))
    return 0


def edit_arguments(parser: Arguments) -> None:
    _node(parser)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--group", metavar="GROUP", help="the resource group that it belongs to")
    choice.add_argument(
        "--auto-group", action="store_true", help="let the node selectors of groups choose its group"
    )
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--reserve",
        metavar="SLOT=AMOUNT",
        action="append",
        type=reading(parse_slot),
        dest="reserved",
        help="reserve this much for the system: mem=2g; repeatable",
    )
    either.add_argument("--no-reserve", action="store_true", help="reserve nothing for the system")
    parser.add_argument(
        "--overcommit",
        metavar="N",
        type=float,
        dest="cpu_overcommit",
        help="offer N CPUs for each physical one, 1 to 100",
    )
    parser.add_argument(
        "--cuda",
        metavar="VERSION",
        type=reading(_cuda),
        help="the newest CUDA that its NVIDIA driver supports, such as 12.4, if its engine does not say it; ''"
        " removes it",
    )
    parser.explain("Change a node. Running sessions are unaffected.")
    parser.example(
        "carrel node edit gpu-1 --group gpu",
        "carrel node edit gpu-1 --reserve mem=4g --overcommit 2",
        "carrel node edit gpu-1 --cuda 12.4",
    )


def edit(args: argparse.Namespace, context: Context) -> int:
    """Change a node."""
    changes = given(args, "group", "cpu_overcommit")
    if args.auto_group:
        changes["group"] = None
    if args.reserved or args.no_reserve:
        changes["reserved"] = dict(args.reserved or [])
    if args.cuda is not None:
        changes["own_labels"] = {_CUDA_LABEL: args.cuda or None}
    changed = context.client.nodes.update(args.node, **changes)
    context.answer(changed, lambda: _print(changed))
    return 0


def cordon_arguments(parser: Arguments) -> None:
    parser.add_argument("nodes", metavar="NODE", nargs="+", help="names or ids")
    parser.explain("Cordon nodes: place no new sessions on them. Running sessions continue.")
    parser.example("carrel node cordon gpu-1")


def cordon(args: argparse.Namespace, context: Context) -> int:
    """Cordon nodes."""
    return each(context, args.nodes, lambda ref: _switch(context, ref, True))


def uncordon_arguments(parser: Arguments) -> None:
    parser.add_argument("nodes", metavar="NODE", nargs="+", help="names or ids")
    parser.explain("Uncordon nodes: place sessions on them again, and stop draining.")
    parser.example("carrel node uncordon gpu-1")


def uncordon(args: argparse.Namespace, context: Context) -> int:
    """Uncordon nodes."""
    return each(context, args.nodes, lambda ref: _switch(context, ref, False))


def drain_arguments(parser: Arguments) -> None:
    _node(parser)
    parser.add_argument(
        "--how",
        choices=("wait", "end", "move"),
        default="wait",
        help="wait until running sessions end (default), end them, or move them to other nodes",
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would happen to each session")
    yes_argument(parser)
    parser.explain(
        "Drain a node: cordon it and wait for, end or move its sessions. Shows first "
        "what happens to each. Files of a session outside mounted folders are lost when it ends or moves."
    )
    parser.example("carrel node drain gpu-1 --dry-run --how move", "carrel node drain gpu-1 --how end --yes")


def drain(args: argparse.Namespace, context: Context) -> int:
    """Drain a node."""
    how: Literal["wait", "end", "move"] = args.how
    preview = context.client.nodes.drain(args.node, how=how, dry_run=True)
    losing = [each for each in preview["sessions"] if each["becomes"] in ("ends", "moves")]
    if not args.dry_run:
        if losing and not args.yes and not _sure(preview):
            say("Nothing was changed.")
            return _REFUSED
        preview = context.client.nodes.drain(args.node, how=how)
    context.answer(preview, lambda: _print_drain(preview))
    return 0


def forget_arguments(parser: Arguments) -> None:
    _node(parser)
    yes_argument(parser)
    parser.explain(
        "Forget a node that is DOWN for good: its sessions end or restart elsewhere, by "
        "the node-loss rule of its resource group, and it is no longer listed. "
        "If the engine reports it again, it returns."
    )
    parser.example("carrel node forget gpu-1")


def forget(args: argparse.Namespace, context: Context) -> int:
    """Forget a node."""
    if not args.yes:
        require_terminal()
    node = context.client.nodes.show(args.node)
    say(f"{node['name']} is {_state(node)}, with {counted(node['live_sessions'], 'live session')} on it")
    if not retyped(node["name"], yes=args.yes):
        raise CarrelError("client.unconfirmed", f"{node['name']} was not forgotten.", status=409)
    gone = context.client.nodes.forget(node["id"], confirm=node["name"])
    lost = counted(len(gone["sessions"]), "session")
    context.answer(gone, lambda: print_line(f"{gone['name']} forgotten, with {lost} on it"))
    return 0


def _sure(preview: models.DrainView) -> bool:
    require_terminal("Use --yes to skip the confirmation, or --dry-run to see what happens to each session.")
    _print_drain(preview)
    sys.stdout.flush()
    return confirmed("Files outside mounted folders are lost. Continue?", yes=False)


def _print_drain(preview: models.DrainView) -> None:
    if preview["sessions"]:
        rows = [
            [
                one["name"],
                one["owner"]["email"],
                one["state"],
                one["becomes"].replace("_", " "),
                one["sentence"],
            ]
            for one in preview["sessions"]
        ]
        print_table([Column(t) for t in ("SESSION", "OWNER", "STATE", "IT", "WHAT BECOMES OF IT")], rows)
    if preview["dry_run"]:
        print_line(f"{preview['node']['name']} would be cordoned")
    else:
        print_line(f"{preview['node']['name']} is cordoned and draining")


def _node(parser: Arguments) -> None:
    parser.add_argument("node", metavar="NODE", help="its name or id")


def _switch(context: Context, ref: str, cordoned: bool) -> tuple[object, str]:
    changed = context.client.nodes.update(ref, cordoned=cordoned)
    return changed, f"{changed['name']} accepts {'no ' if cordoned else ''}new sessions"


def _cuda(text: str) -> str:
    if not re.fullmatch(r"([0-9]{1,3}\.[0-9]{1,3})?", text):
        raise ValueError(f"{text} is no version of CUDA, such as 12.4")
    return text


def _state(node: models.NodeView) -> str:
    if node["state"] != "READY":
        return str(node["state"])
    if node["draining"]:
        return "draining"
    return "cordoned" if node["cordoned"] else "closed" if node["closed"] else "READY"


def labels_text(labels: Mapping[str, str]) -> str:
    """Labels as in a selector, by name."""
    return ", ".join(f"{name}={value}" if value else name for name, value in sorted(labels.items()))


def _group_choice(node: models.NodeView) -> str:
    """Who chose its group, and the other groups that select it."""
    names = [one["name"] for one in node["selected_by"]]
    if node["group_fixed"]:
        return ", chosen by an administrator" + (f"; selected by {', '.join(names)}" if names else "")
    if not names:
        return ""
    return ", by its node selector" + (f"; also selected by {', '.join(names[1:])}" if names[1:] else "")


def _load(node: models.NodeDetail) -> list[tuple[str, str]]:
    """The load of the whole machine, if it is measured."""
    load, total = node["host"], node["slots"]
    if load is None:
        return []
    size = {
        name: format_size(round(amount)) for name, amount in load.items() if isinstance(amount, float | int)
    }
    return [
        ("machine CPU", f"{format_cpu(round(load['cpu']))} of {format_cpu(total['cpu'])}"),
        ("machine memory", f"{size['mem']} of {format_size(total['mem'])}"),
        (
            "disk",
            f"{size['disk_used']} of {size['disk_size']}; reads {size['read']}/s, writes {size['written']}/s",
        ),
        ("network", f"receives {size['received']}/s, sends {size['sent']}/s"),
    ]


def _print(node: models.NodeDetail) -> None:
    print_facts(
        [
            ("name", node["name"]),
            ("id", node["id"]),
            ("state", _state(node)),
            ("closed", node["closed"]),
            ("down since", local_time(node["down_since"])),
            ("seen", local_time(node["seen_at"])),
            ("group", node["group"]["name"] + _group_choice(node)),
            ("engine", f"{node['engine']['name']} ({node['engine_version']})"),
            ("architecture", node["architecture"]),
            *[(name.replace("_", " "), str(value)) for name, value in node["machine"].items()],
            ("slots", slots_text(node["slots"])),
            ("reserved", slots_text(node["reserved"])),
            ("CPU for one", f"{node['cpu_overcommit']:g}"),
            ("offered", slots_text(node["offered"])),
            ("used", slots_text(node["used"])),
            *[("device", device_line(each) + condition_text(each)) for each in node["devices"]],
            ("GPU shares", sharing_text(node["sharing"])),
            *_load(node),
            ("images", str(node["images"])),
            ("labels", labels_text(node["labels"])),
            ("own labels", ", ".join(sorted(node["own_labels"]))),
            ("capabilities", ", ".join(node["capabilities"])),
        ]
    )
    if node["sessions"]:
        print_line("")
        rows = [
            [one["name"], one["owner"]["email"], one["state"], slots_text(one["slots"]), one["id"]]
            for one in node["sessions"]
        ]
        print_table([Column(title) for title in ("SESSION", "OWNER", "STATE", "SLOTS", "ID")], rows)
