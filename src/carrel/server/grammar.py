"""The grammar of the operator's commands: options, their values, and help texts.

Standard library and Python 3.9 only, without imports from Carrel: the first command reads it before anything is
installed, so that `--help` works and wrong options are rejected without any setup.
"""

from __future__ import annotations

import argparse
import difflib
import ipaddress
import re
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import NoReturn

COMMANDS = {
    "up": "Start Carrel on this machine, and install what is missing.",
    "down": "Stop Carrel. Sessions keep running; the next start finds them.",
    "status": "Show each component with its health, version and address.",
    "serve": "Run some roles in the foreground against your own PostgreSQL.",
    "migrate": "Prepare your own PostgreSQL: the schema, and for a new installation its first administrator.",
    "backup": "Write database, key, settings and folders to a directory, or verify a backup.",
    "restore": "Rebuild an installation from a backup, in a new data directory.",
    "push-layer": "Build the app layer on this machine, and push it to a registry from which clusters pull it.",
    "uninstall": "Remove what `carrel up` installed on this machine, after listing it. Keeps the data without --data.",
}
ROLES = ("api", "gateway", "controllers")
EXIT_USAGE = 2
LAST_PORT = 65534
"""Port of the page; apps use the next one."""
_EMAIL = re.compile(r"[^\s@<>()\[\],;:\"\\]{1,64}@[^\s@<>()\[\],;:\"\\]+")
_HOST_NAME = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*", re.IGNORECASE)
_EXAMPLES = {
    "up": "examples:\n  carrel up\n  carrel up --detach --yes\n  carrel up --host 0.0.0.0 --port 80 "
    "--apps-domain apps.example.org\n"
    "  carrel up --host 0.0.0.0 --port 443 --tls-cert fullchain.pem --tls-key privkey.pem",
    "down": "examples:\n  carrel down",
    "status": "examples:\n  carrel status\n  carrel status -o json",
    "serve": "examples:\n  CARREL_DATABASE_URL=postgresql://carrel@db/carrel carrel serve --roles api,controllers",
    "migrate": "examples:\n  CARREL_DATABASE_URL=postgresql://carrel@db/carrel carrel migrate",
    "backup": "examples:\n  carrel backup /mnt/backup/monday\n  carrel backup /mnt/backup/monday --folders none\n"
    "  carrel backup --verify /mnt/backup/monday\n\nA backup contains the installation's key and all files: protect it "
    "like the original.",
    "restore": "examples:\n  carrel restore /mnt/backup/monday --data-dir /srv/carrel\n"
    "  CARREL_DATABASE_URL=postgresql://carrel@db/fresh carrel restore /mnt/backup/monday",
    "push-layer": "examples:\n  carrel push-layer registry.example.org/carrel/app-layer\n"
    "  carrel push-layer registry.example.org/carrel/app-layer --username robot --secret-file token",
    "uninstall": "examples:\n  carrel uninstall\n  carrel uninstall --data --yes",
}


class Parser(argparse.ArgumentParser):
    """An argument parser that reports errors as a sentence and a hint, with exit code 2."""

    def error(self, message: str) -> NoReturn:
        hint = f"{self.prog} --help"
        if message.startswith("unrecognized arguments: "):
            word = message.split(" ")[2]
            near = difflib.get_close_matches(word, list(self._option_string_actions), n=1)
            hint = f"did you mean {near[0]}?" if near else hint
        sys.stderr.write(f"error: {_sentence(message)} (usage)\nhint: {hint}\n")
        raise SystemExit(EXIT_USAGE)


def parse(words: Sequence[str]) -> argparse.Namespace:
    """A command and its options. Raises: SystemExit, for help and for usage errors."""
    top = parser()
    if not words or words[0] not in COMMANDS:
        return top.parse_args(words)
    # Use the command's own parser, so that its errors name the command.
    [commands] = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    options: argparse.Namespace = commands.choices[words[0]].parse_args(words[1:])
    options.command = words[0]
    return options


