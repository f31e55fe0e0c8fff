"""/keypairs."""

from fastapi import APIRouter, Request

from carrel.http.auth import CurrentActor, names
from carrel.keypairs import service
from carrel.keypairs.schemas import KeypairCreated, KeypairList, KeypairView

router = APIRouter(tags=["keypairs"])


@router.get("/keypairs", operation_id="keypairs.list", openapi_extra=names("keypair.read"))
async def list_keypairs(request: Request, actor: CurrentActor) -> KeypairList:
    """Your keypairs, newest first; secrets are never shown again."""
    async with request.app.state.database.transaction() as tx:
        keypairs = await service.list_of(tx, actor)
    return KeypairList(items=[KeypairView.model_validate(k, from_attributes=True) for k in keypairs])


@router.post(
    "/keypairs", operation_id="keypairs.create", openapi_extra=names("keypair.create"), status_code=201
)
async def create_keypair(request: Request, actor: CurrentActor) -> KeypairCreated:
    """Make a keypair. The secret is in this answer and nowhere else."""
    async with request.app.state.database.transaction() as tx:
        made = await service.create(tx, request.app.state.clock, actor)
    return KeypairCreated.model_validate(made, from_attributes=True)


@router.delete(
    "/keypairs/{access_key}",
    operation_id="keypairs.remove",
    openapi_extra=names("keypair.remove"),
    status_code=204,
)
async def remove_keypair(request: Request, actor: CurrentActor, access_key: str) -> None:
    """Remove a keypair of yours; what still uses it is refused from now on."""
    async with request.app.state.database.transaction() as tx:
        await service.remove(tx, actor, access_key)
    request.app.state.authenticator.forget()
