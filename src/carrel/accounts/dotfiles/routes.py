"""/dotfiles: decode, one service call, encode."""

from typing import Annotated

from fastapi import APIRouter, Path

from carrel.accounts.dotfiles import service
from carrel.accounts.dotfiles.schemas import (
    DotfileContent,
    DotfileDetail,
    DotfileList,
    DotfileView,
    Dotpath,
)
from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf

router = APIRouter(tags=["dotfiles"])
Named = Annotated[Dotpath, Path(description="Path relative to the home, such as .bashrc.")]


@router.get(
    "/dotfiles",
    operation_id="dotfiles.list",
    summary="List dotfiles",
    openapi_extra=names("dotfile.read"),
)
async def list_dotfiles(services: ServicesOf[Services], actor: CurrentActor) -> DotfileList:
    """Your dotfiles by path, without their contents."""
    async with services.database.transaction() as tx:
        own = await service.list_own(tx, actor)
    return DotfileList(items=[DotfileView.model_validate(one, from_attributes=True) for one in own])


@router.get(
    "/dotfiles/{dotfile:path}",
    operation_id="dotfiles.show",
    summary="Get a dotfile",
    openapi_extra=names("dotfile.read"),
)
async def show(services: ServicesOf[Services], actor: CurrentActor, dotfile: Named) -> DotfileDetail:
    """Get one of your dotfiles with its content."""
    async with services.database.transaction() as tx:
        file, content = await service.show(tx, services.seal, actor, dotfile)
    shown = DotfileView.model_validate(file, from_attributes=True)
    return DotfileDetail(**shown.model_dump(), content=content)


@router.put(
    "/dotfiles/{dotfile:path}",
    operation_id="dotfiles.set",
    summary="Create or replace a dotfile",
    openapi_extra=names("dotfile.update"),
)
async def put(
    services: ServicesOf[Services], actor: CurrentActor, dotfile: Named, body: DotfileContent
) -> DotfileDetail:
    """Create or replace a dotfile. Sessions that start later have it in their home."""
    async with services.database.transaction() as tx:
        await service.put(tx, services.clock, services.seal, actor, dotfile, body.content)
        file, content = await service.show(tx, services.seal, actor, dotfile)
    shown = DotfileView.model_validate(file, from_attributes=True)
    return DotfileDetail(**shown.model_dump(), content=content)


@router.delete(
    "/dotfiles/{dotfile:path}",
    operation_id="dotfiles.remove",
    summary="Delete a dotfile",
    openapi_extra=names("dotfile.update"),
    status_code=204,
)
async def remove(services: ServicesOf[Services], actor: CurrentActor, dotfile: Named) -> None:
    """Delete a dotfile. Sessions that have it keep it."""
    async with services.database.transaction() as tx:
        await service.remove(tx, actor, dotfile)
