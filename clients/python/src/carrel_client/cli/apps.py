"""Commands for the apps of a session."""

from __future__ import annotations

import argparse

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_line, print_table, say
from carrel_client.cli.parser import Arguments
from carrel_client.cli.progress import ProgressLine


def ls_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.watches()
    parser.example("carrel app ls train-3")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List the apps of a session."""
    response = context.client.apps.list(args.id)
    columns = [
        Column("NAME"),
        Column("TITLE"),
        Column("PROTOCOL"),
        Column("PORT"),
        Column("RUNS", {"yes": "green"}),
    ]
    rows = [
        [app["name"], app["title"], app["protocol"], str(app["port"]), "yes" if app["running"] else "no"]
        for app in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def open_app_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.add_argument("app", metavar="APP", help="name from carrel app ls, such as jupyter")
    parser.add_argument(
        "--print-url", action="store_true", help="print the link instead of opening a browser"
    )
    parser.explain(
        "Open an app in the browser; starts the app if necessary. The link works once, within 30 seconds."
    )
    parser.example("carrel app open train-3 jupyter", "carrel app open train-3 jupyter --print-url")


def open_app(args: argparse.Namespace, context: Context) -> int:
    """Open an app."""
    with ProgressLine(after_s=0.3) as line:
        line.update(f"Opening {args.app}")
        opened = context.client.apps.open(args.id, args.app)
    if context.structured or args.print_url:
        context.answer(opened, lambda: print_line(opened["url"]))
        return 0
    import webbrowser

    if not webbrowser.open(opened["url"]):
        say("No browser is available. Open this link within 30 seconds:")
        print_line(opened["url"])
    return 0
