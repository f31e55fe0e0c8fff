"""Commands for engines."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.kinds import (
    given_settings,
    kind_argument,
    named,
    print_kinds,
    setting_text,
    unset_argument,
)
from carrel_client.cli.output import Column, print_facts, print_line, print_table
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import each
from carrel_client.cli.times import local_time
from carrel_client.slots import slots_text

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
    response = context.client.engines.list()
    columns = [Column("NAME"), Column("KIND"), Column("STATE", _STATES), Column("SINCE")]
    columns += [Column("NODES"), Column("CONTAINERS"), Column("LAST ERROR")]
    rows = [
        [
            engine["name"],
            engine["kind_title"],
            engine["state"],
            local_time(engine["state_since"]),
            str(engine["nodes"]),
            str(engine["containers"]),
            engine["last_error"] or "",
        ]
        for engine in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def kinds_arguments(parser: Arguments) -> None:
    parser.explain("List the available engine kinds and their settings.")
    parser.example("carrel engine kinds", "carrel engine kinds -o json | jq '.items[].settings.properties'")


def kinds(args: argparse.Namespace, context: Context) -> int:
    """List engine kinds."""
    print_kinds(context, context.client.engine_kinds.list())
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
    kind_argument(parser, "engine_kind")
    parser.add_argument("name", metavar="NAME", help="lower-case letters and digits, with - between them")
    parser.add_argument(
        "--check",
        action="store_true",
        help="only show what it would offer and what it cannot do; add nothing",
    )
    parser.kind_of = lambda context, kind: named(context.client.engine_kinds.list()["items"], kind)
    parser.explain(
        "Add an engine. It must respond; sessions may start on its nodes immediately. It is checked then, which says "
        "what it cannot do. Each setting of the kind is an option after KIND."
    )
    parser.example(
        "carrel engine add docker rack2 --url unix:///run/rack2/docker.sock",
        "carrel engine add kubernetes cluster --kubeconfig - --check < ~/.kube/config",
        "carrel engine add docker --help",
    )


def add(args: argparse.Namespace, context: Context) -> int:
    """Add an engine."""
    settings = given_settings(args)
    if args.check:
        return _report(
            context, context.client.engines.check_settings(kind=args.engine_kind, settings=settings)
        )
    made = context.client.engines.create(kind=args.engine_kind, name=args.name, settings=settings)
    context.answer(made, lambda: _print_added(context, made))
    return 0


def _print_added(context: Context, engine: models.EngineView) -> None:
    """With a check, which may take a minute."""
    print_line(f"{engine['name']} added ({engine['id']})")
    _print_check(context.client.engines.check(engine["id"]))


def edit_arguments(parser: Arguments) -> None:
    _engine(parser)
    parser.add_argument("--name", help="new name")
    unset_argument(parser)
    parser.kind_of = lambda context, engine: named(
        context.client.engine_kinds.list()["items"], context.client.engines.show(engine)["kind"]
    )
    parser.explain(
        "Change an engine while it runs. With new settings it must respond and have the running containers; secrets "
        "must be set again together with other settings. Each setting of its kind is an option after ENGINE."
    )
    parser.example(
        "carrel engine edit rack2 --name rack-2",
        "carrel engine edit rack2 --addresses 10.213.0.0/16",
        "carrel engine edit rack2 --unset addresses",
    )


def edit(args: argparse.Namespace, context: Context) -> int:
    """Change an engine."""
    changes: dict[str, Any] = {"name": args.name} if args.name else {}
    if settings := given_settings(args):
        changes["settings"] = settings
    changed = context.client.engines.update(args.engine, **changes)
    context.answer(changed, lambda: _print(changed))
    return 0


def check_arguments(parser: Arguments) -> None:
    _engine(parser)
    parser.explain(
        "Check the connection to an engine, and what a Kubernetes cluster enforces. Exit code 1 if it does not respond."
    )
    parser.example("carrel engine check rack2")


def check(args: argparse.Namespace, context: Context) -> int:
    """Check the connection to an engine."""
    return _report(context, context.client.engines.check(args.engine))


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


def _report(context: Context, check: models.EngineCheck) -> int:
    context.answer(check, lambda: _print_check(check))
    return 0 if check["ok"] else 1


def _print_check(check: models.EngineCheck) -> None:
    print_line(" ".join([check["sentence"], *check["notes"]]))
    if check["nodes"]:
        rows = [
            [node["name"], node["architecture"], slots_text(node["slots"]), node["closed"]]
            for node in check["nodes"]
        ]
        print_table([Column(title) for title in ("NODE", "ARCHITECTURE", "OFFERS", "CLOSED")], rows)
        print_line(f"capacity for sessions: {slots_text(check['capacity']) or 'none'}")
        print_line(f"runtimes for resource groups: {', '.join(check['runtimes']) or 'none'}")
    for gap in check["gaps"]:
        print_line(f"- {gap['sentence']}")


def _engine(parser: Arguments) -> None:
    parser.add_argument("engine", metavar="ENGINE", help="its name or id")


def _layer_text(engine: models.EngineView) -> str:
    layer = engine["app_layer"]
    if layer is None:
        return "none"
    parts = (layer["state"], layer["step"], layer["error"])
    return " ".join(part for part in parts if part)


def _print(engine: models.EngineView) -> None:
    settings = engine["settings"].items()
    print_facts(
        [
            ("name", engine["name"]),
            ("id", engine["id"]),
            ("kind", engine["kind_title"]),
            ("state", engine["state"]),
            ("since", local_time(engine["state_since"])),
            ("last error", engine["last_error"] or ""),
            ("app layer", _layer_text(engine)),
            *[(name, setting_text(value)) for name, value in settings],
            *[(name, "set") for name in engine["secrets"]],
            ("nodes", str(engine["nodes"])),
            ("containers", str(engine["containers"])),
            ("added", local_time(engine["created_at"])),
        ]
    )
