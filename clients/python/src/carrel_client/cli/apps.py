"""Commands for the apps of a session."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_line, print_table, say
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.people import each, given
from carrel_client.cli.progress import ProgressLine
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_PAINT = {"ready": "green", "starting": "yellow", "failed": "red", "unreachable": "red"}


def ls_arguments(parser: Arguments) -> None:
    _session_argument(parser)
    parser.add_argument(
        "--all", action="store_true", help="also apps whose program the session's container does not have"
    )
    parser.watches()
    parser.explain("List the apps of a session: its image's, those added to it, and the catalogue's.")
    parser.example("carrel app ls train-3", "carrel app ls train-3 --all")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List the apps of a session."""
    response = context.client.apps.list(args.id)
    columns = [Column("NAME"), Column("TITLE"), Column("PROTOCOL"), Column("PORT"), Column("STATE", _PAINT)]
    rows = [
        [app["name"], app["title"], app["protocol"], str(app["port"]), _state(app)]
        for app in response["items"]
        if args.all or app["state"] != "missing"
    ]
    context.answer(response, lambda: print_table(columns, rows))
    if why := response.get("layer_missing"):
        say(f"Without the app layer: {why}")
    return 0


def open_app_arguments(parser: Arguments) -> None:
    _session_argument(parser)
    parser.add_argument("app", metavar="APP", nargs="?", help="name from carrel app ls, such as jupyter")
    parser.add_argument(
        "--print-url", action="store_true", help="print the link instead of opening a browser"
    )
    _options_argument(parser)
    parser.add_argument("--new", action="store_true", help="start another one of this kind")
    parser.add_argument(
        "--port", type=reading(whole_number), help="instead of APP: a port on which a program listens"
    )
    parser.add_argument("--name", help="with --new or --port: its name")
    parser.add_argument(
        "--protocol", choices=("http", "tcp"), help="with --port: its protocol (default: http)"
    )
    parser.add_argument("--path", help="with --port: where its pages begin, such as /lab")
    parser.explain(
        "Open an app in the browser; starts the app if necessary. The link works once, within 30 seconds.\n"
        "With --port, a port of the session becomes an app of its own."
    )
    parser.example(
        "carrel app open train-3 jupyter",
        "carrel app open train-3 jupyter --print-url",
        "carrel app open train-3 tensorboard --option logdir=/home/work/runs",
        "carrel app open train-3 --port 8000 --name api",
    )


def open_app(args: argparse.Namespace, context: Context) -> int:
    """Open an app."""
    if (args.app is None) == (args.port is None):
        raise CarrelError("usage", "Give either APP or --port.", status=422)
    with ProgressLine(after_s=0.3) as line:
        app, options = args.app, _options(args)
        if args.port is not None:
            app = _opened_port(args, context)
        elif args.new:
            fields = {**given(args, "name"), **options}
            app = context.client.apps.create(args.id, template=args.app, **fields)["name"]
            options = {}
        if args.protocol == "tcp":
            context.answer({"app": app}, lambda: print_line(f"Port {args.port} is open as {app}."))
            return 0
        line.update(f"Opening {app}")
        opened = context.client.apps.open(args.id, app, **options)
    if context.structured or args.print_url:
        context.answer(opened, lambda: print_line(opened["url"]))
        return 0
    import webbrowser

    if not webbrowser.open(opened["url"]):
        say("No browser is available. Open this link within 30 seconds:")
        print_line(opened["url"])
    return 0


def _opened_port(args: argparse.Namespace, context: Context) -> str:
    """The name of the app of a port, which may be open already."""
    for one in context.client.apps.list(args.id)["items"]:
        if one["kind"] is None and one["port"] == args.port and args.name in (None, one["name"]):
            return one["name"]
    fields = given(args, "name", "protocol", "path")
    return context.client.apps.create(args.id, port=args.port, **fields)["name"]


def start_arguments(parser: Arguments) -> None:
    _session_argument(parser)
    parser.add_argument("app", metavar="APP", help="name from carrel app ls")
    _options_argument(parser)
    parser.explain("Start an app and wait until it responds. When it fails, the end of its log is shown.")
    parser.example("carrel app start train-3 tensorboard --option logdir=/home/work/runs")


def start(args: argparse.Namespace, context: Context) -> int:
    """Start an app."""
    with ProgressLine(after_s=0.3) as line:
        line.update(f"Starting {args.app}")
        app = context.client.apps.start(args.id, args.app, **_options(args))
    context.answer(app, lambda: print_line(f"{app['name']} {_state(app)}, port {app['port']}"))
    return 0


def stop_arguments(parser: Arguments) -> None:
    _session_argument(parser)
    parser.add_argument("apps", metavar="APP", nargs="+", help="names from carrel app ls")
    parser.explain("End the processes of apps; what they have not saved is lost.")
    parser.example("carrel app stop train-3 tensorboard")


def stop(args: argparse.Namespace, context: Context) -> int:
    """Stop apps."""

    def end(name: str) -> tuple[object, str]:
        app = context.client.apps.stop(args.id, name)
        return app, f"{name} {_state(app)}"

    return each(context, args.apps, end)


def logs_arguments(parser: Arguments) -> None:
    _session_argument(parser)
    parser.add_argument("app", metavar="APP", help="name from carrel app ls")
    parser.add_argument(
        "--tail", type=reading(whole_number), help="number of lines from the end (default: 200)"
    )
    parser.explain("Print what an app has printed since its last start. It ends with the session.")
    parser.example("carrel app logs train-3 tensorboard --tail 50")


def logs(args: argparse.Namespace, context: Context) -> int:
    """Print the log of an app."""
    response = context.client.apps.logs(args.id, args.app, tail=args.tail)

    def show() -> None:
        for line in response["text"].splitlines():
            print_line(line)

    context.answer(response, show)
    return 0


def rm_arguments(parser: Arguments) -> None:
    _session_argument(parser)
    parser.add_argument("apps", metavar="APP", nargs="+", help="names from carrel app ls")
    yes_argument(parser)
    parser.explain("Stop and remove apps that were added to a session, and close ports.")
    parser.example("carrel app rm train-3 tensorboard-2 port-8000")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Remove added apps and close ports."""
    if not removal_confirmed(args, "app", args.apps):
        return 1

    def remove(name: str) -> tuple[object, str]:
        context.client.apps.remove(args.id, name)
        return {"app": name, "removed": True}, f"{name} removed"

    return each(context, args.apps, remove)


def _session_argument(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")


def _options_argument(parser: Arguments) -> None:
    parser.add_argument(
        "--option",
        dest="options",
        metavar="NAME=VALUE",
        action="append",
        type=reading(_option),
        help="an option of the app, before it starts; repeatable",
    )


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ValueError(f"{text!r} is not NAME=VALUE, as logdir=/home/work/runs")
    return name, value


def _options(args: argparse.Namespace) -> dict[str, Any]:
    return {"options": dict(args.options)} if args.options else {}


def _state(app: models.AppView) -> str:
    code = app["exit_code"]
    return f"{app['state']} (exit code {code})" if code is not None else app["state"]
