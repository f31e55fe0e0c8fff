"""Commands for the accelerators of nodes."""

from __future__ import annotations

import argparse

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_table
from carrel_client.cli.parser import Arguments
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

WHOLE = 1000


def devices_arguments(parser: Arguments) -> None:
    parser.add_argument("node", metavar="NODE", help="its name or id")
    parser.add_argument(
        "--wide", action="store_true", help="also show PCI addresses, NUMA nodes and direct connections"
    )
    parser.watches("node", "session")
    parser.explain(
        "Show the accelerators of a node, and who holds which part of each. Sessions that you may not see are\n"
        "called others. Devices of one set are near each other; those of one clique are connected directly."
    )
    parser.example(
        "carrel node devices gpu-1",
        "carrel node devices gpu-1 --wide",
        "carrel node devices gpu-1 -o jsonpath='{.devices[*].id}'",
    )


def devices(args: argparse.Namespace, context: Context) -> int:
    """Show the accelerators of a node and who holds them."""
    node = context.client.nodes.show(args.node)
    shown = {"node": {"id": node["id"], "name": node["name"]}, "devices": node["devices"]}
    titles = ["DEVICE", "MODEL", "MEMORY", "SET", "IN USE"]
    titles += ["PCI", "NUMA", "CLIQUE"] if args.wide else []
    rows = [
        [
            one["id"],
            one["model"] or one["family"],
            format_size(one["mem_bytes"]) if one["mem_bytes"] else "",
            str(one["set"]),
            f"{one['used'] / WHOLE:g}",
            *([one["pci"], "" if one["numa"] is None else str(one["numa"]), one["clique"]] * args.wide),
            held_by(one),
        ]
        for one in node["devices"]
    ]
    context.answer(shown, lambda: print_table([Column(title) for title in (*titles, "HELD BY")], rows))
    return 0


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
