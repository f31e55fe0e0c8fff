"""`carrel session graph`: the dependencies around a session as a tree."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator

from carrel_client.cli.arrays import array_counts, display_name
from carrel_client.cli.context import Context
from carrel_client.cli.output import print_line, say
from carrel_client.cli.parser import Arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models


def graph_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.explain(
        "Show the sessions that a session starts after, and those that start after it, directly or not, as a tree:\n"
        "each below one that it starts after."
    )
    parser.example("carrel session graph train-3", "carrel session graph train-3 -o json | jq .edges")


def graph(args: argparse.Namespace, context: Context) -> int:
    """Show the dependencies around a session."""
    response = context.client.sessions.graph(args.id)

    def show() -> None:
        for line in tree(response):
            print_line(line)
        if response["truncated"]:
            say("There are more sessions than these.")

    context.answer(response, show)
    return 0


def tree(graph: models.SessionGraph) -> Iterator[str]:
    """The lines. A session that starts after several is below the first, and a reference to it below the others."""
    nodes = {node["id"]: node for node in graph["nodes"]}
    below: defaultdict[str, list[models.GraphEdge]] = defaultdict(list)
    for edge in sorted(graph["edges"], key=lambda one: list(nodes).index(one["session"])):
        below[edge["after"]].append(edge)
    own, shown = graph["nodes"][0], set[str]()
    mark = f"  <- this {'array' if own['array'] else 'session'}"

    def lines(one: str, condition: str, lead: str, indent: str) -> Iterator[str]:
        node = nodes[one]
        state = array_counts(node["array"]) if node["array"] else node["result"] or node["state"]
        needed = f", after {condition}" if condition else ""
        again = " (see above)" if one in shown and below[one] else ""
        yield f"{lead}{display_name(node)}  {state}{needed}{again}{mark if node is own else ''}"
        if one in shown:
            return
        shown.add(one)
        for edge in below[one]:
            last = edge is below[one][-1]
            yield from lines(
                edge["session"],
                _needed(nodes[one], edge),
                f"{indent}{'└─ ' if last else '├─ '}",
                f"{indent}{'   ' if last else '│  '}",
            )

    later = {edge["session"] for edge in graph["edges"]}
    for root in [one for one in nodes if one not in later]:
        yield from lines(root, "", "", "")


def _needed(other: models.GraphNode, edge: models.GraphEdge) -> str:
    """What has to end and how, unless all of it must succeed."""
    array, index = other["array"], edge["index"]
    which = f"{array['name']}-{index}" if array and index is not None else "it"
    return "" if (which, edge["condition"]) == ("it", "succeeded") else f"{which} {edge['condition']}"