def parser() -> argparse.ArgumentParser:
    """The whole grammar, for the commands, their --help and the documentation."""
    top = Parser(prog="carrel", description="Run a Carrel installation.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=text,
            description=text,
            epilog=_EXAMPLES[name],
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        _ARGUMENTS[name](command)
    return top


def _data_dir(command: argparse.ArgumentParser) -> None:
    command.add_argument("--data-dir", type=directory, metavar="DIR", help="the data directory")


def _output(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "-o", "--output", choices=("table", "json"), default="table", help="output format (default: table)"
    )


def _up(up: argparse.ArgumentParser) -> None:
    _data_dir(up)
    up.add_argument("--detach", action="store_true", help="run in the background")
    up.add_argument("--yes", action="store_true", help="install what is missing without asking")
    up.add_argument("--host", type=host, metavar="ADDRESS", help="address to listen on (default 127.0.0.1)")
    up.add_argument("--port", type=port, metavar="N", help="port of the page and the API (default 8700)")
    up.add_argument(
        "--apps-domain",
        type=domain,
        metavar="DOMAIN",
        help="apps are at <app>-<session>.DOMAIN (default localhost)",
    )
    up.add_argument(
        "--app-ports",
        type=port_range,
        metavar="FIRST-LAST",
        help="ports of apps for browsers that use an address instead of a name",
    )
    up.add_argument(
        "--tls-cert",
        type=readable,
        metavar="FILE",
        help="use TLS with this certificate (PEM) and --tls-key",
    )
    up.add_argument("--tls-key", type=readable, metavar="FILE", help="private key of --tls-cert")
    up.add_argument("--no-tls", dest="tls_cert", action="store_const", const="", help="return to plain HTTP")
    _admin_email(up)
    _place(up)
    up.add_argument(
        "--show-password",
        action="store_true",
        help="print the first administrator's password even without a terminal",
    )


def _admin_email(command: argparse.ArgumentParser) -> None:
    command.add_argument("--admin-email", type=email, metavar="E", help="e-mail of the first administrator")


def _place(command: argparse.ArgumentParser) -> None:
    which = command.add_mutually_exclusive_group()
    which.add_argument(
        "--adopt",
        action="store_true",
        help="the installation was moved here: take over its sessions, unless the original still runs",
    )
    which.add_argument(
        "--as-copy",
        action="store_true",
        help="this is a copy of an installation: run next to the original, without its sessions",
    )


def _status(status: argparse.ArgumentParser) -> None:
    _data_dir(status)
    _output(status)


def _serve(serve: argparse.ArgumentParser) -> None:
    serve.add_argument(
        "--roles", type=roles, default=",".join(ROLES), metavar="LIST", help=f"some of {', '.join(ROLES)}"
    )
    _place(serve)


def _migrate(migrate: argparse.ArgumentParser) -> None:
    _admin_email(migrate)
    migrate.add_argument(
        "--admin-password-file",
        type=Path,
        metavar="FILE",
        help="the first administrator's password (default: admin-password in the data directory, created)",
    )
    _place(migrate)


def _backup(backup: argparse.ArgumentParser) -> None:
    backup.add_argument("backup", type=Path, metavar="BACKUP", help="a directory that does not exist yet")
    _data_dir(backup)
    backup.add_argument(
        "--folders",
        choices=("snapshot", "copy", "none"),
        default="snapshot",
        help="read files from snapshots if the storage supports them (default), directly, or not at all",
    )
    backup.add_argument("--without-logs", action="store_true", help="leave out the logs of sessions")
    backup.add_argument(
        "--verify", action="store_true", help="read a backup and compare it with its checksums"
    )
    _output(backup)


def _restore(restore: argparse.ArgumentParser) -> None:
    restore.add_argument(
        "backup", type=Path, metavar="BACKUP", help="a directory that `carrel backup` created"
    )
    _data_dir(restore)
    restore.add_argument("--without-folders", action="store_true", help="leave out the files of folders")
    _output(restore)


def _push_layer(push: argparse.ArgumentParser) -> None:
    push.add_argument(
        "repository", type=repository, metavar="REPOSITORY", help="without a tag: the version is the tag"
    )
    push.add_argument("--username", metavar="NAME", help="of the registry (default: without credentials)")
    push.add_argument(
        "--secret-file",
        default="-",
        metavar="FILE",
        help="password or token; - (default): the first line of the input, asked for at a terminal",
    )
    _data_dir(push)


def _uninstall(uninstall: argparse.ArgumentParser) -> None:
    _data_dir(uninstall)
    uninstall.add_argument(
        "--data", action="store_true", help="remove the data directory too; this cannot be undone"
    )
    uninstall.add_argument("--force", action="store_true", help="uninstall even if sessions exist")
    uninstall.add_argument(
        "--keep-checkout", action="store_true", help="keep .venv, .tools, node_modules and the built page"
    )
    uninstall.add_argument("--yes", action="store_true", help="do not ask for confirmation")


_ARGUMENTS: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "up": _up,
    "down": _data_dir,
    "status": _status,
    "serve": _serve,
    "migrate": _migrate,
    "backup": _backup,
    "restore": _restore,
    "push-layer": _push_layer,
    "uninstall": _uninstall,
}


