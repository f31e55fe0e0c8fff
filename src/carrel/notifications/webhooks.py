"""Use cases of webhooks. Each starts with an authorization check."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Select, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Invalid, NotFound
from carrel.core.ids import new_id
from carrel.db.encryption import SecretBox
from carrel.db.scope import permitted
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.notifications import deliveries, signature
from carrel.notifications.messages import TEST, Message, MessageContent
from carrel.notifications.schemas import (
    DeliveryDetail,
    DeliveryList,
    DeliveryQuery,
    DeliveryView,
    SecretRotate,
    WebhookCreate,
    WebhookList,
    WebhookView,
)
from carrel.permissions.decide import Actor, Target, require
from carrel.tables.notifications import Delivery, DeliveryState, Webhook
from carrel.tables.tenancy import Domain, Project, User
from carrel.tenancy import queries as tenancy
from carrel.tenancy.schemas import DomainRef, ProjectRef, UserRef

MAX_WEBHOOKS = 20
_SORT = Sort({"created_at": Delivery.created_at}, tie=Delivery.id, default="-created_at")


@dataclass(frozen=True)
class NewWebhook:
    """secret is shown only once."""

    id: str
    secret: str


def _chosen(actor: Actor, action: str) -> Select[*tuple[Any, ...]]:
    def count(state: DeliveryState) -> Any:
        counted = select(func.count()).where(Delivery.webhook_id == Webhook.id, Delivery.state == state)
        return counted.scalar_subquery().label(state)

    place = func.coalesce(Webhook.domain_id, Project.domain_id)
    seen = permitted(actor, action, owner=Webhook.user_id, domain=place, project=Webhook.project_id)
    return (
        select(Webhook, User, Project, Domain, count(DeliveryState.PENDING), count(DeliveryState.FAILED))
        .outerjoin(User, User.id == Webhook.user_id)
        .outerjoin(Project, Project.id == Webhook.project_id)
        .outerjoin(Domain, Domain.id == Webhook.domain_id)
        .where(seen)
    )


async def list_visible(
    tx: AsyncSession, actor: Actor, *, project: str | None, domain: str | None
) -> WebhookList:
    """The webhooks of a project or of a domain that the actor may see; without these the actor's own. By name."""
    chosen = _chosen(actor, "webhook.read")
    if project:
        chosen = chosen.where(Webhook.project_id == (await tenancy.project(tx, actor, project)).id)
    elif domain:
        chosen = chosen.where(Webhook.domain_id == (await tenancy.domain(tx, actor, domain)).id)
    else:
        chosen = chosen.where(Webhook.user_id == actor.user_id)
    rows = await tx.execute(chosen.order_by(func.lower(Webhook.name), Webhook.id))
    return WebhookList(items=[_view(row) for row in rows])


async def show(tx: AsyncSession, actor: Actor, webhook: str) -> WebhookView:
    """Raises: NotFound."""
    return _view(await _find(tx, actor, webhook))


async def create(
    tx: AsyncSession, seal: SecretBox, clock: Clock, actor: Actor, request: WebhookCreate
) -> NewWebhook:
    """Add a webhook. Raises: NotFound, Forbidden, Invalid; Conflict for too many."""
    target, owner = await _owner(tx, actor, request)
    same_owner = [getattr(Webhook, column) == value for column, value in owner.items()]
    count = select(func.count()).select_from(Webhook).where(*same_owner)
    if (await tx.execute(count)).scalar_one() >= MAX_WEBHOOKS:
        raise Conflict(
            "webhook.too_many",
            f"The limit is {MAX_WEBHOOKS} webhooks for each user, project and domain.",
            hint="Remove one first.",
        )
    webhook = new_id()
    secret = request.secret or signature.new_secret()
    tx.add(
        Webhook(
            id=webhook,
            name=request.name,
            url=request.url,
            kinds=_kinds(request.kinds),
            secret=seal.close(secret.encode(), deliveries.purpose(webhook)),
            active=True,
            created_at=clock.now(),
            **owner,
        )
    )
    await tx.flush()
    details = {"after": {"url": request.url, "kinds": _kinds(request.kinds)}}
    audit.record(tx, actor, "webhook.create", webhook, name=request.name, target=target, details=details)
    return NewWebhook(webhook, secret)


