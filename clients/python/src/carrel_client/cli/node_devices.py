"""Commands for the accelerators of nodes."""

from __future__ import annotations

import argparse

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_line, print_table
from carrel_client.cli.parser import Arguments
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

WHOLE = 1000


def devices_arguments(parser: Arguments) -> None:
    parser.add_argument("node", metavar="NODE", help="its name or id")
    parser.add_argument(
        "--wide",
        action="store_true",
        help="also show PCI addresses and switches, NUMA nodes and direct connections",
    )
    parser.watches("node", "session")
    parser.explain(
        "Show the accelerators of a node, who holds which part of each, and how shares of GPUs are enforced.\n"
        "Sessions that you may not see are called others. Devices of one set are near each other; those of one\n"
        "clique are connected directly; those of one switch are below the same PCI switch."
    )
    parser.example(
        "carrel node devices gpu-1",
        "carrel node devices gpu-1 --wide",
        "carrel node devices gpu-1 -o jsonpath='{.devices[*].id}'",
    )


def devices(args: argparse.Namespace, context: Context) -> int:
    """Show the accelerators of a node and who holds them."""
    node = context.client.nodes.show(args.node)
    shown = {
        "node": {"id": node["id"], "name": node["name"]},
        "sharing": node["sharing"],
        "devices": node["devices"],
    }
    titles = ["DEVICE", "MODEL", "MEMORY", "SET", "IN USE"]
    titles += ["PCI", "SWITCH", "NUMA", "CLIQUE"] if args.wide else []
    rows = [
        [
            one["id"],
            one["model"] or one["family"],
            format_size(one["mem_bytes"]) if one["mem_bytes"] else "",
            str(one["set"]),
            f"{one['used'] / WHOLE:g}",
            *(
                [one["pci"], one["switch"], "" if one["numa"] is None else str(one["numa"]), one["clique"]]
                * args.wide
            ),
            held_by(one),
        ]
        for one in node["devices"]
    ]

    def show() -> None:
        print_table([Column(title) for title in (*titles, "HELD BY")], rows)
        if sharing := sharing_text(node["sharing"]):
            print_line(f"\nGPU shares: {sharing}")

    context.answer(shown, show)
    return 0


_TIERS = {
    "mps3": "memory and computing are limited",
    "slice": "memory is limited, computing is not",
    "mps2": "not enforced",
    "mig": "GPUs are divided in hardware",
    "none": "not enforced",
}


def sharing_text(sharing: models.SharingView | None) -> str:
    """How a node enforces shares of GPUs, and why not better; empty if it has nothing to share."""
    if sharing is None:
        return ""
    means = _TIERS.get(sharing["tier"], "")
    return " - ".join(filter(None, [f"{sharing['tier']} ({means})", sharing["reason"]]))


def device_line(device: models.DeviceView) -> str:
    """A device in one line."""
    facts = [device["model"] or device["family"]]
    facts += [format_size(device["mem_bytes"])] if device["mem_bytes"] else []
    facts += [f"set {device['set']}"]
    holders = f", held by {held_by(device)}" if device["holders"] else ""
    return f"{device['id']} ({', '.join(facts)}) {device['used'] / WHOLE:g} of 1 in use{holders}"


def held_by(device: models.DeviceView) -> str:
    """The sessions that hold parts of a device, each with its part unless it is the whole device."""
    return ", ".join(
        (one["session"]["name"] if one["session"] else "others")
        + ("" if one["amount"] == WHOLE else f" ({one['amount'] / WHOLE:g})")
        for one in device["holders"]
    )


def device_map_arguments(parser: Arguments) -> None:
    parser.add_argument("--family", metavar="FAMILY", help="only devices of this family, such as cuda")
    parser.add_argument("--group", metavar="GROUP", help="only nodes of this resource group")
    parser.watches("node", "session")
    parser.explain(
        "Show the accelerators of all nodes that you may see: a character for each, from _ for a free one over 1 to 9\n"
        "tenths to # for one that is allocated completely."
    )
    parser.example("carrel node device-map", "carrel node device-map --family cuda --group gpu")


def device_map(args: argparse.Namespace, context: Context) -> int:
    """Show the accelerators of all nodes, and how much of each is allocated."""
    response = context.client.devices.list(family=args.family, group=args.group)
    rows = [
        [
            node["group"]["name"],
            node["name"],
            "" if node["open"] else "closed",
            family,
            "".join(_mark(used) for used in mine),
            f"{mine.count(0)} of {len(mine)}",
        ]
        for node in response["items"]
        for family in sorted({one["family"] for one in node["devices"]})
        if (mine := [one["used"] for one in node["devices"] if one["family"] == family])
    ]
    titles = ("GROUP", "NODE", "STATE", "FAMILY", "DEVICES", "FREE")
    context.answer(response, lambda: print_table([Column(title) for title in titles], rows))
    return 0


def fragmentation_arguments(parser: Arguments) -> None:
    parser.watches("node", "session")
    parser.explain(
        "Show how many accelerators are free as a whole, and how many are allocated in part. Stranded is what these\n"
        "have left below the smallest share. Then name the sessions that would free whole devices if they moved.\n"
        "Superadministrators only."
    )
    parser.example("carrel node fragmentation", "carrel node fragmentation -o json | jq '.items[].freed'")


def fragmentation(args: argparse.Namespace, context: Context) -> int:
    """Report how broken up accelerators are."""
    response = context.client.devices.fragmentation()
    context.answer(response, lambda: _print_fragmentation(response))
    return 0


def _print_fragmentation(response: models.FragmentationList) -> None:
    titles = ("GROUP", "FAMILY", "DEVICES", "FREE", "IN PART", "FULL", "STRANDED")
    rows = [
        [
            one["group"]["name"],
            one["family"],
            *(str(one[name]) for name in ("devices", "free", "broken", "full")),
            f"{one['stranded'] / WHOLE:g}",
        ]
        for one in response["items"]
    ]
    print_table([Column(title) for title in titles], rows)
    for step in [step for one in response["items"] for step in one["freed"]]:
        place = step["device"]
        print_line(f"{place['device']} on {place['node_name']} would be free if these moved:")
        for move in step["moves"]:
            to = move["to"]
            print_line(
                f"  {move['name']} of {move['owner']['email']} ({move['amount'] / WHOLE:g}) to {to['device']}"
                f" on {to['node_name']}"
            )


def _mark(used: int) -> str:
    if used in (0, WHOLE):
        return "#" if used else "_"
    return str(min(max(used * 10 // WHOLE, 1), 9))
