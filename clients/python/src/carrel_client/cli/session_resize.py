"""Change the CPU and memory of running sessions."""

from __future__ import annotations

import argparse
import time

from carrel_client import models
from carrel_client.cli.context import Context
from carrel_client.cli.output import print_line
from carrel_client.cli.parser import Arguments, reading
from carrel_client.errors import CarrelError
from carrel_client.slots import slots_text
from carrel_client.units import parse_cpu, parse_size

_EVERY_S = 0.5
_PATIENCE_S = 60.0


def resize_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.add_argument("--cpu", type=reading(parse_cpu), help="cores: 2, 0.5 or 500m")
    parser.add_argument("--mem", type=reading(parse_size), help="memory: 512m, 4g")
    parser.add_argument(
        "--container", metavar="NAME", help="of a cluster session: main (the default), sub1, ..."
    )
    parser.explain(
        "Change the CPU and memory of a running session, where its engine can, within your limits and what its node\n"
        "has free. Programs keep running; they see the new memory at once, and keep the number of threads they have."
    )
    parser.example("carrel session resize train-3 --cpu 2 --mem 2g")


def resize(args: argparse.Namespace, context: Context) -> int:
    """Resize a session, and wait until that is done or refused."""
    if args.cpu is None and args.mem is None:
        raise CarrelError("client.nothing_to_change", "Give --cpu, --mem or both.", status=422)
    amounts = {slot: amount for slot, amount in (("cpu", args.cpu), ("mem", args.mem)) if amount is not None}
    session = context.client.sessions.resize(args.id, container=args.container, **amounts)
    until = time.monotonic() + _PATIENCE_S
    while (one := _container(session, args.container))["resize"] and time.monotonic() < until:
        time.sleep(_EVERY_S)
        session = context.client.sessions.show(session["id"])
    if one["resize"]:
        message = f"{session['name']} is resized when its engine responds"
    elif any(one["slots"].get(slot) != amount for slot, amount in amounts.items()):
        raise CarrelError("session.not_resized", _why(context, session["id"]), status=409)
    else:
        message = f"{session['name']} has {slots_text(one['slots'])} now"
    context.answer(session, lambda: print_line(message))
    return 0


def _container(session: models.SessionDetail, name: str | None) -> models.ContainerView:
    named = (one for one in session["containers"] if (name or "main") in (one["name"], one["id"]))
    return next(named, session["containers"][0])


def _why(context: Context, session: str) -> str:
    steps = context.client.sessions.history(session)["items"]
    refused = [step["reason"] for step in steps if step["cause"] == "resize_refused"]
    return (refused and refused[-1]) or "Its CPU and memory were not changed."
