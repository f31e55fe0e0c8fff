"""/imports: decode, one service call, encode."""

from fastapi import APIRouter

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.imports import service
from carrel.imports.schemas import ImportPreview, ImportRequest

router = APIRouter(tags=["imports"])


@router.post(
    "/imports/preview",
    operation_id="imports.preview",
    summary="Preview an import",
    openapi_extra=names("session.create"),
)
async def preview(services: ServicesOf[Services], actor: CurrentActor, body: ImportRequest) -> ImportPreview:
    """What an import would do: the script, and the session to create with `POST /sessions`. Fetches nothing."""
    async with services.database.transaction() as tx:
        return await service.preview(tx, actor, body)
