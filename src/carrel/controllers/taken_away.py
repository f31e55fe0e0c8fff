"""Containers that an engine takes from their nodes, and nodes that are about to be taken away. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from carrel.core.ids import NodeId
from carrel.nodes.service import EngineNode
from carrel.tables.groups import NodeLoss
from carrel.tables.notifications import NODE_LEAVING
from carrel.tables.session_states import ContainerRole, OnFailure, SessionKind
from carrel.tables.sessions import Container, Session

Nodes = Mapping[NodeId, EngineNode]
MAX_RESTARTS = 5
TOO_OFTEN = f" It has been started again {MAX_RESTARTS} times already."
_ELSEWHERE = " It is requeued and restarts on another node, without the files outside mounted folders."


@dataclass(frozen=True)
class Evicted:
    """A session that must leave its node. reason: a sentence."""

    session: Session
    rule: NodeLoss
    reason: str


def evicted(
    session: Session,
    own: Sequence[Container],
    taken: Sequence[Container],
    nodes: Nodes,
    why: str = "",
    *,
    certain: bool,
    again: bool = True,
) -> Evicted | None:
    """What follows if these containers were taken; None if they were not, or if the session goes on without them.

    why: the engine's words. certain: the engine says so. Otherwise they are missing, and were taken if the engine had
    closed their nodes: a drain may end while nobody looks. again: it was not started again too often.
    """
    places = [nodes[one.node_id] for one in taken if one.node_id and one.node_id in nodes]
    if not places or not (certain or all(place.closed for place in places)):
        return None
    if session.on_failure == OnFailure.CONTINUE and all(one.role != ContainerRole.MAIN for one in taken):
        return None
    if session.kind == SessionKind.BATCH:
        ends = not session.retries_left
    else:
        ends = any(place.on_loss is NodeLoss.END for place in places)
    subject = "Its container was" if len(own) == 1 else "Containers of it were"
    names = {place.name + (f" ({place.closed})" if place.closed else "") for place in places}
    reason = why or f"{subject} evicted from {', '.join(sorted(names))}."
    if ends:
        return Evicted(session, NodeLoss.END, reason)
    if not again and session.kind != SessionKind.BATCH:
        return Evicted(session, NodeLoss.END, reason + TOO_OFTEN)
    return Evicted(session, NodeLoss.RESCHEDULE, reason + _ELSEWHERE)


def cannot_restart(
    session: Session, own: Sequence[Container], waiting: Sequence[Container], nodes: Nodes
) -> Evicted | None:
    """What follows for a session whose containers start again, these not yet, if the engine has closed their nodes, and
    the session may run elsewhere. Where it may not, the node may be opened in time.
    """
    left = evicted(session, own, waiting, nodes, certain=False)
    return left if left and left.rule is NodeLoss.RESCHEDULE else None


def warning(session: Session, here: Sequence[Container], nodes: Nodes, ending: Collection[str]) -> str:
    """A sentence for a session whose node is about to be taken away; empty if it is not, or if it was warned."""
    if NODE_LEAVING in session.warnings:
        return ""
    for place in (nodes[one.node_id] for one in here if one.node_id and one.node_id in nodes):
        if place.name in ending:
            return f"Its node {place.name} is {place.closed}. Files outside mounted folders are lost with it."
    return ""


def is_over(session: Session, own: Sequence[Container], nodes: Nodes, ending: Collection[str]) -> bool:
    """True if the session was warned, and all its nodes, which are of this engine, stay."""
    return NODE_LEAVING in session.warnings and all(
        one.node_id in nodes and nodes[one.node_id].name not in ending for one in own if one.node_id
    )
