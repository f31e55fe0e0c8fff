"""/notifications and /webhooks."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.notifications import choices, webhooks
from carrel.notifications.schemas import (
    DeliveryDetail,
    DeliveryList,
    DeliveryQuery,
    DeliveryView,
    NotificationChoices,
    NotificationUpdate,
    SecretRotate,
    WebhookCreate,
    WebhookCreated,
    WebhookList,
    WebhookUpdate,
    WebhookView,
)
from carrel.tables.notifications import NotificationKind

router = APIRouter(tags=["notifications"])
WebhookId = Annotated[str, Path(max_length=64, description="An id.")]
DeliveryId = Annotated[str, Path(max_length=64, description="An id, as in the header webhook-id.")]


@router.get(
    "/notifications",
    operation_id="notifications.show",
    summary="Show which notifications reach you",
    openapi_extra=names("notification.read"),
)
async def show(services: ServicesOf[Services], actor: CurrentActor) -> NotificationChoices:
    """The channels of each kind of notification of your sessions."""
    async with services.database.transaction() as tx:
        chosen = await choices.show(tx, actor)
    return NotificationChoices.model_validate(chosen)


@router.patch(
    "/notifications",
    operation_id="notifications.update",
    summary="Choose which notifications reach you",
    openapi_extra=names("notification.update"),
)
async def update(
    services: ServicesOf[Services], actor: CurrentActor, body: NotificationUpdate
) -> NotificationChoices:
    """Replace the channels of the given kinds."""
    given = {NotificationKind(kind): channels for kind, channels in body if kind in body.model_fields_set}
    async with services.database.transaction() as tx:
        chosen = await choices.update(tx, actor, given)
    return NotificationChoices.model_validate(chosen)


@router.get(
    "/webhooks", operation_id="webhooks.list", summary="List webhooks", openapi_extra=names("webhook.read")
)
async def list_webhooks(
    services: ServicesOf[Services],
    actor: CurrentActor,
    project: Annotated[str | None, Query(max_length=64, description="id or name of a project")] = None,
    domain: Annotated[str | None, Query(max_length=64, description="id or name of a domain")] = None,
) -> WebhookList:
    """Your own webhooks, or those of a project or domain that you administer."""
    async with services.database.transaction() as tx:
        return await webhooks.list_visible(tx, actor, project=project, domain=domain)


@router.post(
    "/webhooks",
    operation_id="webhooks.create",
    summary="Add a webhook",
    openapi_extra=names("webhook.create"),
    status_code=201,
)
async def create(services: ServicesOf[Services], actor: CurrentActor, body: WebhookCreate) -> WebhookCreated:
    """Add a webhook for your sessions, or for all of a project or domain. The secret is returned only once."""
    async with services.database.transaction() as tx:
        made = await webhooks.create(tx, services.seal, services.clock, actor, body)
        view = await webhooks.show(tx, actor, made.id)
    return WebhookCreated(**view.model_dump(), secret=made.secret)


@router.get(
    "/webhooks/{webhook}",
    operation_id="webhooks.show",
    summary="Get a webhook",
    openapi_extra=names("webhook.read"),
)
async def show_webhook(
    services: ServicesOf[Services], actor: CurrentActor, webhook: WebhookId
) -> WebhookView:
    """One webhook, without its secret."""
    async with services.database.transaction() as tx:
        return await webhooks.show(tx, actor, webhook)


@router.patch(
    "/webhooks/{webhook}",
    operation_id="webhooks.update",
    summary="Change a webhook",
    openapi_extra=names("webhook.update"),
)
async def update_webhook(
    services: ServicesOf[Services], actor: CurrentActor, webhook: WebhookId, body: WebhookUpdate
) -> WebhookView:
    """Change the given fields. What a webhook that is switched off would have delivered is not delivered later."""
    async with services.database.transaction() as tx:
        return await webhooks.update(tx, actor, webhook, body.model_dump(exclude_unset=True))


@router.post(
    "/webhooks/{webhook}/rotate",
    operation_id="webhooks.rotate",
    summary="Replace the secret of a webhook",
    openapi_extra=names("webhook.update"),
)
async def rotate(
    services: ServicesOf[Services], actor: CurrentActor, webhook: WebhookId, body: SecretRotate
) -> WebhookCreated:
    """Replace the secret. During the overlap, deliveries have two signatures: by the new secret and by the one before.
    The new one is returned only once.
    """
    async with services.database.transaction() as tx:
        made = await webhooks.rotate(tx, services.seal, services.clock, actor, webhook, body)
        view = await webhooks.show(tx, actor, made.id)
    return WebhookCreated(**view.model_dump(), secret=made.secret)


@router.delete(
    "/webhooks/{webhook}",
    operation_id="webhooks.remove",
    summary="Remove a webhook",
    openapi_extra=names("webhook.remove"),
    status_code=204,
)
async def remove(services: ServicesOf[Services], actor: CurrentActor, webhook: WebhookId) -> None:
    """Remove a webhook with its deliveries."""
    async with services.database.transaction() as tx:
        await webhooks.remove(tx, actor, webhook)


@router.post(
    "/webhooks/{webhook}/test",
    operation_id="webhooks.test",
    summary="Send a test to a webhook",
    openapi_extra=names("webhook.update"),
    status_code=202,
)
async def test(services: ServicesOf[Services], actor: CurrentActor, webhook: WebhookId) -> DeliveryView:
    """Queue a message of type webhook.test; its delivery shows the result."""
    async with services.database.transaction() as tx:
        return await webhooks.test(tx, services.clock, actor, webhook)


@router.get(
    "/webhooks/{webhook}/deliveries",
    operation_id="webhooks.deliveries",
    summary="List deliveries of a webhook",
    openapi_extra=names("webhook.read"),
)
async def list_deliveries(
    services: ServicesOf[Services],
    actor: CurrentActor,
    webhook: WebhookId,
    query: Annotated[DeliveryQuery, Query()],
) -> DeliveryList:
    """Deliveries of the last 30 days, newest first."""
    async with services.database.transaction() as tx:
        return await webhooks.list_deliveries(tx, actor, webhook, query)


@router.get(
    "/webhooks/{webhook}/deliveries/{delivery}",
    operation_id="webhooks.delivery",
    summary="Get a delivery of a webhook",
    openapi_extra=names("webhook.read"),
)
async def show_delivery(
    services: ServicesOf[Services], actor: CurrentActor, webhook: WebhookId, delivery: DeliveryId
) -> DeliveryDetail:
    """One delivery with its body."""
    async with services.database.transaction() as tx:
        return await webhooks.show_delivery(tx, actor, webhook, delivery)


@router.post(
    "/webhooks/{webhook}/deliveries/{delivery}/redeliver",
    operation_id="webhooks.redeliver",
    summary="Send a delivery again",
    openapi_extra=names("webhook.update"),
    status_code=202,
)
async def redeliver(
    services: ServicesOf[Services], actor: CurrentActor, webhook: WebhookId, delivery: DeliveryId
) -> DeliveryView:
    """Send a delivery again, with the same id and body."""
    async with services.database.transaction() as tx:
        return await webhooks.redeliver(tx, services.clock, actor, webhook, delivery)
