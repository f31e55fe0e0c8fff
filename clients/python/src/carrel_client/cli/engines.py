"""Commands for engines."""

from __future__ import annotations

import argparse
import json
import sys

from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_facts, print_line, print_table
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import each
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_STATES = {"READY": "green", "DOWN": "red"}


def ls_arguments(parser: Arguments) -> None:
    parser.watches("engine", "node")
    parser.explain("List the engines with their state.")
    parser.example(
        "carrel engine ls", "carrel engine ls -o json | jq '.items[] | select(.state == \"DOWN\")'"
    )


def ls(args: argparse.Namespace, context: Context) -> int:
    """List engines."""
    found = context.client.engines.list()
    columns = [Column("NAME"), Column("KIND"), Column("STATE", _STATES), Column("SINCE")]
    columns += [Column("NODES"), Column("CONTAINERS"), Column("LAST ERROR")]
    rows = [
        [
            engine["name"],
            engine["kind"],
            engine["state"],
            local_time(engine["state_since"]),
            str(engine["nodes"]),
            str(engine["containers"]),
            engine["last_error"] or "",
        ]
        for engine in found["items"]
    ]
    context.answer(found, lambda: print_table(columns, rows))
    return 0


def kinds_arguments(parser: Arguments) -> None:
    parser.explain("List the available engine kinds and their settings.")
    parser.example("carrel engine kinds", "carrel engine kinds -o json | jq '.items[].settings.properties'")


def kinds(args: argparse.Namespace, context: Context) -> int:
    """List engine kinds."""
    found = context.client.engine_kinds.list()
    rows = [
        [
            kind["kind"],
            name,
            json.dumps(one["default"]) if "default" in one else "",
            one.get("description", ""),
        ]
        for kind in found["items"]
        for name, one in kind["settings"]["properties"].items()
    ]
    columns = [Column(title) for title in ("KIND", "SETTING", "AS USUAL", "WHAT IT IS")]
    context.answer(found, lambda: print_table(columns, rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    _engine(parser)
    parser.explain("Show the settings and state of an engine. Secrets are never shown.")
    parser.example("carrel engine show local")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one engine."""
    engine = context.client.engines.show(args.engine)
    context.answer(engine, lambda: _print(engine))
    return 0


def add_arguments(parser: Arguments) -> None:
    parser.add_argument("name", metavar="NAME", help="lower-case letters and digits, with - between them")
    parser.add_argument("kind", metavar="KIND", help="the engine kind; see carrel engine kinds")
    _settings(parser)
    parser.explain("Add an engine. It must respond; sessions may start on its nodes immediately.")
    parser.example("carrel engine add rack2 docker --set url=unix:///run/rack2/docker.sock")


def add(args: argparse.Namespace, context: Context) -> int:
    """Add an engine."""
    made = context.client.engines.create(kind=args.kind, name=args.name, settings=_given(args))
    context.answer(made, lambda: print_line(f"{made['name']} added ({made['id']})"))
    return 0


def edit_arguments(parser: Arguments) -> None:
    _engine(parser)
    parser.add_argument("--name", help="another name")
    _settings(parser)
    parser.add_argument(
        "--unset",
        metavar="SETTING",
        action="append",
        default=[],
        help="reset this setting to its default; repeatable",
    )
    parser.explain(
        "Change an engine while it runs. With new settings it must respond and have the "
        "running containers; secrets must be set again together with other settings."
    )
    parser.example("carrel engine edit rack2 --name rack-2", "carrel engine edit rack2 --unset addresses")


def edit(args: argparse.Namespace, context: Context) -> int:
    """Change an engine."""
    wanted: dict[str, Any] = {"name": args.name} if args.name else {}
    if settings := {**dict.fromkeys(args.unset), **_given(args)}:
        wanted["settings"] = settings
    changed = context.client.engines.update(args.engine, **wanted)
    context.answer(changed, lambda: _print(changed))
    return 0


def check_arguments(parser: Arguments) -> None:
    _engine(parser)
    parser.explain("Check the connection to an engine. Exit code 1 if it does not respond.")
    parser.example("carrel engine check rack2")


def check(args: argparse.Namespace, context: Context) -> int:
    """Check the connection to an engine."""
    found = context.client.engines.check(args.engine)
    nodes = f" Its nodes: {', '.join(found['nodes'])}." if found["nodes"] else ""
    context.answer(found, lambda: print_line(found["sentence"] + nodes))
    return 0 if found["ok"] else 1


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("engines", metavar="ENGINE", nargs="+", help="names or ids")
    yes_argument(parser)
    parser.explain("Remove engines without containers, with their nodes.")
    parser.example("carrel engine rm rack2")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Remove engines."""
    if not removal_confirmed(args, "engine", args.engines):
        return 1

    def remove(ref: str) -> tuple[object, str]:
        context.client.engines.remove(ref)
        return {"engine": ref, "removed": True}, f"{ref} removed"

    return each(context, args.engines, remove)


def _engine(parser: Arguments) -> None:
    parser.add_argument("engine", metavar="ENGINE", help="its name or id")


def _settings(parser: Arguments) -> None:
    parser.add_argument(
        "--set",
        metavar="SETTING=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="a setting of the kind; lists as JSON; repeatable",
    )
    parser.add_argument(
        "--secret-stdin", metavar="SETTING", help="read this secret setting from standard input"
    )


def _given(args: argparse.Namespace) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for pair in args.settings:
        name, equals, value = pair.partition("=")
        if not equals:
            raise CarrelError(
                "invalid.setting",
                f"{pair} is not SETTING=VALUE.",
                status=0,
                hint="Write --set url=unix:///...",
            )
        # The server parses everything but lists.
        given[name] = json.loads(value) if value.startswith(("[", "{")) else value
    if args.secret_stdin:
        given[args.secret_stdin] = sys.stdin.readline().rstrip("\r\n")
    return given


def _print(engine: models.EngineView) -> None:
    settings = engine["settings"].items()
    print_facts(
        [
            ("name", engine["name"]),
            ("id", engine["id"]),
            ("kind", engine["kind"]),
            ("state", engine["state"]),
            ("since", local_time(engine["state_since"])),
            ("last error", engine["last_error"] or ""),
            *[(name, value if isinstance(value, str) else json.dumps(value)) for name, value in settings],
            *[(name, "set") for name in engine["secrets"]],
            ("nodes", str(engine["nodes"])),
            ("containers", str(engine["containers"])),
            ("added", local_time(engine["created_at"])),
        ]
    )
