"""What people write on the command line to ask for a session, and the request that it makes."""

from __future__ import annotations

import argparse
import os

from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.slots import parse_slot
from carrel_client.units import parse_cpu, parse_duration, parse_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models


def scheduling_arguments(parser: Arguments) -> None:
    """How much, where and how soon: what may also be asked about without asking for it."""
    parser.add_argument(
        "--cpu", type=reading(parse_cpu), default=1000, help="cores: 2, 0.5 or 500m (default 1)"
    )
    parser.add_argument(
        "--mem", type=reading(parse_size), default=1 << 30, help="memory: 512m, 4g (default 1g)"
    )
    parser.add_argument("--project", help="id or name (default: yours)")
    parser.add_argument(
        "--slot",
        metavar="SLOT=AMOUNT",
        action="append",
        type=reading(parse_slot),
        default=[],
        dest="slots",
        help="an accelerator: cuda.device=1 for a whole one, cuda.shares=0.5 for a part; again for another",
    )
    parser.add_argument(
        "--group", metavar="GROUP", help="resource group (default: the first that you may use)"
    )
    parser.add_argument(
        "--priority",
        metavar="N",
        type=reading(whole_number),
        help="0 to 100, the highest goes first (default 50)",
    )
    parser.add_argument(
        "--time-limit",
        metavar="TIME",
        type=reading(parse_duration),
        help="end it after 90m, 12h or 3d of running",
    )
    parser.add_argument("--node", metavar="NODE", help="run there and nowhere else; for administrators")


def session_arguments(parser: Arguments) -> None:
    """All that a session can be asked to be."""
    parser.add_argument(
        "--image", default="starter", help="name in carrel image ls, or any reference (default starter)"
    )
    parser.add_argument(
        "--name", help="4 to 64 letters, digits, dots, dashes, underscores (default: a made-up one)"
    )
    parser.add_argument(
        "--description", metavar="TEXT", default="", help="what it is for, for those who see it"
    )
    parser.add_argument(
        "--env",
        type=reading(_variable),
        action="append",
        default=[],
        metavar="K=V",
        help="environment variable, may come more than once; K alone takes the value from here",
    )
    parser.add_argument(
        "-v",
        "--mount",
        type=reading(_mount),
        action="append",
        default=[],
        dest="mounts",
        metavar="FOLDER[:SUBPATH][:PATH][:ro]",
        help="a folder, or a directory of it, and where in the session (default /home/work/FOLDER); again for another",
    )
    scheduling_arguments(parser)


def check_request(args: argparse.Namespace) -> models.CheckRequest:
    """What `scheduling_arguments` were given."""
    return {
        "slots": {"cpu": args.cpu, "mem": args.mem, **dict(args.slots)},
        "project": args.project,
        "group": args.group,
        "priority": args.priority,
        "time_limit_s": round(args.time_limit) if args.time_limit else None,
        "node": args.node,
    }


def session_request(args: argparse.Namespace) -> models.SessionCreate:
    """What `session_arguments` were given."""
    return {
        **check_request(args),
        "image": args.image,
        "name": args.name,
        "description": args.description,
        "env": dict(args.env),
        "mounts": args.mounts,
    }


def _variable(text: str) -> tuple[str, str]:
    name, given, value = text.partition("=")
    if not name or name[0].isdigit() or not name.replace("_", "a").isalnum() or not name.isascii():
        raise ValueError(f"{name!r} is not a name for an environment variable")
    if not given and name not in os.environ:
        raise ValueError(f"{name} has no value here; write {name}=VALUE")
    return name, value if given else os.environ[name]


def _mount(text: str) -> models.MountRequest:
    """FOLDER[:SUBPATH][:PATH][:ro]. Of two in the middle the first is in the folder; a single one is a path in the
    session when it begins with a slash.
    """
    folder, *rest = text.split(":")
    wanted: models.MountRequest = {"folder": folder}
    if rest and rest[-1] in ("ro", "rw"):
        wanted["read_only"] = rest.pop() == "ro"
    if len(rest) == 2 or (rest and rest[-1].startswith("/")):
        wanted["path"] = rest.pop()
    if rest and rest[0]:
        wanted["subpath"] = rest[0]
    if not folder or len(rest) > 1:
        raise ValueError(f"{text!r} is not FOLDER[:SUBPATH][:PATH][:ro], as data or corpus:train:/data:ro")
    return wanted
