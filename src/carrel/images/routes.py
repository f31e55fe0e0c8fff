"""GET /images: the catalogue."""

from fastapi import APIRouter

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.images import service
from carrel.images.schemas import ImageList, ImageView

router = APIRouter(tags=["images"])


@router.get("/images", operation_id="images.list", summary="List images", openapi_extra=names("image.read"))
async def list_images(services: ServicesOf[Services], actor: CurrentActor) -> ImageList:
    """The images from which sessions can be started by name, from registries that your domain permits."""
    async with services.database.transaction() as tx:
        images = await service.usable(tx, actor)
    return ImageList(items=[ImageView.model_validate(image, from_attributes=True) for image in images])
