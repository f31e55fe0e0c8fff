"""Commands that use sessions by OpenSSH, without a key: the connection goes through the API."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys

from carrel_client.channel import Channel, ChannelBroken
from carrel_client.cli.context import Context
from carrel_client.cli.parser import Arguments, container_argument
from carrel_client.errors import CarrelError
from carrel_client.transport import segment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_BLOCK = 65536
_BACKLOG_LIMIT = 1 << 20
PREFIX = "carrel."


def ssh_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    for option, what in (("-L", "a port of this machine to"), ("-R", "a port of the session to")):
        parser.add_argument(
            option,
            dest=f"forwards{option}",
            action="append",
            default=[],
            metavar="PORT:HOST:PORT",
            help=f"forward {what} the other side, as ssh does",
        )
    parser.add_argument(
        "-A", "--agent", action="store_true", help="let the session use your SSH agent, as ssh does"
    )
    parser.add_argument("-t", "--tty", action="store_true", help="a terminal for the command, as of ssh")
    container_argument(parser)
    parser.followed_by_command("id")
    parser.without_output()
    parser.explain(
        "Open a shell in a session by OpenSSH, or run a command. No key is needed: your keypair of Carrel\n"
        "opens the session, through the address of the API. For plain ssh, scp, rsync and editors see\n"
        "carrel ssh-config."
    )
    parser.example(
        "carrel ssh train-3", "carrel ssh train-3 -- nvidia-smi", "carrel ssh train-3 -L 6006:localhost:6006"
    )


def ssh(args: argparse.Namespace, context: Context) -> int:
    """Become ssh."""
    forwards = [
        word
        for option in ("-L", "-R")
        for one in getattr(args, f"forwards{option}")
        for word in (option, one)
    ]
    more = [*forwards, *["-A"] * args.agent, *["-t"] * args.tty]
    return _become("ssh", args, context, [*more, "--", _host(args), *args.command])


def sftp_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.add_argument(
        "-b", "--batch", metavar="FILE", help="run the commands of the file; - for standard input"
    )
    container_argument(parser)
    parser.without_output()
    parser.explain(
        "Transfer files to and from a session by OpenSSH's sftp, without a key. The image needs sftp-server."
    )
    parser.example("carrel sftp train-3", "echo 'get results.csv' | carrel sftp train-3 -b -")


def sftp(args: argparse.Namespace, context: Context) -> int:
    """Become sftp."""
    return _become("sftp", args, context, [*(["-b", args.batch] if args.batch else []), _host(args)])


def ssh_proxy_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name, also with carrel. before it")
    container_argument(parser)
    parser.without_output()
    parser.explain(
        "Connect standard input and output with the SSH server of a session, through the address of the API.\n"
        "For ProxyCommand of OpenSSH, see carrel ssh-config."
    )
    parser.example("carrel ssh-proxy train-3")


def ssh_proxy(args: argparse.Namespace, context: Context) -> int:
    """Pass bytes on until one side ends."""
    ref, _, container = args.id.removeprefix(PREFIX).partition("+")
    query = {"container": args.container or container} if args.container or container else {}
    channel = Channel(context.client.transport, f"/api/v1/sessions/{segment(ref)}/ssh", query=query)
    reads = True
    try:
        while not channel.ended:
            watched = (0,) if reads and channel.backlog < _BACKLOG_LIMIT else ()
            messages, readable = channel.step(watched)
            for message in messages:
                if isinstance(message, bytes):
                    _write(message)
            if readable:
                block = os.read(0, _BLOCK)
                if not block:
                    return 0
                channel.send(block)
    except ChannelBroken as broken:
        raise CarrelError("client.lost", f"The connection was lost: {broken}.", status=502) from broken
    finally:
        channel.close()
    return 0


def known_hosts(context: Context, shown: models.SshView) -> tuple[str, str]:
    """A file with the host key of the server, and the name of the host in it."""
    folder = os.path.join(
        os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "carrel", "ssh"
    )
    os.makedirs(folder, mode=0o700, exist_ok=True)
    target = context.client.transport.target
    alias = f"carrel-{target.host}-{target.port}"
    path = os.path.join(folder, f"{alias}.known_hosts")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{alias} {shown['host_key']}\n")
    return path, alias


def proxy_command(context: Context, ref: str) -> str:
    """The words of ProxyCommand. ref: of the session, or %n for the name that is given to ssh."""
    program = os.path.abspath(sys.argv[0])
    installed = os.path.basename(program) == "carrel" and os.access(program, os.X_OK)
    words = [program] if installed else [sys.executable, "-m", "carrel_client.cli.main"]
    words += ["ssh-proxy", *(["--profile", context.profile] if context.profile else [])]
    shown = " ".join(shlex.quote(word) for word in words).replace("%", "%%")
    return f"{shown} {ref}"


def _become(program: str, args: argparse.Namespace, context: Context, words: list[str]) -> int:
    path = shutil.which(program)
    if path is None:
        raise CarrelError(
            "client.no_ssh",
            f"There is no program {program} on this machine.",
            status=422,
            hint=f"Install OpenSSH's client, or use carrel session terminal {args.id}.",
        )
    known, alias = known_hosts(context, context.client.ssh.show())
    ref = args.id + (f"+{args.container}" if args.container else "")
    options = {
        "ProxyCommand": proxy_command(context, shlex.quote(ref).replace("%", "%%")),
        "HostKeyAlias": alias,
        "UserKnownHostsFile": f'"{known}"',
        "GlobalKnownHostsFile": "/dev/null",
        "StrictHostKeyChecking": "yes",
        "ForwardAgent": "no",
    }
    given = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    sys.stdout.flush()
    os.execv(path, [program, *given, *words])


def _host(args: argparse.Namespace) -> str:
    return f"{PREFIX}{args.id}"


def _write(content: bytes) -> None:
    while content:
        content = content[os.write(1, content) :]
