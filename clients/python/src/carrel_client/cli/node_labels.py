"""Commands for labels of nodes, and for the selectors of groups."""

from __future__ import annotations

import argparse

from carrel_client.cli.context import Context
from carrel_client.cli.nodes import labels_text
from carrel_client.cli.output import Column, counted, print_line, print_table
from carrel_client.cli.parser import Arguments, reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_OUTCOMES = {
    "joins": "joins",
    "stays": "is in it",
    "fixed": "stays: its group was chosen by an administrator",
}


def label_arguments(parser: Arguments) -> None:
    parser.add_argument("node", metavar="NODE", help="its name or id")
    parser.add_argument(
        "labels",
        metavar="KEY=VALUE",
        nargs="+",
        type=reading(_label),
        help="a label to set; KEY- removes one",
    )
    parser.explain(
        "Set or remove labels of a node, beside those of its engine. Node selectors of groups use them."
    )
    parser.example("carrel node label gpu-1 gpu=a100 rack=r1", "carrel node label gpu-1 rack-")


def label(args: argparse.Namespace, context: Context) -> int:
    """Set or remove labels of a node."""
    node = context.client.nodes.update(args.node, own_labels=dict(args.labels))
    text = labels_text(node["labels"]) or "none"
    context.answer(node, lambda: print_line(f"{node['name']} is in {node['group']['name']}; labels: {text}"))
    return 0


def preview_arguments(parser: Arguments) -> None:
    parser.add_argument("selector", metavar="SELECTOR", help="such as 'zone=eu-1,gpu in (a100,h100),!spot'")
    parser.add_argument("--name", default="", help="the group that it is for, existing or new")
    parser.explain("Show the nodes that a node selector selects, and which of them join. Changes nothing.")
    parser.example("carrel group preview 'gpu=a100,!spot' --name a100")


def preview(args: argparse.Namespace, context: Context) -> int:
    """Show the nodes that a node selector selects."""
    response = context.client.groups.preview_selector(selector=args.selector, name=args.name)
    context.answer(response, lambda: _print(response))
    return 0


def _print(response: models.SelectorPreview) -> None:
    columns = [Column(title) for title in ("NODE", "GROUP NOW", "IT", "ALSO SELECTED BY")]
    rows = [
        [
            one["name"],
            one["group"]["name"],
            _OUTCOMES.get(one["outcome"]) or f"goes to {one['others'][0]}, which comes first by name",
            ", ".join(one["others"]),
        ]
        for one in response["items"]
    ]
    print_table(columns, rows)
    print_line(f"{counted(response['count'], 'node')} selected, {response['joining']} would join")


def _label(text: str) -> tuple[str, str | None]:
    key, equals, value = text.partition("=")
    if equals:
        return key, value
    if len(key) > 1 and key.endswith("-"):
        return key[:-1], None
    raise ValueError(f"{text!r} is neither KEY=VALUE nor KEY-, as gpu=a100 or rack-")
