"""/images: the catalogue."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.images import image_settings, service
from carrel.images.schemas import (
    ImageDetail,
    ImageFamilyList,
    ImageFamilyQuery,
    ImageList,
    ImageQuery,
    ImageUpdate,
)

router = APIRouter(tags=["images"])
Named = Annotated[str, Path(max_length=512, description="An id, name, reference, alias or family.")]


@router.get("/images", operation_id="images.list", summary="List images", openapi_extra=names("image.read"))
async def list_images(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[ImageQuery, Query()]
) -> ImageList:
    """The images of the catalogue that you may use, without hidden ones; for superadmins all. Others can be used by
    their references.
    """
    async with services.database.transaction() as tx:
        return await service.page(tx, actor, query)


@router.get(
    "/image-families",
    operation_id="images.families",
    summary="List families of images",
    openapi_extra=names("image.read"),
)
async def families(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[ImageFamilyQuery, Query()]
) -> ImageFamilyList:
    """The families of the images that you may use, each with the version that its name means."""
    async with services.database.transaction() as tx:
        return await service.families(tx, actor, query)


@router.get(
    "/images/{ref:path}",
    operation_id="images.show",
    summary="Get an image",
    openapi_extra=names("image.read"),
)
async def show(services: ServicesOf[Services], actor: CurrentActor, ref: Named) -> ImageDetail:
    """One image of the catalogue, with its labels; for superadmins also its settings."""
    async with services.database.transaction() as tx:
        return await image_settings.show(tx, actor, ref)


@router.patch(
    "/images/{ref:path}",
    operation_id="images.update",
    summary="Change the settings of an image",
    openapi_extra=names("image.update"),
)
async def update(
    services: ServicesOf[Services], actor: CurrentActor, ref: Named, body: ImageUpdate
) -> ImageDetail:
    """Change the given settings. Scans keep them, also when a tag is gone for a while."""
    async with services.database.transaction() as tx:
        return await image_settings.change(tx, actor, ref, body)
