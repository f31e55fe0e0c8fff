"""Commands for allocations and for checks of new limits."""

from __future__ import annotations

import argparse

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_line, print_table
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import ceiling_argument, ceilings, list_arguments, listed
from carrel_client.slots import format_amount, slots_text
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_BY = ("node", "group", "user", "keypair", "project", "domain")


def held_arguments(parser: Arguments) -> None:
    parser.add_argument("--by", choices=_BY, required=True, help="what to group by")
    parser.add_argument("--domain", metavar="DOMAIN", help="only sessions of this domain")
    parser.add_argument("--project", metavar="PROJECT", help="only sessions of this project")
    list_arguments(parser, "label", "sessions")
    parser.explain("Show the current allocations of the sessions that you may see, as sums.")
    parser.example(
        "carrel held --by project", "carrel held --by user --sort=-sessions", "carrel held --by node -o json"
    )


def held(args: argparse.Namespace, context: Context) -> int:
    """Show allocations."""

    def page(**filters: Any) -> models.HeldList:
        return context.client.held.list(by=args.by, domain=args.domain, project=args.project, **filters)

    response = listed(args, page)
    columns = [Column(title) for title in (args.by.upper(), "HOLDS", "SESSIONS", "ID")]
    rows = [
        [one["label"], slots_text(one["slots"]), str(one["sessions"]), one["id"]] for one in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def domain_over_arguments(parser: Arguments) -> None:
    parser.add_argument("domain", metavar="DOMAIN", help="its name or id")
    _ceilings(parser, "domain")
    parser.example("carrel domain over physics --ceiling cpu=128 --ceiling mem=1t")


def domain_over(args: argparse.Namespace, context: Context) -> int:
    """Check new ceilings of a domain."""
    return print_over(context, context.client.domains.over(args.domain, **{"ceilings": {}, **ceilings(args)}))


def project_over_arguments(parser: Arguments) -> None:
    parser.add_argument("project", metavar="PROJECT", help="its id or name")
    _ceilings(parser, "project")
    parser.example("carrel project over vision --ceiling cpu=32")


def project_over(args: argparse.Namespace, context: Context) -> int:
    """Check new ceilings of a project."""
    return print_over(
        context, context.client.projects.over(args.project, **{"ceilings": {}, **ceilings(args)})
    )


def print_over(context: Context, response: models.OverList) -> int:
    """Print holders over a limit; exit code 1 if there are any."""

    def show() -> None:
        if not response["items"]:
            print_line("nobody would exceed the limits")
            return
        columns = [Column(title) for title in ("OVER", "WHO", "SLOT", "AT MOST", "NOW")]
        print_table(columns, [_row(one) for one in response["items"]])

    context.answer(response, show)
    return 1 if response["items"] else 0


def _row(one: models.OverView) -> list[str]:
    slot = one["slot"]
    who = f"{one['label']} ({one['id']})" if one["scope"] == "keypair" else one["label"]
    return [
        one["scope"].replace("_", "-"),
        who,
        f"{slot}, waiting" if one["waiting"] else slot,
        _amount(slot, one["ceiling"]),
        _amount(slot, one["used"]),
    ]


def _amount(slot: str, amount: int) -> str:
    return format_size(amount) if slot == "folder_bytes" else format_amount(slot, amount)


def _ceilings(parser: Arguments, what: str) -> None:
    ceiling_argument(parser)
    parser.explain(
        f"Check the usage of a {what} against new ceilings. Changes nothing. Exit code 1 "
        f"if a ceiling would be exceeded."
    )