async def update(tx: AsyncSession, actor: Actor, webhook: str, changes: Mapping[str, Any]) -> WebhookView:
    """Change the given fields. Raises: NotFound, Forbidden."""
    row = await _find(tx, actor, webhook, "webhook.update")
    changed = dict(changes)
    if "kinds" in changed:
        changed["kinds"] = _kinds(changed["kinds"])
    after = {name: value for name, value in changed.items() if value != getattr(row.Webhook, name)}
    before = {name: getattr(row.Webhook, name) for name in after}
    for name, value in after.items():
        setattr(row.Webhook, name, value)
    if after:
        await tx.flush()
        # Deliveries that waited for it to be switched on are due.
        await deliveries.wake(tx)
        _note(tx, actor, "webhook.update", row, {"before": before, "after": after})
    return _view(row)


async def rotate(
    tx: AsyncSession, seal: SecretBox, clock: Clock, actor: Actor, webhook: str, request: SecretRotate
) -> NewWebhook:
    """Replace the secret. The present one remains valid for the overlap; one before it no longer.

    Raises: NotFound, Forbidden.
    """
    row = await _find(tx, actor, webhook, "webhook.update")
    secret, now = request.secret or signature.new_secret(), clock.now()
    until = now + timedelta(seconds=request.overlap_s) if request.overlap_s else None
    row.Webhook.old_secret, row.Webhook.old_secret_until = row.Webhook.secret if until else None, until
    row.Webhook.secret = seal.close(secret.encode(), deliveries.purpose(row.Webhook.id))
    await tx.flush()
    _note(
        tx,
        actor,
        "webhook.update",
        row,
        {"after": {"old_secret_until": until.isoformat() if until else None}},
    )
    return NewWebhook(row.Webhook.id, secret)


async def remove(tx: AsyncSession, actor: Actor, webhook: str) -> None:
    """Remove a webhook with its deliveries. Raises: NotFound, Forbidden."""
    row = await _find(tx, actor, webhook, "webhook.remove")
    _note(tx, actor, "webhook.remove", row, {})
    await tx.execute(delete(Webhook).where(Webhook.id == row.Webhook.id))


async def test(tx: AsyncSession, clock: Clock, actor: Actor, webhook: str) -> DeliveryView:
    """Queue a test message. Raises: NotFound, Forbidden; Conflict when the webhook is switched off."""
    row = await _find(tx, actor, webhook, "webhook.update")
    _require_active(row.Webhook)
    now = clock.now()
    message = Message(type=TEST, timestamp=now, data=MessageContent())
    queued = await deliveries.put(tx, row.Webhook.id, message, now)
    return DeliveryView(**_facts(queued))


async def list_deliveries(tx: AsyncSession, actor: Actor, webhook: str, query: DeliveryQuery) -> DeliveryList:
    """Deliveries of the last 30 days, newest first. Raises: NotFound."""
    row = await _find(tx, actor, webhook)
    chosen = select(Delivery).where(Delivery.webhook_id == row.Webhook.id)
    if query.state:
        chosen = chosen.where(Delivery.state == query.state)
    page = await paging.page(tx, chosen, _SORT, query)
    items = [DeliveryView(**_facts(one.Delivery)) for one in page.rows]
    return DeliveryList(items=items, next_cursor=page.next_cursor)


async def show_delivery(tx: AsyncSession, actor: Actor, webhook: str, delivery: str) -> DeliveryDetail:
    """Raises: NotFound."""
    row = await _find(tx, actor, webhook)
    known = await _delivery(tx, row.Webhook.id, delivery)
    return DeliveryDetail(**_facts(known), body=known.body)


