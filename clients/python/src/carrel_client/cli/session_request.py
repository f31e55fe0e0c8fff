"""Command-line arguments of a session request."""

from __future__ import annotations

import argparse
import os
import sys

from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.times import utc_time
from carrel_client.definition import load, parse_array
from carrel_client.dependencies import parse_dependency
from carrel_client.errors import CarrelError
from carrel_client.slots import parse_slot
from carrel_client.units import parse_cpu, parse_duration, parse_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal

    from carrel_client import models

    Signal = Literal["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]

SIGNALS: dict[str, Signal] = {
    "TERM": "SIGTERM",
    "INT": "SIGINT",
    "HUP": "SIGHUP",
    "QUIT": "SIGQUIT",
    "USR1": "SIGUSR1",
    "USR2": "SIGUSR2",
}

_SLOTS = {"cpu": 1000, "mem": 1 << 30}


def scheduling_arguments(parser: Arguments) -> None:
    """Add the arguments that `session create` and `session check` share."""
    parser.add_argument("--cpu", type=reading(parse_cpu), help="cores: 2, 0.5 or 500m (default 1)")
    parser.add_argument("--mem", type=reading(parse_size), help="memory: 512m, 4g (default 1g)")
    parser.add_argument("--project", help="id or name (default: yours)")
    parser.add_argument(
        "--slot",
        metavar="SLOT=AMOUNT",
        action="append",
        type=reading(parse_slot),
        default=[],
        dest="slots",
        help="an accelerator: cuda.device=1 for a whole one, cuda.shares=0.5 for a fraction; repeatable",
    )
    group_argument(
        parser,
        "resource group (default: the first one you may use); repeatable: it starts in the first one given that "
        "can take it",
    )
    parser.add_argument(
        "--priority",
        metavar="N",
        type=reading(whole_number),
        help="0 to 100, highest first (default 50)",
    )
    parser.add_argument(
        "--time-limit",
        metavar="TIME",
        type=reading(parse_duration),
        help="end it after this run time: 90m, 12h, 3d",
    )
    parser.add_argument(
        "--start-at",
        metavar="TIME",
        type=reading(utc_time),
        help="start no earlier: 2026-12-24T22:00 by this machine's clock, with Z or +09:00 elsewhere",
    )
    parser.add_argument(
        "--disk",
        metavar="SIZE",
        type=reading(parse_size),
        help="what each container may write outside its folders: 20g (default: that of your policy)",
    )
    parser.add_argument(
        "--root", action="store_true", help="with root inside: sudo and package managers work, if allowed"
    )
    parser.add_argument("--node", metavar="NODE", help="run only on this node; for administrators")
    parser.add_argument(
        "--after",
        type=reading(parse_dependency),
        action="append",
        default=[],
        metavar="ID[:CONDITION]",
        help="start after this session, or all of the array with this name or array:ID, has succeeded (the default), "
        "failed or ended; repeatable",
    )
    parser.add_argument(
        "--on-dependency-failure",
        choices=("cancel", "wait"),
        help="if such a session did not end as needed: cancel this one (the default), or let it wait",
    )
    parser.add_argument(
        "--cluster-size",
        metavar="N",
        type=reading(whole_number),
        help="N containers like this one in a network of their own: main1, sub1 ...; for others see -f",
    )
    parser.add_argument(
        "--placement",
        choices=("together", "spread"),
        help="all containers on one node or near each other, or on any nodes that reach each other (default spread)",
    )
    parser.add_argument(
        "--topology",
        metavar="LEVEL",
        help="all containers within one domain of this level of the resource group's topology, such as rack, or node",
    )


def session_arguments(parser: Arguments) -> None:
    """Add all arguments of a session request."""
    parser.add_argument(
        "-f",
        "--file",
        metavar="FILE",
        help="a definition in YAML or JSON, as carrel session export writes it; options override it",
    )
    parser.add_argument(
        "--image",
        help="name from carrel image ls, env:NAME of an environment, or any image reference (default starter)",
    )
    parser.add_argument(
        "--name", help="4 to 64 letters, digits, dots, dashes, underscores (default: generated)"
    )
    parser.add_argument("--description", metavar="TEXT", help="description")
    parser.add_argument(
        "--array",
        metavar="FIRST-LAST[%MOST]",
        type=reading(parse_array),
        help="one batch session for each index, at most MOST at a time: 1-100%%8; CARREL_ARRAY_INDEX is the index",
    )
    parser.add_argument(
        "--env",
        type=reading(_variable),
        action="append",
        default=[],
        metavar="K=V",
        help="environment variable; repeatable; K alone copies the local value",
    )
    parser.add_argument(
        "-v",
        "--mount",
        type=reading(_mount),
        action="append",
        default=[],
        dest="mounts",
        metavar="FOLDER[:SUBPATH][:PATH][:ro]",
        help="mount a folder, or a directory of it, at a path (default /home/work/FOLDER); repeatable",
    )
    start_up_arguments(parser)
    ending_arguments(parser)
    scheduling_arguments(parser)
    parser.add_argument(
        "--on-failure",
        choices=("end", "continue"),
        help="what a container besides main that fails means: the session ends, or continues (default end)",
    )


def batch_arguments(parser: Arguments) -> None:
    """Add the arguments of batch sessions."""
    parser.add_argument(
        "--retries",
        metavar="N",
        type=reading(whole_number),
        help="repeat the command up to N times if it fails (default 0: it never runs twice)",
    )


def start_up_arguments(parser: Arguments) -> None:
    """Add the arguments for what the session has before it is used."""
    parser.add_argument(
        "--bootstrap",
        metavar="FILE",
        help="script that runs once before the session is used; - for standard input",
    )
    parser.add_argument(
        "--shm",
        metavar="SIZE",
        type=reading(parse_size),
        help="size of /dev/shm, part of the memory: 512m, 4g",
    )
    parser.add_argument(
        "--workdir", metavar="DIR", help="working directory, absolute or relative to /home/work"
    )
    parser.add_argument("--timezone", metavar="ZONE", help="time zone: Europe/Berlin, Asia/Seoul")
    parser.add_argument(
        "--locale", metavar="LOCALE", help="locale, such as ko_KR.UTF-8; the image must have it"
    )


def ending_arguments(parser: Arguments) -> None:
    """Add the arguments for how the main process is asked to end."""
    parser.add_argument(
        "--stop-signal",
        choices=SIGNALS,
        help="sent to the main process when the session is terminated (default TERM)",
    )
    parser.add_argument(
        "--grace",
        metavar="TIME",
        type=reading(parse_duration),
        help="time until it is killed: 0s to 5m (default 10s)",
    )


def check_request(args: argparse.Namespace, defined: Mapping[str, Any] | None = None) -> models.CheckRequest:
    """The request fields of `scheduling_arguments`. defined: fields of a definition, for what is not given."""
    defined = dict(defined or {})
    slots = {**_SLOTS, **defined.get("slots", {}), **dict(args.slots)}
    if args.groups:
        defined.pop("alternative_groups", None)
    slots |= {slot: amount for slot, amount in (("cpu", args.cpu), ("mem", args.mem)) if amount is not None}
    given = {
        "project": args.project,
        "group": None,
        "priority": args.priority,
        "time_limit_s": round(args.time_limit) if args.time_limit else None,
        "start_at": args.start_at,
        "node": args.node,
    }
    others = {
        **group_fields(args.groups),
        "after": args.after or None,
        "on_dependency_failure": args.on_dependency_failure,
        "containers": args.cluster_size,
        "placement": args.placement,
        "topology": args.topology,
        "rights": "root" if args.root else None,
        "disk_bytes": args.disk,
    }
    request: Any = {**given, **defined, **_not_none({**given, **others}), "slots": slots}
    return request  # type: ignore[no-any-return]


def group_argument(parser: Arguments, text: str) -> None:
    """`--group`, for `group_fields`."""
    parser.add_argument("--group", metavar="GROUP", action="append", default=[], dest="groups", help=text)


def group_fields(groups: Sequence[str]) -> dict[str, Any]:
    """The request fields of resource groups in order of preference."""
    fields = {"group": groups[0]} if groups else {}
    return {**fields, "alternative_groups": list(groups[1:])} if groups[1:] else fields


def session_request(args: argparse.Namespace) -> models.SessionCreate:
    """The request fields of `session_arguments`: of the definition, overridden by the options.

    Variables and folders are added to those of the definition.
    """
    defined = load(args.file) if args.file else {}
    given = {
        "image": args.image,
        "name": args.name,
        "description": args.description,
        "on_failure": args.on_failure,
        "array": args.array,
        "retries": getattr(args, "retries", None),
        "bootstrap": None if args.bootstrap is None else _script(args.bootstrap),
        "shm_bytes": args.shm,
        "workdir": args.workdir,
        "timezone": args.timezone,
        "locale": args.locale,
        "stop_signal": signal(args.stop_signal),
        "grace_s": None if args.grace is None else round(args.grace),
    }
    request: Any = {
        "image": "starter",
        "description": "",
        "command": [],
        "retries": 0,
        **check_request(args, defined),
        **_not_none(given),
        "env": {**(defined.get("env") or {}), **dict(args.env)},
        "mounts": [*(defined.get("mounts") or []), *args.mounts],
    }
    return request  # type: ignore[no-any-return]


def _not_none(given: Mapping[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in given.items() if value is not None}


def _variable(text: str) -> tuple[str, str]:
    name, given, value = text.partition("=")
    if not name or name[0].isdigit() or not name.replace("_", "a").isalnum() or not name.isascii():
        raise ValueError(f"{name!r} is not a valid environment variable name")
    if not given and name not in os.environ:
        raise ValueError(f"{name} is not set; write {name}=VALUE")
    return name, value if given else os.environ[name]


def signal(name: str | None) -> Signal | None:
    """The signal with this short name, such as INT."""
    return SIGNALS[name] if name else None


def _script(path: str) -> str:
    if path == "-":
        return sys.stdin.read()
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as wrong:
        raise CarrelError("client.file", f"{path} cannot be read: {wrong}.", status=422) from None


def _mount(text: str) -> models.MountRequest:
    """FOLDER[:SUBPATH][:PATH][:ro]. A single middle part is a mount path if it begins with a slash, otherwise a
    subpath.
    """
    folder, *rest = text.split(":")
    mount: models.MountRequest = {"folder": folder}
    if rest and rest[-1] in ("ro", "rw"):
        mount["read_only"] = rest.pop() == "ro"
    if len(rest) == 2 or (rest and rest[-1].startswith("/")):
        mount["path"] = rest.pop()
    if rest and rest[0]:
        mount["subpath"] = rest[0]
    if not folder or len(rest) > 1:
        raise ValueError(f"{text!r} is not FOLDER[:SUBPATH][:PATH][:ro], as data or corpus:train:/data:ro")
    return mount
