"""/accelerator-checks, and /nodes/{ref}/put-back."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.nodes.accelerator_checks import service
from carrel.nodes.accelerator_checks.schemas import (
    AcceleratorCheckCreate,
    AcceleratorCheckList,
    AcceleratorCheckQuery,
    AcceleratorCheckView,
    PutBack,
    PutBackRequest,
)

router = APIRouter(tags=["nodes"])
Check = Annotated[str, Path(max_length=64, description="The id of a check.")]
Ref = Annotated[str, Path(max_length=253, description="An id or a name.")]


@router.post(
    "/accelerator-checks",
    operation_id="accelerator_checks.create",
    summary="Check the accelerators of a node",
    openapi_extra=names("node.update"),
    status_code=202,
)
async def create(
    services: ServicesOf[Services], actor: CurrentActor, body: AcceleratorCheckCreate
) -> AcceleratorCheckView:
    """Check the accelerators of a node that no session holds, in the background, with containers that look from inside.

    While the check runs, no session gets these accelerators.
    """
    async with services.database.transaction() as tx:
        return await service.request(tx, services.clock, actor, body)


@router.get(
    "/accelerator-checks",
    operation_id="accelerator_checks.list",
    summary="List checks of accelerators",
    openapi_extra=names("node.update"),
)
async def list_checks(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[AcceleratorCheckQuery, Query()]
) -> AcceleratorCheckList:
    """The last 50 checks of each node with their results, the latest first."""
    async with services.database.transaction() as tx:
        return await service.page(tx, actor, query)


@router.get(
    "/accelerator-checks/{check}",
    operation_id="accelerator_checks.show",
    summary="Get a check of accelerators",
    openapi_extra=names("node.update"),
)
async def show(services: ServicesOf[Services], actor: CurrentActor, check: Check) -> AcceleratorCheckView:
    """One check with its progress and results."""
    async with services.database.transaction() as tx:
        return await service.show(tx, actor, check)


@router.delete(
    "/accelerator-checks/{check}",
    operation_id="accelerator_checks.cancel",
    summary="Cancel a check of accelerators",
    openapi_extra=names("node.update"),
)
async def cancel(services: ServicesOf[Services], actor: CurrentActor, check: Check) -> AcceleratorCheckView:
    """Cancel a check: its containers are removed, and its accelerators are free again."""
    async with services.database.transaction() as tx:
        return await service.cancel(tx, actor, check)


@router.post(
    "/nodes/{ref}/put-back",
    operation_id="nodes.put_back",
    summary="Put an accelerator back without a check",
    openapi_extra=names("node.update"),
)
async def put_back(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: PutBackRequest
) -> PutBack:
    """Offer an accelerator again that was out of order and has no problem any more, without a check of it."""
    async with services.database.transaction() as tx:
        return await service.put_back(tx, actor, ref, body.device)