async def redeliver(
    tx: AsyncSession, clock: Clock, actor: Actor, webhook: str, delivery: str
) -> DeliveryView:
    """Send a delivery again, with the same id and body. While it is pending: at once.

    Raises: NotFound, Forbidden; Conflict when the webhook is switched off.
    """
    row = await _find(tx, actor, webhook, "webhook.update")
    _require_active(row.Webhook)
    known = await _delivery(tx, row.Webhook.id, delivery, lock=True)
    await deliveries.repeat(tx, known, clock.now())
    return DeliveryView(**_facts(known))


def _kinds(kinds: Any) -> list[str]:
    return sorted({str(kind) for kind in kinds})


def _require_active(webhook: Webhook) -> None:
    if not webhook.active:
        raise Conflict("webhook.inactive", f"{webhook.name} is switched off.", hint="Switch it on first.")


async def _owner(tx: AsyncSession, actor: Actor, request: WebhookCreate) -> tuple[Target, dict[str, str]]:
    if request.project and request.domain:
        raise Invalid(
            "webhook.owner",
            "A webhook belongs to a project or to a domain, not to both.",
            hint="Omit one.",
            field="domain",
        )
    if request.project:
        project = await tenancy.project(tx, actor, request.project, "webhook.create")
        return tenancy.project_target(project), {"project_id": project.id}
    if request.domain:
        domain = await tenancy.domain(tx, actor, request.domain, "webhook.create", field="domain")
        return tenancy.domain_target(domain), {"domain_id": domain.id}
    target = Target(owner_id=actor.user_id)
    require(actor, "webhook.create", target)
    return target, {"user_id": actor.user_id}


async def _find(tx: AsyncSession, actor: Actor, webhook: str, action: str = "webhook.read") -> Any:
    statement = _chosen(actor, "webhook.read").where(Webhook.id == webhook)
    if action != "webhook.read":
        statement = statement.with_for_update(of=Webhook)
    row = (await tx.execute(statement)).first()
    if row is None:
        raise NotFound(
            "webhook.not_found", f"There is no webhook {webhook}.", hint="See `carrel webhook ls`."
        )
    require(actor, action, _target(row))
    return row


async def _delivery(tx: AsyncSession, webhook: str, delivery: str, *, lock: bool = False) -> Delivery:
    statement = select(Delivery).where(Delivery.webhook_id == webhook, Delivery.id == delivery)
    row = (await tx.execute(statement.with_for_update() if lock else statement)).scalar()
    if row is None:
        raise NotFound(
            "webhook.no_delivery",
            f"There is no delivery {delivery} of this webhook.",
            hint="Deliveries are kept for 30 days.",
        )
    return row


def _target(row: Any) -> Target:
    if row.Project:
        return tenancy.project_target(row.Project)
    return tenancy.domain_target(row.Domain) if row.Domain else Target(owner_id=row.Webhook.user_id)


def _note(tx: AsyncSession, actor: Actor, action: str, row: Any, details: Mapping[str, object]) -> None:
    webhook = row.Webhook
    audit.record(tx, actor, action, webhook.id, name=webhook.name, target=_target(row), details=details)


def _facts(row: Delivery) -> dict[str, Any]:
    same = ("id", "type", "state", "attempts", "status_code", "error", "created_at", "last_at", "next_at")
    return {"session": row.session_id, **{name: getattr(row, name) for name in same}}


def _view(row: Any) -> WebhookView:
    webhook = row.Webhook
    return WebhookView(
        id=webhook.id,
        name=webhook.name,
        url=webhook.url,
        kinds=webhook.kinds,
        active=webhook.active,
        user=UserRef(id=row.User.id, email=row.User.email) if row.User else None,
        project=ProjectRef(id=row.Project.id, name=row.Project.name) if row.Project else None,
        domain=DomainRef(id=row.Domain.id, name=row.Domain.name) if row.Domain else None,
        created_at=webhook.created_at,
        old_secret_until=webhook.old_secret_until,
        waiting=row.pending,
        failed=row.failed,
    )
