"""Builds of environments: decode, one service call, encode."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request

from carrel.builds import context_sources, contexts, service
from carrel.builds.schemas import (
    BuildContextView,
    BuildLogView,
    BuildRecipe,
    EnvironmentBuild,
    EnvironmentRebuild,
    FolderContext,
    GitContext,
)
from carrel.builds.services import BuildServices
from carrel.environments.routes import Ref, Version
from carrel.environments.schemas import EnvironmentView
from carrel.http.auth import CurrentActor, names
from carrel.http.body import Body
from carrel.http.query import DECIMAL
from carrel.http.services import Services, ServicesOf

router = APIRouter(tags=["environments"])
_TAR = {"requestBody": {"content": {"application/x-tar": {"schema": {"type": "string", "format": "binary"}}}}}


@router.post(
    "/environments/contexts",
    operation_id="environments.send_context",
    summary="Send the files of a build",
    openapi_extra=names("environment.build") | _TAR,
    status_code=201,
)
async def send_context(
    request: Request, services: ServicesOf[Services], actor: CurrentActor
) -> BuildContextView:
    """A tar file, which may be compressed: at most 32 MiB in 5,000 files. It is deleted a day after its last use."""
    body = Body(request)
    if (body.announced or 0) > contexts.LARGEST_BYTES:
        raise contexts.too_large()
    body.let_grow()
    sent = bytearray()
    async for piece in body.pieces():
        sent += piece
        if len(sent) > contexts.LARGEST_BYTES:
            raise contexts.too_large()
    packed = await asyncio.to_thread(contexts.pack, bytes(sent))
    async with services.database.transaction() as tx:
        return await service.keep_context(tx, services.clock, actor, packed)


@router.post(
    "/environments/contexts/git",
    operation_id="environments.fetch_context",
    summary="Fetch the files of a build from Git",
    openapi_extra=names("environment.build"),
    status_code=201,
)
async def fetch_context(
    services: ServicesOf[BuildServices], actor: CurrentActor, body: GitContext
) -> BuildContextView:
    """The server fetches one commit, which takes at most two minutes. The limits are those of files that are sent."""
    return await context_sources.of_repository(services, actor, body)


@router.post(
    "/environments/contexts/folder",
    operation_id="environments.read_context",
    summary="Read the files of a build from a folder",
    openapi_extra=names("environment.build"),
    status_code=201,
)
async def read_context(
    services: ServicesOf[BuildServices], actor: CurrentActor, body: FolderContext
) -> BuildContextView:
    """A directory as it is now, without what its .dockerignore names. The limits are those of files that are sent."""
    return await context_sources.of_folder(services, actor, body)


@router.post(
    "/environments/builds",
    operation_id="environments.build",
    summary="Build an environment",
    openapi_extra=names("environment.build"),
    status_code=202,
)
async def build(
    services: ServicesOf[BuildServices], actor: CurrentActor, body: EnvironmentBuild
) -> EnvironmentView:
    """Build a version from a Dockerfile, requirements.txt, pyproject.toml, environment.yml, devcontainer.json, or a
    directory by the conventions of repo2docker. The first of its versions is the new one; its state tells how far it
    is.
    """
    async with services.database.transaction() as tx:
        return await service.build(tx, services.clock, actor, body, micromamba=services.micromamba)


@router.post(
    "/environments/{ref}/versions/{version}/rebuild",
    operation_id="environments.rebuild",
    summary="Build a version again",
    openapi_extra=names("environment.build"),
    status_code=202,
)
async def rebuild(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, version: Version, body: EnvironmentRebuild
) -> EnvironmentView:
    """Build another version from the same recipe and files, with the packages and images of now."""
    async with services.database.transaction() as tx:
        return await service.rebuild(tx, services.clock, actor, ref, version, body)


@router.get(
    "/environments/{ref}/versions/{version}/recipe",
    operation_id="environments.recipe",
    summary="Get the recipe of a version",
    openapi_extra=names("environment.read"),
)
async def recipe(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, version: Version
) -> BuildRecipe:
    """The files that made it, and the Dockerfile that follows from them."""
    async with services.database.transaction() as tx:
        return await service.recipe(tx, actor, ref, version)


@router.get(
    "/environments/{ref}/versions/{version}/log",
    operation_id="environments.log",
    summary="Get the log of a build",
    openapi_extra=names("environment.read"),
)
async def log(
    services: ServicesOf[Services],
    actor: CurrentActor,
    ref: Ref,
    version: Version,
    after: Annotated[
        int, Query(ge=0, le=1 << 30, description="`next` of the part before; 0: all"), DECIMAL
    ] = 0,
) -> BuildLogView:
    """While it is built, ask again for what follows; `complete` tells when that is all."""
    async with services.database.transaction() as tx:
        return await service.log(tx, actor, ref, version, after)
