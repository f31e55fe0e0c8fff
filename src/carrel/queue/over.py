"""Holders over a current or proposed limit. A limit never ends sessions; a holder over it just gets nothing more."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Literal

from sqlalchemy import and_, or_, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import PolicyId
from carrel.folders import quotas
from carrel.limits import service as limits
from carrel.limits.schemas import LimitsChange
from carrel.limits.scopes import ceiling_of
from carrel.permissions.decide import Actor
from carrel.queue import held
from carrel.queue.held import SIGN_IN, Holder
from carrel.queue.ledger_schemas import By, OverView
from carrel.scheduling.snapshot import SESSIONS
from carrel.tables.keypairs import Keypair
from carrel.tables.limits import PolicyKind
from carrel.tables.policies import FolderPolicy, keypair_policy, project_policy, user_policy
from carrel.tables.sessions import Session
from carrel.tables.tenancy import Domain, Project, User
from carrel.tenancy import queries as tenancy

Scope = Literal["keypair", "user", "project", "domain"]


async def of_policy(tx: AsyncSession, actor: Actor, ref: str, change: LimitsChange) -> list[OverView]:
    """Holders of the policy that would exceed it after this change.

    Limits on single sessions are not checked, because they apply to new requests only.
    Raises: as `limits.service.update`.
    """
    policy = await limits.find(tx, actor, ref, "policy.update")
    proposed = limits.changed(policy, change)
    if policy.kind == PolicyKind.PROJECT:
        return await _folders(tx, policy.id, "project", project_policy(proposed))
    if policy.kind == PolicyKind.USER:
        person = user_policy(proposed)
        holders = await held.holders(tx, By.USER, User.policy_id == policy.id)
        over = [
            over
            for one in holders
            for over in _over("user", one, ceiling_of(person.slots, person.sessions, one.slots))
        ]
        return [*over, *await _folders(tx, policy.id, "user", person)]
    of_keypairs = keypair_policy(proposed)
    holding = partial(ceiling_of, of_keypairs.slots, of_keypairs.sessions)
    waiting = partial(ceiling_of, of_keypairs.pending_slots, of_keypairs.pending_sessions)
    without_keypair = and_(Session.access_key.is_(None), User.keypair_policy_id == policy.id)
    holders = await held.holders(tx, By.KEYPAIR, or_(Keypair.policy_id == policy.id, without_keypair))
    return [
        *[over for one in holders for over in _over("keypair", one, holding(one.slots))],
        *[
            over
            for one in await _waiting(tx, policy.id)
            for over in _over("keypair", one, waiting(one.slots), pending=True)
        ],
    ]


async def of_domain(tx: AsyncSession, actor: Actor, ref: str, ceilings: Mapping[str, int]) -> list[OverView]:
    """Slots in which the domain would exceed these ceilings. Raises: NotFound, Forbidden."""
    domain = await tenancy.domain(tx, actor, ref, "domain.update")
    holders = await held.holders(tx, By.DOMAIN, Domain.id == domain.id)
    return [over for one in holders for over in _over("domain", one, ceilings)]


async def of_project(tx: AsyncSession, actor: Actor, ref: str, ceilings: Mapping[str, int]) -> list[OverView]:
    """Slots in which the project would exceed these ceilings. Raises: NotFound, Forbidden, Conflict."""
    project = await tenancy.project(tx, actor, ref, "project.update")
    holders = await held.holders(tx, By.PROJECT, Project.id == project.id)
    return [over for one in holders for over in _over("project", one, ceilings)]


def _over(
    scope: Scope, holder: Holder, ceiling: Mapping[str, int], *, pending: bool = False
) -> Iterator[OverView]:
    used = {**holder.slots, SESSIONS: holder.sessions}
    sign_in = holder.id.startswith(SIGN_IN)
    for slot, amount in sorted(used.items()):
        if amount > ceiling.get(slot, amount):
            yield OverView(
                scope="sign_in" if sign_in else scope,
                id=holder.id.removeprefix(SIGN_IN),
                label=holder.label,
                waiting=pending,
                slot=slot,
                ceiling=ceiling[slot],
                used=amount,
            )


async def _folders(
    tx: AsyncSession, policy: PolicyId, kind: Literal["user", "project"], limits: FolderPolicy
) -> list[OverView]:
    return [
        OverView(
            scope=kind,
            id=one.id,
            label=one.label,
            waiting=False,
            slot=limit,
            ceiling=ceiling,
            used=used,
        )
        for one in await quotas.holdings(tx, policy, kind)
        for limit, ceiling, used in (
            ("folders", limits.folders, one.usage.folders),
            ("folder_bytes", limits.folder_bytes, one.usage.bytes),
        )
        if ceiling is not None and used > ceiling
    ]


# Pending amounts by keypair, or by owner without one; the row with slot NULL counts the sessions.
_WAITING = text("""
    SELECT coalesce(s.access_key, :sign_in || s.owner_id) AS id, min(u.email) AS label, each.slot,
        sum(CAST(each.amount AS bigint)) AS amount, count(DISTINCT s.id) AS sessions
    FROM sessions s JOIN users u ON u.id = s.owner_id LEFT JOIN keypairs k ON k.access_key = s.access_key
        JOIN containers c ON c.session_id = s.id CROSS JOIN LATERAL jsonb_each_text(c.slots) AS each(slot, amount)
    WHERE s.state = 'PENDING'
        AND (k.policy_id = :policy OR (s.access_key IS NULL AND u.keypair_policy_id = :policy))
    GROUP BY GROUPING SETS ((1, 3), (1))
""")


async def _waiting(tx: AsyncSession, policy: PolicyId) -> list[Holder]:
    labels: dict[str, str] = {}
    counts: dict[str, int] = {}
    sums: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for row in await tx.execute(_WAITING, {"sign_in": SIGN_IN, "policy": policy}):
        if row.slot is None:
            labels[row.id], counts[row.id] = row.label, row.sessions
        else:
            sums[row.id][row.slot] = int(row.amount)
    return [Holder(id_, labels[id_], sums[id_], count) for id_, count in counts.items()]
