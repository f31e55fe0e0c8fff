"""Shared code of commands for domains, projects and users."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from functools import partial

from carrel_client.cli.context import Context
from carrel_client.cli.output import print_line, report
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.errors import CarrelError
from carrel_client.slots import parse_slot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PAGE = 200


def list_arguments(parser: Arguments, *sorts: str) -> None:
    """Add --search, --sort and --limit."""
    parser.add_argument("--search", metavar="TEXT", help="part of the name")
    parser.add_argument("--sort", metavar="FIELD", help=f"{', '.join(sorts)}; prefix - for descending order")
    parser.add_argument("--limit", type=reading(whole_number), default=100, help="maximum number; 0 for all")


def listed(args: argparse.Namespace, page: Callable[..., Any]) -> dict[str, Any]:
    """The pages up to the limit as one list. page: takes sort, q, limit and cursor."""
    limit = args.limit or sys.maxsize
    items: list[Any] = []
    cursor = None
    while True:
        size = min(_PAGE, limit - len(items))
        response = page(sort=args.sort, q=args.search, limit=size, cursor=cursor)
        items += response["items"]
        cursor = response["next_cursor"]
        if not cursor or len(items) >= limit:
            return {"items": items, "next_cursor": cursor}


def each(context: Context, refs: Iterable[str], act: Callable[[str], tuple[object, str]]) -> int:
    """Apply to each, continuing after failures. Returns the worst exit code.

    act: returns the response for JSON and the sentence for people.
    """
    from carrel_client.cli.main import exit_code

    worst = 0
    for ref in refs:
        try:
            answer, sentence = act(ref)
        except CarrelError as error:
            report(error)
            worst = max(worst, exit_code(error))
            continue
        context.answer(answer, partial(print_line, sentence))
    return worst


def ceiling_argument(parser: Arguments) -> None:
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--ceiling",
        metavar="SLOT=AMOUNT",
        action="append",
        type=reading(parse_slot),
        dest="ceilings",
        help="most that its sessions may hold in total, as cpu=64 or mem=512g; repeatable",
    )
    either.add_argument("--no-ceilings", action="store_true", help="remove all ceilings")


def ceilings(args: argparse.Namespace) -> dict[str, Any]:
    """The field for the request, if one is given."""
    if args.no_ceilings:
        return {"ceilings": {}}
    return {"ceilings": dict(args.ceilings)} if args.ceilings else {}


def sessions_argument(parser: Arguments) -> None:
    parser.add_argument("--sessions", choices=("keep", "end"), help="what to do with live sessions")


def given(args: argparse.Namespace, *fields: str) -> dict[str, Any]:
    """The given arguments as request fields."""
    return {field: getattr(args, field) for field in fields if getattr(args, field) is not None}
