"""Where the containers of a cluster session may be: its placement, and the topology of its resource group."""

from collections.abc import Sequence
from typing import NamedTuple

from carrel.core.errors import Invalid
from carrel.scheduling.snapshot import ClusterMode
from carrel.tables.groups import ResourceGroup
from carrel.tables.session_states import ClusterPlacement

NODE = "node"
"""The narrowest level of every group."""


class Where(NamedTuple):
    """within: the label of which all nodes of the session have one value; "" if none is required."""

    mode: ClusterMode
    within: str


def resolve(group: ResourceGroup, requested: str | None) -> str | None:
    """The level that a request names: in full, or without the domain in front of the label. Raises: Invalid."""
    levels = [NODE, *group.topology]
    short = [level for level in levels if level.rpartition("/")[2] == requested]
    if requested is None or requested in levels:
        return requested
    if len(short) == 1:
        return short[0]
    raise Invalid(
        "session.unknown_topology",
        f"The topology of {group.name} has no level {requested}: it has {', '.join(levels)}.",
        hint="Choose one of these, or another resource group.",
        field="topology",
        details={"levels": levels},
    )


def where(containers: int, placement: ClusterPlacement, required: str | None, levels: Sequence[str]) -> Where:
    """required: as `resolve` gave it. levels: the topology of the group."""
    nowhere_else = required == NODE or (placement == ClusterPlacement.TOGETHER and not (levels or required))
    if containers == 1 or nowhere_else:
        return Where(ClusterMode.SINGLE_NODE, "")
    near = placement == ClusterPlacement.TOGETHER
    return Where(ClusterMode.NARROWEST if near else ClusterMode.MULTI_NODE, required or "")
