"""Where the containers of a cluster session may be: its placement, and the topologies of its groups."""

from collections.abc import Sequence
from typing import NamedTuple

from carrel.core.errors import Invalid
from carrel.scheduling.requirements import level_of
from carrel.scheduling.snapshot import ClusterMode
from carrel.tables.groups import ResourceGroup
from carrel.tables.session_states import ClusterPlacement

NODE = "node"
"""The narrowest level of every group."""


class Where(NamedTuple):
    """mode, within: as of `PendingSession`, whatever its group."""

    mode: ClusterMode
    within: str


def having(groups: Sequence[ResourceGroup], requested: str | None) -> Sequence[ResourceGroup]:
    """Those of the groups that have the level that a request names. Raises: Invalid, if none has it."""
    if requested is None:
        return groups
    if having := [group for group in groups if level_of(requested, [NODE, *group.topology])]:
        return having
    levels = [NODE, *groups[0].topology]
    raise Invalid(
        "session.unknown_topology",
        f"The topology of {groups[0].name} has no level {requested}: it has {', '.join(levels)}.",
        hint="Choose one of these, or another resource group.",
        field="topology",
        details={"levels": levels},
    )


def resolve(groups: Sequence[ResourceGroup], requested: str | None) -> str | None:
    """The label of the level that a request names; as requested, if groups have different ones."""
    if requested is None:
        return None
    labels = {level for group in groups if (level := level_of(requested, [NODE, *group.topology]))}
    return labels.pop() if len(labels) == 1 else requested


def where(containers: int, placement: ClusterPlacement, required: str | None) -> Where:
    """required: the level."""
    if containers == 1 or required == NODE:
        return Where(ClusterMode.SINGLE_NODE, "")
    near = placement == ClusterPlacement.TOGETHER
    return Where(ClusterMode.NARROWEST if near else ClusterMode.MULTI_NODE, required or "")
