"""Commands for presets."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_line, print_table
from carrel_client.cli.parser import Arguments, reading
from carrel_client.cli.people import each, given
from carrel_client.slots import parse_slot, slots_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models


def ls_arguments(parser: Arguments) -> None:
    parser.add_argument("--group", metavar="GROUP", help="only presets of this resource group")
    parser.watches("preset")
    parser.explain("List presets: named sets of slots. carrel session check shows which fit now.")
    parser.example("carrel preset ls", "carrel preset ls --group gpu -o json | jq '.items[].slots'")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List presets."""
    response = context.client.presets.list(group=args.group)
    columns = [Column(title) for title in ("NAME", "GROUP", "SLOTS", "ID")]
    rows = [[one["name"], _place(one), slots_text(one["slots"]), one["id"]] for one in response["items"]]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def create_arguments(parser: Arguments) -> None:
    parser.add_argument("name", metavar="NAME", help="unique within its group, case-insensitive")
    parser.add_argument("--group", metavar="GROUP", help="limit it to this resource group")
    _slots(parser, required=True)
    parser.example(
        "carrel preset create small --slot cpu=1 --slot mem=2g",
        "carrel preset create half-gpu --group gpu --slot cpu=4 --slot mem=16g --slot cuda.shares=0.5",
    )


def create(args: argparse.Namespace, context: Context) -> int:
    """Create a preset."""
    made = context.client.presets.create(name=args.name, group=args.group, slots=dict(args.slots))
    context.answer(made, lambda: print_line(_sentence(made)))
    return 0


def edit_arguments(parser: Arguments) -> None:
    parser.add_argument("preset", metavar="PRESET", help="id, or name if unique")
    parser.add_argument("--name", help="new name")
    places = parser.add_mutually_exclusive_group()
    places.add_argument("--group", metavar="GROUP", help="limit it to this resource group")
    places.add_argument("--everywhere", action="store_true", help="make it available in all groups")
    _slots(parser, required=False)
    parser.explain("Change a preset. Slots are replaced completely.")
    parser.example(
        "carrel preset edit small --slot cpu=2 --slot mem=4g", "carrel preset edit half-gpu --everywhere"
    )


def edit(args: argparse.Namespace, context: Context) -> int:
    """Change a preset."""
    changes = given(args, "name", "group")
    if args.everywhere:
        changes["group"] = None
    if args.slots:
        changes["slots"] = dict(args.slots)
    changed = context.client.presets.update(args.preset, **changes)
    context.answer(changed, lambda: print_line(_sentence(changed)))
    return 0


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("presets", metavar="PRESET", nargs="+", help="ids, or unique names")
    yes_argument(parser)
    parser.explain("Delete presets. Existing sessions are unaffected.")
    parser.example("carrel preset rm small")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Remove presets."""
    if not removal_confirmed(args, "preset", args.presets):
        return 1

    def remove(ref: str) -> tuple[object, str]:
        context.client.presets.remove(ref)
        return {"preset": ref, "removed": True}, f"{ref} deleted"

    return each(context, args.presets, remove)


def _slots(parser: Arguments, *, required: bool) -> None:
    parser.add_argument(
        "--slot",
        metavar="SLOT=AMOUNT",
        action="append",
        type=reading(parse_slot),
        dest="slots",
        required=required,
        help="cpu=4, mem=16g, cuda.device=1, cuda.shares=0.5; repeatable",
    )


def _place(preset: models.PresetView) -> str:
    return preset["group"]["name"] if preset["group"] else "all"


def _sentence(preset: models.PresetView) -> str:
    where = preset["group"]["name"] if preset["group"] else "all groups"
    return f"{preset['name']}: {slots_text(preset['slots'])}, in {where} ({preset['id']})"
