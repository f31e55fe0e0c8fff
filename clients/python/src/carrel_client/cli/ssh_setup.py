"""Commands that set OpenSSH up for sessions: its configuration, and certificates."""

from __future__ import annotations

import argparse
import base64
import os

from carrel_client.cli import ssh
from carrel_client.cli.context import Context
from carrel_client.cli.output import print_line, say
from carrel_client.cli.parser import Arguments, reading
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError
from carrel_client.units import parse_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_FOLDER = "~/.ssh"
_FILE = "carrel.config"
_KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")
_LONGEST_MINUTES = 24 * 60


def ssh_config_arguments(parser: Arguments) -> None:
    parser.add_argument("ids", metavar="ID", nargs="*", help="with --direct: sessions; default: all that run")
    parser.add_argument(
        "--direct", action="store_true", help="through the SSH port, by a key or a certificate"
    )
    parser.add_argument("--print", dest="only_print", action="store_true", help="print it, and write no file")
    parser.explain(
        "Set OpenSSH up for your sessions: writes ~/.ssh/carrel.config, and includes it in ~/.ssh/config. Then\n"
        "ssh carrel.NAME works, and so do scp, sftp, rsync, VS Code's Remote-SSH and PyCharm, for all sessions\n"
        "of now and later, without a key: connections go through the address of the API. With --direct they go\n"
        "through the SSH port, which is faster; that needs a registered key or carrel ssh-cert, and the sessions\n"
        "that are known now."
    )
    parser.example(
        "carrel ssh-config && ssh carrel.train-3",
        "carrel ssh-config && rsync -a data/ carrel.train-3:data/",
        "carrel ssh-config --direct train-3",
    )


def ssh_config(args: argparse.Namespace, context: Context) -> int:
    """Write the configuration of OpenSSH."""
    shown = context.client.ssh.show()
    known, alias = ssh.known_hosts(context, shown)
    common = [
        f"  HostKeyAlias {alias}",
        f'  UserKnownHostsFile "{known}"',
        "  StrictHostKeyChecking yes",
    ]
    if args.direct:
        text = _direct(args, context, shown, common)
    else:
        # OpenSSH passes the name to a shell.
        proxy = ssh.proxy_command(context, "'%n'")
        lines = [f'Host {ssh.PREFIX}* "!*\'*"', f"  ProxyCommand {proxy}", *common]
        text = "\n".join(lines) + "\n"
    if args.only_print:
        context.answer({"config": text}, lambda: print_line(text.rstrip("\n")))
        return 0
    path, included = _written(text)

    def show() -> None:
        print_line(f"{path} is written" + (f", and included in {included}" if included else ""))
        print_line(f"host key: {shown['fingerprint']}")
        print_line(f"now: ssh {ssh.PREFIX}SESSION")

    context.answer(
        {"file": path, "included": included, "fingerprint": shown["fingerprint"], "config": text}, show
    )
    return 0


def ssh_cert_arguments(parser: Arguments) -> None:
    parser.add_argument("--key", metavar="PATH", help="your key; default: the first one in ~/.ssh")
    parser.add_argument(
        "--lifetime",
        type=reading(_minutes),
        default=8 * 60,
        metavar="TIME",
        help="such as 30m or 8h (default 8h)",
    )
    parser.explain(
        "Have a key of yours signed for a while, so that it opens your sessions by SSH without being registered.\n"
        "The certificate is written beside the key, where ssh finds it. It ends early with the keypair or sign-in\n"
        "by which it was obtained."
    )
    parser.example("carrel ssh-cert", "carrel ssh-cert --key ~/.ssh/work --lifetime 30m")


def ssh_cert(args: argparse.Namespace, context: Context) -> int:
    """Obtain a certificate."""
    key = os.path.expanduser(args.key.removesuffix(".pub")) if args.key else _own_key()
    try:
        with open(f"{key}.pub", encoding="utf-8") as file:
            public_key = file.read()
    except (OSError, UnicodeDecodeError) as wrong:
        raise CarrelError("client.file", f"{key}.pub cannot be read: {wrong}.", status=422) from None
    path = f"{key}-cert.pub"
    _require_ours(context, path)
    made = context.client.ssh_keys.certify(public_key=public_key, minutes=args.lifetime)
    _replace(path, made["certificate"] + "\n")
    answer = {"file": path, "expires_at": made["expires_at"]}
    context.answer(answer, lambda: print_line(f"{path} is valid until {local_time(made['expires_at'])}"))
    return 0


def _direct(args: argparse.Namespace, context: Context, shown: models.SshView, common: list[str]) -> str:
    if shown["port"] is None:
        raise CarrelError(
            "client.no_ssh_port",
            "This installation has no SSH port.",
            status=409,
            hint="Leave --direct out: SSH then goes through the address of the API.",
        )
    hosts = [
        (session["name"], session["id"])
        for session in (
            [context.client.sessions.show(ref) for ref in args.ids]
            or context.client.sessions.list(state="RUNNING")["items"]
        )
    ]
    if not hosts:
        say("No session is running, so there is no host yet.")
    where = [f"  HostName {shown['host']}", f"  Port {shown['port']}"]
    return "\n".join(
        line
        for name, number in hosts
        for line in (f"Host {ssh.PREFIX}{name}", f"  User {number}", *where, *common, "")
    )


def _written(text: str) -> tuple[str, str | None]:
    """The path of the file, and the file that includes it if that was changed."""
    folder = os.path.expanduser(_FOLDER)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path, config = os.path.join(folder, _FILE), os.path.join(folder, "config")
    _replace(path, "# Written by carrel ssh-config.\n" + text)
    try:
        with open(config, encoding="utf-8") as file:
            before = file.read()
    except FileNotFoundError:
        before = ""
    line = f"Include {_FILE}"
    if line in before.splitlines():
        return path, None
    # First: an Include after a Host belongs to that host only.
    _replace(os.path.realpath(config), f"{line}\n{chr(10) if before else ''}{before}")
    return path, config


def _replace(path: str, text: str) -> None:
    """OpenSSH refuses every host if others may write its files."""
    fresh = f"{path}.carrel"
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)
    os.replace(fresh, path)


def _require_ours(context: Context, path: str) -> None:
    """Check that no certificate of another authority is replaced. Raises: CarrelError."""
    try:
        with open(path, encoding="utf-8") as file:
            former = base64.b64decode(file.read().split()[1])
    except FileNotFoundError:
        return
    except (OSError, IndexError, ValueError):
        former = b""
    if base64.b64decode(context.client.ssh.show()["authority"].split()[1]) not in former:
        raise CarrelError(
            "client.file",
            f"{path} is a certificate of another authority.",
            status=409,
            hint="Use another key: --key PATH.",
        )


def _own_key() -> str:
    for name in _KEYS:
        path = os.path.join(os.path.expanduser(_FOLDER), name)
        if os.path.exists(f"{path}.pub"):
            return path
    raise CarrelError(
        "client.no_key",
        "You have no SSH key in ~/.ssh.",
        status=422,
        hint="Create one: ssh-keygen -t ed25519",
    )


def _minutes(text: str) -> int:
    """Raises: ValueError."""
    minutes = int(parse_duration(text) // 60)
    if not 1 <= minutes <= _LONGEST_MINUTES:
        raise ValueError("a certificate is valid for 1 minute to 24 hours")
    return minutes