def port(text: str) -> int:
    """A port whose successor is valid too, for the gateway. Raises: ArgumentTypeError."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; choose one from 1 to {LAST_PORT}")
    return int(text)


def port_range(text: str) -> str:
    """A range FIRST-LAST. Raises: ArgumentTypeError."""
    matched = re.fullmatch(r"(\d{1,5})-(\d{1,5})", text)
    if not matched or not 1 <= int(matched[1]) <= int(matched[2]) < 1 << 16:
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of ports such as 8710-8749")
    return text


def host(text: str) -> str:
    """An address or a host name. Raises: ArgumentTypeError."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        # A host name cannot end in a number: this is a mistyped address.
        if not _HOST_NAME.fullmatch(text) or text.rsplit(".", 1)[-1].isdigit():
            raise argparse.ArgumentTypeError(
                f"{text!r} is not an address to listen on, such as 127.0.0.1 or 0.0.0.0"
            ) from None
    return text


def domain(text: str) -> str:
    """A domain name. Raises: ArgumentTypeError."""
    if not _HOST_NAME.fullmatch(text) or text.rsplit(".", 1)[-1].isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a domain name, such as apps.example.org")
    return text


def email(text: str) -> str:
    """An e-mail address. Raises: ArgumentTypeError."""
    if len(text) > 254 or not _EMAIL.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not an e-mail address, such as admin@example.org")
    return text


def readable(text: str) -> str:
    """The absolute path of a readable file. Raises: ArgumentTypeError."""
    path = Path(text).absolute()
    try:
        path.open("rb").close()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error.strerror}; name a file in PEM") from None
    return str(path)


def repository(text: str) -> str:
    """A repository of images without a tag. Raises: ArgumentTypeError."""
    if not re.fullmatch(r"[a-z0-9.-]+(:\d+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+", text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a repository such as registry.example.org/carrel/app-layer, without a tag"
        )
    return text


def directory(text: str) -> Path:
    """A directory, or a path where one can be created. Raises: ArgumentTypeError."""
    path = Path(text).absolute()
    existing = next(part for part in (path, *path.parents) if part.exists())
    if not text or not existing.is_dir():
        raise argparse.ArgumentTypeError(f"{str(existing) if text else text!r} is not a directory")
    return path


def roles(text: str) -> str:
    """A comma-separated list of roles. Raises: ArgumentTypeError."""
    for role in text.split(","):
        if role not in ROLES:
            raise argparse.ArgumentTypeError(
                f"{role!r} is not a role; there are {', '.join(ROLES)}{_near(role, ROLES)}"
            )
    return text


def _near(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _sentence(message: str) -> str:
    """argparse's "argument --port: '0' is not a port" without its first word."""
    return message[len("argument ") :] if message.startswith("argument ") else message
