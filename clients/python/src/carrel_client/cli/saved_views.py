"""Commands for saved views of lists."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_line, print_table
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import each
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models


def ls_arguments(parser: Arguments) -> None:
    parser.watches()
    parser.explain(
        "List your saved views of the session list: filters, orders and columns that you named on the page.\n"
        "carrel session ls --view NAME lists what a view shows."
    )
    parser.example("carrel view ls")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List saved views."""
    response = context.client.views.list()
    rows = [[one["id"], one["name"], filter_text(one)] for one in response["items"]]
    context.answer(response, lambda: print_table([Column("ID"), Column("NAME"), Column("FILTER")], rows))
    return 0


def rename_arguments(parser: Arguments) -> None:
    parser.add_argument("view", metavar="VIEW", help="id or name")
    parser.add_argument("name", metavar="NAME", help="the new name")
    parser.example("carrel view rename 'my jobs' 'all my jobs'")


def rename(args: argparse.Namespace, context: Context) -> int:
    """Rename a saved view."""
    view = context.client.views.update(find(context, args.view)["id"], name=args.name)
    context.answer(view, lambda: print_line(f"{view['name']} ({view['id']})"))
    return 0


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("views", nargs="+", metavar="VIEW", help="ids or names")
    yes_argument(parser)
    parser.explain("Delete saved views. What they show is unaffected.")
    parser.example("carrel view rm 'my jobs'")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Delete saved views; continues after a failure."""
    if not removal_confirmed(args, "saved view", args.views):
        return 1

    def one(ref: str) -> tuple[object, str]:
        view = find(context, ref)
        context.client.views.remove(view["id"])
        return {"id": view["id"], "deleted": True}, f"{view['name']} is deleted"

    return each(context, args.views, one)


def find(context: Context, ref: str) -> models.ViewView:
    """The view with this id or name. Raises: CarrelError."""
    for view in context.client.views.list()["items"]:
        if ref in (view["id"], view["name"]):
            return view
    raise CarrelError("view.not_found", f"You have no view {ref}.", hint="See carrel view ls.", status=404)


def filter_text(view: models.ViewView) -> str:
    """The parameters without the columns: "state=ended q=train"."""
    return " ".join(f"{name}={value}" for name, value in sorted(view["search"].items()) if name != "columns")
