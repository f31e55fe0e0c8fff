"""Commands for dotfiles."""

from __future__ import annotations

import argparse
import os
import sys

from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_line, print_table, write_bytes
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import each
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError
from carrel_client.units import format_size


def ls_arguments(parser: Arguments) -> None:
    parser.watches()
    parser.explain("List your dotfiles: small files that sessions started later have in their home.")
    parser.example("carrel dotfile ls")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List dotfiles."""
    response = context.client.dotfiles.list()
    columns = [Column("PATH"), Column("SIZE"), Column("CHANGED")]
    rows = [
        [one["path"], format_size(one["size_bytes"]), local_time(one["updated_at"])]
        for one in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    parser.add_argument("path", metavar="PATH", help="relative to the home, such as .bashrc")
    parser.example("carrel dotfile show .bashrc")


def show(args: argparse.Namespace, context: Context) -> int:
    """Print a dotfile."""
    file = context.client.dotfiles.show(args.path)
    context.answer(file, lambda: write_bytes(file["content"].encode()))
    return 0


def put_arguments(parser: Arguments) -> None:
    parser.add_argument("path", metavar="PATH", help="relative to the home, such as .bashrc")
    parser.add_argument("file", metavar="FILE", help="the content; - for standard input")
    parser.explain("Create or replace a dotfile: text of at most 64 KiB. Running sessions are unaffected.")
    parser.example(
        "carrel dotfile set .bashrc ~/.bashrc",
        "carrel dotfile set .config/git/config ~/.gitconfig",
    )


def put(args: argparse.Namespace, context: Context) -> int:
    """Create or replace a dotfile."""
    made = context.client.dotfiles.set(args.path, content=_content(args.file))
    context.answer(made, lambda: print_line(f"{made['path']} is stored, {format_size(made['size_bytes'])}"))
    return 0


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help="as carrel dotfile ls shows them")
    yes_argument(parser)
    parser.explain("Delete dotfiles. Sessions that have them keep them.")
    parser.example("carrel dotfile rm .vimrc")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Delete dotfiles; continues after a failure."""
    if not removal_confirmed(args, "dotfile", args.paths):
        return 1

    def one(path: str) -> tuple[object, str]:
        context.client.dotfiles.remove(path)
        return {"path": path, "deleted": True}, f"{path} is deleted"

    return each(context, args.paths, one)


def _content(path: str) -> str:
    if path == "-":
        return sys.stdin.read()
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as wrong:
        raise CarrelError("client.file", f"{path} cannot be read: {wrong}.", status=422) from None
