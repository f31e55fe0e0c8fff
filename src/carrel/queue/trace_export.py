"""Export for replays: past sessions as a trace, and the current policy."""

from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.device_blocks import blocks_of
from carrel.core.units import Slots
from carrel.db.database import Database
from carrel.limits.scopes import ceilings, scopes_of
from carrel.nodes import ledger
from carrel.queue.policy_file import (
    BlockOfDevices,
    CeilingsOfPolicy,
    DevicesOfNode,
    GroupOfPolicy,
    NodesOfPolicy,
    SchedulerPolicy,
    WeightsOfGroup,
    usual_slots,
)
from carrel.scheduling.snapshot import ClusterMode
from carrel.simulator.installation import ANYBODY
from carrel.simulator.traces import TraceEntry, line
from carrel.tables.groups import FairShareWeight, ResourceGroup, ScopeKind
from carrel.tables.nodes import Node, is_offered
from carrel.tables.tenancy import Domain, Project, User, UserState

_PAGE = 1000

# A restarted session held its slots several times; its duration is the sum.
_PAST = text("""
    WITH page AS (
        SELECT * FROM sessions s
        WHERE s.created_at >= :since AND s.created_at < :until AND (s.created_at, s.id) > (:at, :id)
        ORDER BY s.created_at, s.id LIMIT :limit
    ), held AS (
        SELECT session_id, container_id, slot, min(node_id) AS node_id,
            sum(extract(epoch FROM coalesce(released_at, :now) - created_at)) AS runs_s
        FROM allocations WHERE session_id IN (SELECT id FROM page) GROUP BY 1, 2, 3
    ), ran AS (
        SELECT session_id, max(runs_s) AS runs_s, count(DISTINCT container_id) AS containers,
            count(DISTINCT node_id) AS nodes
        FROM held GROUP BY 1
    )
    SELECT page.id, page.created_at, page.slots, page.domain_id, page.project_id, page.owner_id, page.group_id,
        page.accepted_groups, page.priority, page.time_limit_s, ran.runs_s, ran.containers, ran.nodes
    FROM page LEFT JOIN ran ON ran.session_id = page.id ORDER BY page.created_at, page.id
""")


async def trace(
    database: Database, *, since: datetime, until: datetime, now: datetime
) -> AsyncIterator[bytes]:
    """Sessions created in [since, until) as lines of a trace, in batches.

    Sessions that never held slots are omitted, since their duration is unknown. Running sessions count up to now.
    """
    # In pages, because one long statement would hold back vacuum.
    at, id_ = since, ""
    while True:
        bound = {"since": since, "until": until, "at": at, "id": id_, "now": now, "limit": _PAGE}
        async with database.transaction() as tx:
            rows = (await tx.execute(_PAST, bound)).all()
        yield "".join(f"{line(_arrival(row))}\n" for row in rows if row.containers).encode()
        if len(rows) < _PAGE:
            return
        at, id_ = rows[-1].created_at, rows[-1].id


def _arrival(row: Any) -> TraceEntry:
    return TraceEntry(
        id=row.id,
        at=row.created_at,
        runs=timedelta(seconds=max(float(row.runs_s), 0.0)),
        slots=row.slots,
        path=(row.domain_id, row.project_id, row.owner_id),
        group=row.accepted_groups[0] if row.accepted_groups else row.group_id,
        alternatives=tuple(row.accepted_groups[1:]),
        priority=row.priority,
        count=row.containers,
        mode=ClusterMode.MULTI_NODE if row.nodes > 1 else ClusterMode.SINGLE_NODE,
        limit=timedelta(seconds=row.time_limit_s) if row.time_limit_s else None,
    )


async def policy(tx: AsyncSession) -> SchedulerPolicy:
    """The current configuration of the installation, without names of people."""
    machines = (await tx.execute(select(Node).where(is_offered()).order_by(Node.name))).scalars().all()
    groups = (await tx.execute(select(ResourceGroup).where(ResourceGroup.active))).scalars().all()
    domains = (await tx.execute(select(Domain))).scalars().all()
    projects = (await tx.execute(select(Project))).scalars().all()
    slots = frozenset(slot for one in machines for slot in one.slots)
    required = {one.id: (one.required_capabilities, one.runtime) for one in groups}
    return SchedulerPolicy(
        nodes=[_node(one, *required.get(one.group_id, ((), None))) for one in machines],
        groups=[await _group(tx, one) for one in groups],
        ceilings=CeilingsOfPolicy(
            domains={one.id: one.ceilings for one in domains if one.ceilings},
            projects={one.id: one.ceilings for one in projects if one.ceilings},
            users=await _users(tx, slots),
        ),
        names={**{one.id: one.name for one in domains}, **{one.id: one.name for one in projects}},
    )


def _node(node: Node, required: Collection[str], runtime: str | None) -> NodesOfPolicy:
    sets = Counter(
        (device["family"], device["set"], blocks_of(device.get("blocks", ()))) for device in node.devices
    )
    slots = {device["family"]: device["slots"] for device in node.devices}
    return NodesOfPolicy(
        name=node.name,
        group=node.group_id,
        slots=ledger.offered(node),
        devices=[
            DevicesOfNode(
                family=family,
                count=n,
                set=near,
                blocks=[BlockOfDevices(**asdict(block)) for block in blocks],
                slots=None if slots[family] == usual_slots(family) else slots[family],
            )
            for (family, near, blocks), n in sorted(sets.items())
        ],
        architecture=node.architecture,
        closed=ledger.closed(node, required, runtime),
    )


async def _group(tx: AsyncSession, group: ResourceGroup) -> GroupOfPolicy:
    rows = await tx.execute(select(FairShareWeight).where(FairShareWeight.group_id == group.id))
    weights: dict[str, dict[str, float]] = {kind: {} for kind in ScopeKind}
    for one in rows.scalars():
        weights[one.kind][one.scope_id] = one.weight
    return GroupOfPolicy(
        id=group.id,
        name=group.name,
        scheduler=group.scheduler,
        placement=group.placement,
        slot_priority=group.slot_priority,
        patience_s=group.patience_s,
        half_life_s=group.half_life_s,
        pending_timeout_s=group.pending_timeout_s,
        weights=WeightsOfGroup(
            domains=weights[ScopeKind.DOMAIN],
            projects=weights[ScopeKind.PROJECT],
            users=weights[ScopeKind.USER],
        ),
    )


async def _users(tx: AsyncSession, slots: frozenset[str]) -> Mapping[str, Slots]:
    """The limits of each user: their own policy and that of their keypairs, as if each user had one keypair.

    The most common limits stand under "*".
    """
    rows = await tx.execute(select(User.id, User.domain_id).where(User.state != UserState.PURGED))
    scopes_by_user = {row.id: scopes_of(None, (row.domain_id, "", row.id)) for row in rows}
    by_scope = await ceilings(tx, {scopes: ("", "", id_) for id_, scopes in scopes_by_user.items()}, slots)
    limits = {
        id_: _least(by_scope[scopes[0]].ceiling, by_scope[scopes[1]].ceiling)
        for id_, scopes in scopes_by_user.items()
    }
    usual = Counter(tuple(sorted(each.items())) for each in limits.values()).most_common(1)
    for_all = dict(usual[0][0]) if usual else {}
    return {ANYBODY: for_all, **{id_: each for id_, each in limits.items() if each != for_all}}


def _least(left: Slots, right: Slots) -> dict[str, int]:
    return {
        slot: min(each[slot] for each in (left, right) if slot in each) for slot in left.keys() | right.keys()
    }
