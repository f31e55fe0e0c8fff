"""/image-updates: decide about new digests of watched images."""

from fastapi import APIRouter

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.images import image_settings
from carrel.images.image_updates import service
from carrel.images.image_updates.schemas import ImageUpdateCheck, ImageUpdateCheckView, ImageUpdateChoice
from carrel.images.schemas import ImageDetail

router = APIRouter(tags=["images"])


@router.post(
    "/image-updates/take",
    operation_id="image_updates.take",
    summary="Take an update of an image",
    openapi_extra=names("image.update"),
)
async def take(services: ServicesOf[Services], actor: CurrentActor, body: ImageUpdateChoice) -> ImageDetail:
    """Sessions start from the new digest, and nodes pull it, soon. Running sessions keep what they have."""
    async with services.database.transaction() as tx:
        await service.take(tx, actor, await image_settings.to_change(tx, actor, body.image), body.digest)
        return await image_settings.show(tx, actor, body.image)


@router.post(
    "/image-updates/skip",
    operation_id="image_updates.skip",
    summary="Skip an update of an image",
    openapi_extra=names("image.update"),
)
async def skip(services: ServicesOf[Services], actor: CurrentActor, body: ImageUpdateChoice) -> ImageDetail:
    """Do not offer this digest again. Of a tag that changes once more, the next one is offered."""
    async with services.database.transaction() as tx:
        await service.skip(tx, actor, await image_settings.to_change(tx, actor, body.image), body.digest)
        return await image_settings.show(tx, actor, body.image)


@router.post(
    "/image-updates/check",
    operation_id="image_updates.check",
    summary="Check watched images for updates",
    openapi_extra=names("image.update"),
)
async def check(
    services: ServicesOf[Services], actor: CurrentActor, body: ImageUpdateCheck
) -> ImageUpdateCheckView:
    """Ask the registry for the digest of the tag soon, whatever the daily hours; without an image, of all watched tags.
    What is new is offered.
    """
    async with services.database.transaction() as tx:
        image = await image_settings.to_change(tx, actor, body.image) if body.image else None
        return ImageUpdateCheckView(images=await service.request_check(tx, actor, image))
