"""Reading resource policies: one statement for a page, whatever its length."""

from typing import Any

from sqlalchemy import ColumnElement, Row, ScalarSelect, Select, String, func, select, true
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from carrel.core.ids import PolicyId
from carrel.db.scope import permitted
from carrel.db.search import escaped
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.limits.schemas import (
    LIMITS,
    OwnPolicy,
    OwnPolicyList,
    PolicyHolders,
    PolicyList,
    PolicyQuery,
    PolicyView,
)
from carrel.permissions.decide import Actor
from carrel.tables.keypairs import Keypair
from carrel.tables.limits import DEFAULT_POLICIES, PolicyKind, ResourcePolicy
from carrel.tables.tenancy import Membership, Project, User
from carrel.tenancy.schemas import PolicyRef

_SORT = Sort(
    {"name": func.lower(ResourcePolicy.name, type_=String), "created_at": ResourcePolicy.created_at},
    tie=ResourcePolicy.id,
    default="name",
)


async def page(tx: AsyncSession, actor: Actor, query: PolicyQuery) -> PolicyList:
    """Policies with their number of holders, for an actor who may see all of them."""
    chosen = _views(actor)
    if query.kind:
        chosen = chosen.where(ResourcePolicy.kind == query.kind)
    if query.q:
        # There are few policies, so a substring search needs no index.
        chosen = chosen.where(ResourcePolicy.name.ilike(f"%{escaped(query.q)}%"))
    page = await paging.page(tx, chosen, _SORT, query)
    return PolicyList(items=[_view(row) for row in page.rows], next_cursor=page.next_cursor)


async def detail(tx: AsyncSession, actor: Actor, policy: PolicyId) -> PolicyView:
    """One policy that exists."""
    return _view((await tx.execute(_views(actor).where(ResourcePolicy.id == policy))).one())


async def holders(tx: AsyncSession, policy: PolicyId) -> PolicyHolders:
    """Number of holders in the whole installation."""
    row = (await tx.execute(select(*_counts(policy, true(), true())))).one()
    return PolicyHolders.model_validate(row, from_attributes=True)


async def own(tx: AsyncSession, actor: Actor) -> OwnPolicyList:
    """The limits of the actor: as a user, with and without a keypair, and in their projects."""
    me = User.id == actor.user_id
    policies: list[OwnPolicy] = []
    for scope, chosen in (
        ("user", _limiting(User.policy_id, User.id, User.email).where(me)),
        ("sign_in", _limiting(User.keypair_policy_id, User.id, User.email).where(me)),
        (
            "keypair",
            _limiting(Keypair.policy_id, Keypair.access_key, Keypair.name)
            .where(Keypair.user_id == actor.user_id)
            .order_by(Keypair.access_key),
        ),
        (
            "project",
            _limiting(Project.policy_id, Project.id, Project.name)
            .join(Membership, Membership.project_id == Project.id)
            .where(Membership.user_id == actor.user_id)
            .order_by(Project.name),
        ),
    ):
        for row in await tx.execute(chosen):
            policy, id_, label = row
            policies.append(
                OwnPolicy(
                    scope=scope,
                    id=id_,
                    label=label,
                    policy=PolicyRef(id=policy.id, name=policy.name),
                    limits=LIMITS[policy.kind].model_validate(policy.limits),
                )
            )
    return OwnPolicyList(items=policies)


def _limiting(
    policy: InstrumentedAttribute[PolicyId],
    id_: InstrumentedAttribute[Any],
    label: InstrumentedAttribute[str],
) -> Select[ResourcePolicy, Any, str]:
    return select(ResourcePolicy, id_, label).join(ResourcePolicy, ResourcePolicy.id == policy)


def _views(actor: Actor) -> Select[*tuple[Any, ...]]:
    users = permitted(actor, "policy.assign", domain=User.domain_id)
    projects = permitted(actor, "policy.assign", domain=Project.domain_id)
    return select(*ResourcePolicy.__table__.columns, *_counts(ResourcePolicy.id, users, projects))


def _counts(
    policy: PolicyId | InstrumentedAttribute[PolicyId],
    users: ColumnElement[bool],
    projects: ColumnElement[bool],
) -> list[ColumnElement[int]]:
    def count(name: str, chosen: Select[Any]) -> ColumnElement[int]:
        counted: ScalarSelect[int] = chosen.scalar_subquery()
        return counted.label(name)

    keypairs = select(func.count()).select_from(Keypair).join(User, User.id == Keypair.user_id)
    return [
        count("keypairs", keypairs.where(Keypair.policy_id == policy, users)),
        count("sign_ins", select(func.count()).where(User.keypair_policy_id == policy, users)),
        count("users", select(func.count()).where(User.policy_id == policy, users)),
        count("projects", select(func.count()).where(Project.policy_id == policy, projects)),
    ]


def _view(row: Row[Any]) -> PolicyView:
    return PolicyView(
        id=row.id,
        kind=row.kind,
        name=row.name,
        description=row.description,
        limits=LIMITS[PolicyKind(row.kind)].model_validate(row.limits),
        used_by=PolicyHolders.model_validate(row, from_attributes=True),
        default=row.id in DEFAULT_POLICIES.values(),
        created_at=row.created_at,
    )
