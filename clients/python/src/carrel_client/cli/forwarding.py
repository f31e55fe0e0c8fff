"""Commands that open local ports onto a session."""

from __future__ import annotations

import argparse
from functools import partial

from carrel_client.cli.context import Context
from carrel_client.cli.output import print_line, say
from carrel_client.cli.parser import Arguments, container_argument, reading
from carrel_client.cli.progress import ProgressLine
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client.forwarding import Forward

_LAST_PORT = 65535


def port_forward_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.add_argument(
        "ports",
        metavar="[LOCAL:]PORT",
        nargs="+",
        type=reading(_forward),
        help="a port of the session, and the local port if it is another one; 0: any",
    )
    _bind_argument(parser)
    container_argument(parser)
    parser.explain(
        "Open local ports that lead to TCP ports of a session, until Ctrl-C. Servers that listen only on the\n"
        "session's own loopback address are reached too. After an outage, new connections work again."
    )
    parser.example("carrel port-forward train-3 8888", "carrel port-forward train-3 15432:5432 0:6006")


def port_forward(args: argparse.Namespace, context: Context) -> int:
    """Forward ports until interrupted."""
    return _forwarded(args, context, args.ports, container=args.container)


def app_forward_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.add_argument("app", metavar="APP", help="name from carrel app ls, such as tensorboard")
    parser.add_argument(
        "--port", type=reading(_port), default=0, metavar="N", help="the local port; default: any"
    )
    _bind_argument(parser)
    parser.explain(
        "Open a local port onto an app, until Ctrl-C; starts the app if necessary. The local port leads to the\n"
        "app itself, which may then ask for a password of its own; carrel app open needs none."
    )
    parser.example("carrel app forward train-3 tensorboard --port 6006")


def app_forward(args: argparse.Namespace, context: Context) -> int:
    """Start an app, and forward its port until interrupted."""
    from carrel_client.forwarding import Forward

    with ProgressLine(after_s=0.3) as line:
        line.update(f"Starting {args.app}")
        app = context.client.apps.start(args.id, args.app)
    return _forwarded(args, context, [Forward(args.port, app["port"])])


def _forwarded(
    args: argparse.Namespace, context: Context, forwards: list[Forward], *, container: str | None = None
) -> int:
    from carrel_client.forwarding import LocalPorts

    session = context.client.sessions.show(args.id)
    if session["state"] != "RUNNING":
        raise CarrelError(
            "session.not_running", f"{session['name']} is not running: it is {session['state']}.", status=409
        )
    ports = LocalPorts(
        context.client.transport,
        session["id"],
        forwards,
        bind=args.bind,
        container=container,
        report=lambda sentence: say(f"carrel: {sentence}"),
    )
    for forward in ports.forwards:
        answer = {
            "address": args.bind,
            "port": forward.local,
            "session": session["id"],
            "session_port": forward.remote,
        }
        line = f"{args.bind}:{forward.local} leads to port {forward.remote} of {session['name']}"
        context.stream(answer, partial(print_line, line))
    try:
        ports.run()
    finally:
        ports.close()
    return 0


def _bind_argument(parser: Arguments) -> None:
    parser.add_argument(
        "--bind",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="local address to listen on (default 127.0.0.1)",
    )


def _forward(text: str) -> Forward:
    """Raises: ValueError."""
    from carrel_client.forwarding import Forward

    local, colon, remote = text.rpartition(":")
    port = _port(remote)
    if port == 0:
        raise ValueError("the session's port must be from 1 to 65535")
    return Forward(_port(local) if colon else port, port)


def _port(text: str) -> int:
    """Raises: ValueError."""
    if not text.isascii() or not text.isdigit() or int(text[:9]) > _LAST_PORT:
        raise ValueError(f"{text!r} is not a port")
    return int(text)
