"""Commands for resource groups."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_facts, print_line, print_table
from carrel_client.cli.parser import Arguments, reading
from carrel_client.cli.people import each, given, list_arguments, listed
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError
from carrel_client.slots import format_amount, parse_slot, slots_text
from carrel_client.units import format_duration, parse_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from carrel_client import models

_KINDS = ("interactive", "batch", "inference")
_ORDERS = ("fifo", "lifo", "drf", "fair_share")
_PLACEMENTS = ("dispersed", "concentrated", "round_robin")
_SCOPES = {"domain": "domains", "project": "projects", "user": "users"}
_STATES = {"active": "green", "inactive": "red"}
_TIERS = {
    "none": "need not be enforced",
    "slice": "on nodes that limit memory",
    "mps3": "on nodes that limit memory and computing",
}
_EMPTIED: tuple[tuple[str, object, str], ...] = (
    ("slot-priority", [], "compare nodes by the scarcest slot"),
    ("app-address", "", "use the installation's address for apps"),
    ("node-selector", "", "no node joins by its labels"),
    ("required-capabilities", [], "nodes need no capabilities"),
    ("topology", [], "cluster sessions are placed without regard to labels"),
    ("runtime", "", "use each engine's usual runtime"),
    ("elastic", "", "place sessions on the nodes that there are"),
)


def ls_arguments(parser: Arguments) -> None:
    list_arguments(parser, "name", "created_at")
    parser.watches("group", "node", "session")
    parser.explain("List the resource groups that you may use; superadmins see all.")
    parser.example("carrel group ls", "carrel group ls -o json | jq '.items[].name'")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List resource groups."""
    response = listed(args, context.client.groups.list)
    columns = [Column("NAME"), Column("STATE", _STATES)]
    columns += [
        Column(title) for title in ("OPEN TO", "ORDER", "NODES", "LIVE", "WAITING", "USED OF CAPACITY")
    ]
    rows = [
        [
            group["name"],
            _state(group),
            "all" if group["public"] else "some",
            group["scheduler"],
            str(group["nodes"]),
            str(group["live_sessions"]),
            str(group["waiting_sessions"]),
            used_text(group["used"], group["capacity"]),
        ]
        for group in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    _group(parser)
    parser.example("carrel group show gpu")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one resource group."""
    group = context.client.groups.show(args.group)
    context.answer(group, lambda: _print(group))
    return 0


def create_arguments(parser: Arguments) -> None:
    parser.add_argument("name", metavar="NAME", help="unique, case-insensitive")
    _settings(parser)
    parser.explain("Create a resource group. Nodes join it by its node selector, or with carrel node edit.")
    parser.example(
        "carrel group create gpu --private --scheduler fair_share --placement concentrated",
        "carrel group create teaching --kind interactive --pending-timeout 2h",
        "carrel group create a100 --node-selector 'gpu=a100,!spot'",
        "carrel group create burst --node-selector pool=burst --elastic cloud --limit cpu=64 --limit mem=256g",
    )


def create(args: argparse.Namespace, context: Context) -> int:
    """Create a resource group."""
    made = context.client.groups.create(name=args.name, **_fields(args))
    context.answer(made, lambda: print_line(f"{made['name']} created ({made['id']})"))
    return 0


def edit_arguments(parser: Arguments) -> None:
    _group(parser)
    parser.add_argument("--name", help="new name")
    _settings(parser)
    either = parser.add_mutually_exclusive_group()
    for option, state in (("--activate", True), ("--deactivate", False)):
        either.add_argument(
            option,
            dest="active",
            action="store_const",
            const=state,
            help="accept new sessions again" if state else "accept no new sessions; running ones continue",
        )
    parser.explain("Change a resource group. Lists are replaced completely.")
    parser.example(
        "carrel group edit gpu --patience 10m --half-life 14d",
        "carrel group edit gpu --on-node-loss reschedule --node-loss 5m",
        "carrel group edit gpu --require-capability network-policy",
        "carrel group edit gpu --deactivate",
    )


def edit(args: argparse.Namespace, context: Context) -> int:
    """Change a resource group."""
    changed = context.client.groups.update(args.group, **given(args, "name", "active"), **_fields(args))
    context.answer(changed, lambda: _print(changed))
    return 0


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("groups", metavar="GROUP", nargs="+", help="names or ids")
    yes_argument(parser)
    parser.explain("Delete resource groups that have no nodes and never had a session.")
    parser.example("carrel group rm teaching")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Delete resource groups."""
    if not removal_confirmed(args, "resource group", args.groups):
        return 1

    def remove(ref: str) -> tuple[object, str]:
        context.client.groups.remove(ref)
        return {"group": ref, "removed": True}, f"{ref} deleted"

    return each(context, args.groups, remove)


def access_arguments(parser: Arguments) -> None:
    _group(parser)
    for option, words in (("--allow", "allow it to use the group"), ("--deny", "no longer")):
        parser.add_argument(
            option,
            metavar="KIND=NAME",
            action="append",
            type=reading(_scope),
            default=[],
            help=f"{words}: domain=physics, project=vision or user=ada@example.org; repeatable",
        )
    parser.explain("Show or change the access list of a group that is not public.")
    parser.example(
        "carrel group access gpu",
        "carrel group access gpu --allow domain=physics --allow user=ada@example.org --deny project=vision",
    )


def access(args: argparse.Namespace, context: Context) -> int:
    """Show or change the access list of a group."""
    groups = context.client.groups
    if args.allow or args.deny:
        access = _by_kind({**dict.fromkeys(args.deny, False), **dict.fromkeys(args.allow, True)})
        group = groups.change_access(args.group, **access)
    else:
        group = groups.show(args.group)
    there = _administered(group["access"], args.group)
    context.answer(group, lambda: _print_scopes(there, "KIND", "MAY USE IT", "ID"))
    return 0


def weights_arguments(parser: Arguments) -> None:
    _group(parser)
    parser.add_argument(
        "--set",
        metavar="KIND=NAME:WEIGHT",
        action="append",
        type=reading(_weight),
        default=[],
        dest="weights",
        help="weight relative to siblings: project=vision:3; repeatable",
    )
    parser.add_argument(
        "--unset",
        metavar="KIND=NAME",
        action="append",
        type=reading(_scope),
        default=[],
        help="reset to the default weight 1",
    )
    parser.explain("Show or change the fair-share weights of a group.")
    parser.example(
        "carrel group weights gpu",
        "carrel group weights gpu --set domain=physics:2 --set user=ada@example.org:0.5",
    )


def weights(args: argparse.Namespace, context: Context) -> int:
    """Show or change the fair-share weights of a group."""
    groups = context.client.groups
    if args.weights or args.unset:
        weights = _by_kind({**dict.fromkeys(args.unset), **dict(args.weights)})
        group = groups.change_weights(args.group, **weights)
    else:
        group = groups.show(args.group)
    there = _administered(group["weights"], args.group)
    context.answer(group, lambda: _print_scopes(there, "KIND", "WHO", "ID", "WEIGHT"))
    return 0


def used_text(used: Mapping[str, int], capacity: Mapping[str, int]) -> str:
    """ "cpu 4 of 64, mem 8 GiB of 256 GiB"; of what there is."""
    return ", ".join(
        f"{slot} {format_amount(slot, used.get(slot, 0))} of {format_amount(slot, amount)}"
        for slot, amount in sorted(capacity.items())
    )


def _group(parser: Arguments) -> None:
    parser.add_argument("group", metavar="GROUP", help="its name or id")


def _settings(parser: Arguments) -> None:
    time = reading(_seconds)
    parser.add_argument("--description", help="description")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--public", action="store_const", const=True, help="open to everybody")
    either.add_argument(
        "--private",
        dest="public",
        action="store_const",
        const=False,
        help="open only to the access list (carrel group access)",
    )
    parser.add_argument(
        "--kind", dest="session_kinds", action="append", choices=_KINDS, help="kinds of sessions it accepts"
    )
    parser.add_argument("--scheduler", choices=_ORDERS, help="queue order within a priority")
    parser.add_argument("--placement", choices=_PLACEMENTS, help="choice among nodes with room")
    parser.add_argument(
        "--slot-priority",
        metavar="SLOT",
        action="append",
        help="compare nodes by this slot first; repeatable",
    )
    parser.add_argument(
        "--pending-timeout",
        dest="pending_timeout_s",
        metavar="TIME",
        type=reading(_seconds_or_never),
        help='cancel sessions pending longer than this, as 2h, or "never"',
    )
    parser.add_argument(
        "--patience",
        dest="patience_s",
        metavar="TIME",
        type=time,
        help="how long a pending session may be overtaken",
    )
    parser.add_argument(
        "--half-life",
        dest="half_life_s",
        metavar="TIME",
        type=time,
        help="half-life of past usage in the fair share",
    )
    parser.add_argument(
        "--on-node-loss",
        choices=("end", "reschedule"),
        help="what to do with sessions whose node is gone",
    )
    parser.add_argument(
        "--node-loss",
        dest="node_loss_s",
        metavar="TIME",
        type=time,
        help="how long the node must be gone before that",
    )
    parser.add_argument(
        "--max-rights", choices=("plain", "root"), help="the most rights that its sessions may have inside"
    )
    parser.add_argument("--app-address", metavar="URL", help="address of its apps")
    parser.add_argument(
        "--node-selector",
        metavar="SELECTOR",
        help="labels of nodes that join by themselves: 'zone=eu-1,gpu in (a100,h100),!spot' (carrel group preview)",
    )
    parser.add_argument(
        "--require-capability",
        dest="required_capabilities",
        metavar="CAPABILITY",
        action="append",
        help="its nodes without it take no new sessions, such as network-policy; repeatable",
    )
    parser.add_argument(
        "--min-share-tier",
        choices=("none", "slice", "mps3"),
        help="its nodes that enforce shares of GPUs less strictly take no new sessions with shares",
    )
    parser.add_argument(
        "--topology",
        metavar="LABEL",
        action="append",
        help="label of nodes by which cluster sessions are placed, such as rack; repeatable, from narrow to wide",
    )
    parser.add_argument(
        "--runtime",
        metavar="NAME",
        help="container runtime of its sessions: a RuntimeClass of a cluster or a runtime of a Docker daemon, such as "
        "gvisor; its nodes without it take no new sessions",
    )
    parser.add_argument(
        "--elastic",
        metavar="ENGINE",
        help="leave the nodes to this Kubernetes engine, which may add some; needs --node-selector and --limit",
    )
    parser.add_argument(
        "--limit",
        metavar="SLOT=AMOUNT",
        action="append",
        type=reading(parse_slot),
        help="what the sessions of an elastic group may hold together: cpu=64, mem=256g; both are needed",
    )
    parser.add_argument(
        "--machine-wait",
        metavar="TIME",
        type=time,
        help="how long a start in an elastic group waits for a machine (default 15m)",
    )
    for option, emptied, words in _EMPTIED:
        parser.add_argument(
            f"--no-{option}",
            dest=option.replace("-", "_"),
            action="store_const",
            const=emptied,
            help=words,
        )


def _fields(args: argparse.Namespace) -> dict[str, Any]:
    fields = given(
        args,
        "description",
        "public",
        "session_kinds",
        "scheduler",
        "placement",
        "slot_priority",
        "patience_s",
        "half_life_s",
        "on_node_loss",
        "node_loss_s",
        "max_rights",
        "app_address",
        "node_selector",
        "required_capabilities",
        "min_share_tier",
        "topology",
        "runtime",
        "pending_timeout_s",
    )
    for field in ("pending_timeout_s", "app_address", "node_selector", "runtime"):
        if field in fields and not fields[field]:
            fields[field] = None
    return {**fields, **_elastic(args)}


def _elastic(args: argparse.Namespace) -> dict[str, Any]:
    if args.elastic == "":
        return {"elastic": None}
    if not args.elastic and not args.limit and args.machine_wait is None:
        return {}
    if not args.elastic or not args.limit:
        raise CarrelError(
            "usage",
            "An elastic group needs its engine and its limit.",
            status=422,
            hint="Use --elastic ENGINE --limit cpu=64 --limit mem=256g.",
        )
    wait = {} if args.machine_wait is None else {"wait_s": args.machine_wait}
    return {"elastic": {"engine": args.elastic, "limit": dict(args.limit), **wait}}


def _seconds(text: str) -> int:
    return 0 if text == "0" else round(parse_duration(text))


def _seconds_or_never(text: str) -> int:
    return 0 if text == "never" else max(_seconds(text), 1)


def _scope(text: str) -> tuple[str, str]:
    kind, _, name = text.partition("=")
    if kind not in _SCOPES or not name:
        raise ValueError(
            f"{text!r} is not KIND=NAME, as domain=physics, project=vision or user=ada@example.org"
        )
    return kind, name


def _weight(text: str) -> tuple[tuple[str, str], float]:
    scope, _, weight = text.rpartition(":")
    try:
        return _scope(scope), float(weight)
    except ValueError:
        raise ValueError(f"{text!r} is not KIND=NAME:WEIGHT, as project=vision:3") from None


def _administered(there: Any, ref: str) -> Any:
    if there is None:
        raise CarrelError(
            "policy.forbidden",
            f"Only superadmins can see the access list of {ref}.",
            status=403,
            hint="Ask an administrator.",
        )
    return there


def _named(there: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    """(kind, id) -> what is shown of it."""
    return {(kind, row["id"]): row for kind, plural in _SCOPES.items() for row in there[plural]}


def _by_kind(scopes: Mapping[tuple[str, str], object]) -> dict[str, Any]:
    """The entries by the plural of their kind."""
    by_kind: dict[str, dict[str, object]] = {plural: {} for plural in _SCOPES.values()}
    for (kind, ref), value in scopes.items():
        by_kind[_SCOPES[kind]][ref] = value
    return by_kind


def _print_scopes(there: Mapping[str, Any], *titles: str) -> None:
    rows = [
        [kind, _called(row), ref, f"{row['weight']:g}" if "weight" in row else ""]
        for (kind, ref), row in _named(there).items()
    ]
    print_table([Column(title) for title in titles], [row[: len(titles)] for row in rows])


def _called(row: Mapping[str, Any]) -> str:
    name = str(row.get("name", row.get("email")))
    return f"{name} ({row['domain']})" if "domain" in row else name


def _state(group: models.GroupView) -> str:
    return "active" if group["active"] else "inactive"


def _elastic_text(elastic: models.ElasticGroup | None) -> str:
    if elastic is None:
        return ""
    return f"engine {elastic['engine']}; a start waits {format_duration(elastic['wait_s'])} for a machine at most"


def _print(group: models.GroupView) -> None:
    access = group["access"]
    timeout = group["pending_timeout_s"]
    print_facts(
        [
            ("name", group["name"]),
            ("id", group["id"]),
            ("state", _state(group)),
            ("description", group["description"]),
            ("open to", "all" if group["public"] else "its access list (carrel group access)"),
            ("named", ", ".join(_called(row) for row in _named(access).values()) if access else ""),
            ("session kinds", ", ".join(group["session_kinds"])),
            ("order", group["scheduler"]),
            ("placement", group["placement"]),
            ("slot priority", ", ".join(group["slot_priority"])),
            ("pending timeout", format_duration(timeout) if timeout else "never"),
            ("patience", format_duration(group["patience_s"])),
            ("half-life", format_duration(group["half_life_s"])),
            ("on node loss", f"{group['on_node_loss']} after {format_duration(group['node_loss_s'])}"),
            ("rights inside", f"{group['max_rights']} at most"),
            ("app address", group["app_address"] or ""),
            ("node selector", group["node_selector"] or ""),
            ("required of nodes", ", ".join(group["required_capabilities"])),
            ("shares of GPUs", _TIERS[group["min_share_tier"]]),
            ("topology", " < ".join(["node", *group["topology"]]) if group["topology"] else ""),
            ("runtime", group["runtime"] or ""),
            ("elastic", _elastic_text(group["elastic"])),
            ("nodes", f"{group['nodes']}, {group['ready_nodes']} accept new sessions"),
            ("sessions", f"{group['live_sessions']} live, {group['waiting_sessions']} of them pending"),
            ("used", used_text(group["used"], group["capacity"])),
            ("capacity", slots_text(group["capacity"])),
            ("created", local_time(group["created_at"])),
        ]
    )
