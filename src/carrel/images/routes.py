"""GET /images: the catalogue."""

from typing import Annotated

from fastapi import APIRouter, Query

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.images import service
from carrel.images.schemas import ImageList, ImageQuery

router = APIRouter(tags=["images"])


@router.get("/images", operation_id="images.list", summary="List images", openapi_extra=names("image.read"))
async def list_images(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[ImageQuery, Query()]
) -> ImageList:
    """The images of the catalogue from registries that your domain permits. Others can be used by their references."""
    async with services.database.transaction() as tx:
        return await service.page(tx, actor, query)
