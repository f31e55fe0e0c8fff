"""`carrel import`: notebooks, repositories and archives by their address."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from carrel_client.cli.asking import answered
from carrel_client.cli.context import Context
from carrel_client.cli.output import print_facts, print_line, printable
from carrel_client.cli.parser import Arguments, reading
from carrel_client.cli.people import given
from carrel_client.cli.session_life import print_started, start_arguments
from carrel_client.cli.session_request import group_argument, group_fields
from carrel_client.errors import CarrelError
from carrel_client.slots import parse_slot
from carrel_client.units import parse_cpu, parse_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

WARNINGS: dict[models.ImportWarning, str] = {
    "guessed": "Nothing in the address tells that it is a Git repository; see --kind.",
    "plain_http": "The connection is not encrypted: others may read and change what is fetched.",
    "query_kept": "The script contains the parameters of the address. If they are secret, use --token-file.",
    "ref_unused": "This source has no branches, tags or commits: --ref is ignored.",
    "path_unused": "This source is one file: --path is ignored.",
    "install_unused": "Requirements are installed only for a source with several files, into a session.",
    "key_needed": "An SSH address opens with a key only; see --key-file.",
}


def fetch_arguments(parser: Arguments) -> None:
    parser.add_argument("url", metavar="URL", help="its address, as the browser shows it")
    parser.add_argument("--folder", metavar="FOLDER", help="fetch into this folder, by a batch session")
    parser.add_argument("--ref", metavar="REF", help="branch, tag or commit (default: the default branch)")
    parser.add_argument("--path", metavar="PATH", help="the file or directory within it to open or fetch")
    parser.add_argument(
        "--kind",
        choices=("notebook", "git", "archive", "model", "dataset", "space"),
        help="what it is (default: recognized by the address)",
    )
    parser.add_argument("--install", action="store_true", help="install the requirements that it lists")
    secret = parser.add_mutually_exclusive_group()
    secret.add_argument(
        "--token-file",
        metavar="FILE",
        help="an access token, or USER:PASSWORD, for a private source; - is standard input",
    )
    secret.add_argument(
        "--key-file", metavar="FILE", help="a private SSH key without passphrase, such as a deploy key"
    )
    parser.add_argument("--image", help="name or reference (default: suggested)")
    parser.add_argument("--name", help="name of the session (default: generated)")
    parser.add_argument("--project", help="id or name (default: yours)")
    group_argument(parser, "resource group; repeatable, in order of preference")
    parser.add_argument("--cpu", type=reading(parse_cpu), help="cores: 2, 0.5 or 500m (default 1)")
    parser.add_argument("--mem", type=reading(parse_size), help="memory: 512m, 4g (default 1g)")
    parser.add_argument(
        "--slot",
        metavar="SLOT=AMOUNT",
        action="append",
        type=reading(parse_slot),
        default=[],
        dest="slots",
        help="an accelerator, such as cuda.device=1; repeatable",
    )
    parser.add_argument("--start", action="store_true", help="start it without asking")
    start_arguments(parser)
    parser.explain(
        "Fetch a notebook, a Git repository, an archive, or a repository of Hugging Face into a session or a\n"
        "folder. Shows the script that the session runs, and asks; without a terminal, it starts only with --start."
    )
    parser.example(
        "carrel import https://github.com/octocat/Hello-World",
        "carrel import https://github.com/octocat/Hello-World --install --start --wait",
        "carrel import https://huggingface.co/datasets/rajpurkar/squad --folder data --start",
    )


def fetch(args: argparse.Namespace, context: Context) -> int:
    """Show, or start, the import of an address."""
    fields: dict[str, Any] = given(args, "folder", "ref", "path", "kind", "image")
    credentials: models.ImportCredentials = "token" if args.token_file else "key" if args.key_file else "none"
    shown = context.client.imports.preview(
        url=args.url, install=args.install, credentials=credentials, **fields
    )
    request = _request(args, shown)
    if not args.start:
        context.answer({**shown, "session": request}, lambda: _print(shown))
        if context.structured or not _agrees(shown["host"]):
            return 0
    if shown["variable"]:
        request["env"] = {shown["variable"]: secret_of(args.token_file or args.key_file)}
    return print_started(args, context, context.client.sessions.create(**request))


def _agrees(host: str) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    answer = answered(f"Start a session that fetches this from {printable(host)}? [y/N] ")
    return answer.lower() in ("y", "yes")


def _request(args: argparse.Namespace, shown: models.ImportPreview) -> dict[str, Any]:
    """The session of the preview, with the options."""
    request = dict(shown["session"])
    slots = {**request["slots"], **dict(args.slots), **given(args, "cpu", "mem")}
    return {**request, **given(args, "name", "project"), **group_fields(args.groups), "slots": slots}


def secret_of(file: str) -> str:
    """The content of a file with a token or key; - is standard input. Raises: CarrelError."""
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CarrelError("client.bad_file", f"{file} cannot be read: {error}.", status=422) from None
    return text.strip()


def _print(shown: models.ImportPreview) -> None:
    print_facts(
        [
            ("kind", shown["kind"]),
            ("host", shown["host"]),
            ("source", " ".join(filter(None, (shown["url"], shown["repository"])))),
            *([("ref", shown["ref"])] if shown["ref"] else []),
            *([("path", shown["path"])] if shown["path"] else []),
            ("into", shown["target"]),
            ("image", shown["image"]),
            *([("opens", shown["opens"])] if shown["opens"] else []),
            *(("warning", WARNINGS.get(word, word)) for word in shown["warnings"]),
        ]
    )
    print_line("")
    print_line("The session runs this script:")
    print_line("")
    for line in shown["script"].splitlines():
        print_line(line)
