"""Allocations summed by node, group or holder, in one statement each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import ColumnElement, Subquery, case, func, or_, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from carrel.db.scope import permitted
from carrel.db.search import escaped
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.permissions.decide import Actor
from carrel.queue.ledger_schemas import By, HeldList, HeldQuery, HeldView
from carrel.tables.groups import ResourceGroup
from carrel.tables.keypairs import Keypair
from carrel.tables.nodes import Allocation, Node
from carrel.tables.sessions import Container, Session
from carrel.tables.tenancy import Domain, Project, User
from carrel.tenancy.queries import is_domain

SIGN_IN = "sign-in:"
"""Prefix of a user id in place of an access key: what the user holds without a keypair."""

Text = ColumnElement[str] | InstrumentedAttribute[str]


@dataclass(frozen=True)
class Holder:
    """A holder and its allocations. sessions: the number of sessions."""

    id: str
    label: str
    slots: Mapping[str, int]
    sessions: int


_KEYS: Mapping[By, tuple[Text, Text]] = {
    By.NODE: (cast("Text", Node.id), Node.name),
    By.GROUP: (cast("Text", ResourceGroup.id), ResourceGroup.name),
    By.USER: (cast("Text", User.id), User.email),
    By.KEYPAIR: (
        func.coalesce(Session.access_key, SIGN_IN + Session.owner_id),
        case(
            (Session.access_key.is_(None), User.email + ", without a keypair"),
            else_=func.concat_ws(", ", User.email, func.nullif(Keypair.name, "")),
        ),
    ),
    By.PROJECT: (cast("Text", Project.id), Domain.name + "/" + Project.name),
    By.DOMAIN: (cast("Text", Domain.id), Domain.name),
}
"""The id and label columns of a holder."""


async def page(tx: AsyncSession, actor: Actor, query: HeldQuery) -> HeldList:
    """Allocations of the sessions that the actor may see."""
    where = [
        permitted(
            actor,
            "session.read",
            owner=Session.owner_id,
            domain=Session.domain_id,
            project=Session.project_id,
        )
    ]
    if query.domain:
        where.append(is_domain(query.domain))
    if query.project:
        where.append(or_(Project.id == query.project, Project.name == query.project))
    sums = _sums(query.by, *where)
    sort = Sort({"label": sums.c.label, "sessions": sums.c.sessions}, tie=sums.c.id, default="label")
    chosen = select(sums)
    if query.q:
        chosen = chosen.where(sums.c.label.ilike(f"%{escaped(query.q)}%"))
    page = await paging.page(tx, chosen, sort, query)
    items = [HeldView.model_validate(row, from_attributes=True) for row in page.rows]
    return HeldList(items=items, next_cursor=page.next_cursor)


async def holders(tx: AsyncSession, by: By, *where: ColumnElement[bool]) -> Sequence[Holder]:
    """All holders. where: conditions on sessions, allocations and their owners and nodes."""
    rows = await tx.execute(select(_sums(by, *where)))
    return [Holder(row.id, row.label, row.slots, row.sessions) for row in rows]


def _sums(by: By, *where: ColumnElement[bool]) -> Subquery:
    id_, label = _KEYS[by]
    entries = (
        select(
            id_.label("id"), label.label("label"), Allocation.slot, Allocation.amount, Allocation.session_id
        )
        .join(Session, Session.id == Allocation.session_id)
        .join(Container, Container.id == Allocation.container_id)
        .join(Node, Node.id == Container.node_id)
        .join(ResourceGroup, ResourceGroup.id == Session.group_id)
        .join(User, User.id == Session.owner_id)
        .join(Project, Project.id == Session.project_id)
        .join(Domain, Domain.id == Session.domain_id)
        .outerjoin(Keypair, Keypair.access_key == Session.access_key)
        .where(Allocation.released_at.is_(None), *where)
        .subquery()
    )
    who = (entries.c.id, entries.c.label)
    # A session holds several slots on several nodes but counts once, hence the rows without a slot.
    amounts = (
        select(
            *who,
            entries.c.slot,
            func.sum(entries.c.amount).label("amount"),
            func.count(entries.c.session_id.distinct()).label("sessions"),
        )
        .group_by(func.grouping_sets(tuple_(*who, entries.c.slot), tuple_(*who)))
        .subquery()
    )
    slots: ColumnElement[Any] = func.json_object_agg(amounts.c.slot, amounts.c.amount).filter(
        amounts.c.slot.is_not(None)
    )
    return (
        select(
            amounts.c.id,
            amounts.c.label,
            slots.label("slots"),
            func.max(amounts.c.sessions).label("sessions"),
        )
        .group_by(amounts.c.id, amounts.c.label)
        .subquery()
    )
