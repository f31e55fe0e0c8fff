"""/audit: list, export and verification."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from carrel.audit import export, queries, service
from carrel.audit.chain import ChainLink
from carrel.audit.proof import Check
from carrel.audit.schemas import (
    AuditActor,
    AuditCheck,
    AuditEntryView,
    AuditExportQuery,
    AuditFault,
    AuditLink,
    AuditList,
    AuditObject,
    AuditQuery,
    AuditVerifyQuery,
)
from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.tables.audit import AuditEntry

router = APIRouter(tags=["audit"])
_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {kind: {"schema": {"type": "string"}} for kind in ("text/csv", "application/x-ndjson")},
        "description": "The file",
    }
}


@router.get(
    "/audit", operation_id="audit.list", summary="List audit entries", openapi_extra=names("audit.read")
)
async def list_entries(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[AuditQuery, Query()]
) -> AuditList:
    """Entries, newest first: your actions and actions on your objects; administrators see their whole scope."""
    async with services.database.transaction() as tx:
        page = await queries.page(tx, actor, query, limit=query.limit, cursor=query.cursor)
    return AuditList(items=[_view(entry) for entry in page.entries], next_cursor=page.next_cursor)


@router.get(
    "/audit/export",
    operation_id="audit.export",
    summary="Export audit entries",
    openapi_extra=names("audit.export"),
    response_class=StreamingResponse,
    responses=_FILE,
)
async def export_entries(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[AuditExportQuery, Query()]
) -> StreamingResponse:
    """All matching entries as a file: CSV for spreadsheets, or JSON lines that `carrel audit verify` can check."""
    parameters = query.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    async with services.database.transaction() as tx:
        service.record(tx, actor, "audit.export", "", details={**parameters, "format": query.format})
    write = export.as_csv if query.format == "csv" else export.as_json_lines
    name = f"audit-{services.clock.now():%Y-%m-%d}.{query.format}"
    return StreamingResponse(
        write(queries.everything(services.database, actor, query)),
        media_type="text/csv; charset=utf-8" if query.format == "csv" else "application/x-ndjson",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@router.get(
    "/audit/verify",
    operation_id="audit.verify",
    summary="Verify the audit chain",
    openapi_extra=names("audit.verify"),
)
async def verify(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[AuditVerifyQuery, Query()]
) -> AuditCheck:
    """Check a part of the chain for altered, missing or moved entries, and report their exact positions."""
    async with services.database.transaction() as tx:
        check = await service.verify(tx, actor, after=query.after, expected=_noted(query.expect))
    return _check(check)


def _noted(text: str | None) -> ChainLink | None:
    if text is None:
        return None
    position, hash_ = text.split(":")
    return ChainLink(int(position), bytes.fromhex(hash_))


def _check(check: Check) -> AuditCheck:
    return AuditCheck(
        checked=check.checked,
        reached=check.reached,
        done=check.done,
        head=_link(check.head),
        start=_link(check.start),
        cut_at=check.cut_at,
        waiting=check.waiting,
        faults=[AuditFault.model_validate(fault, from_attributes=True) for fault in check.faults],
    )


def _link(link: ChainLink) -> AuditLink:
    return AuditLink(position=link.position, hash=link.hash.hex())


def _view(entry: AuditEntry) -> AuditEntryView:
    return AuditEntryView(
        id=entry.id,
        at=entry.at,
        actor=AuditActor(id=entry.actor_id, email=entry.actor_email),
        action=entry.action,
        object=AuditObject(kind=entry.object_kind, id=entry.object_id, name=entry.object_name),
        owner_id=entry.owner_id,
        project_id=entry.project_id,
        domain_id=entry.domain_id,
        outcome=entry.outcome,
        reason=entry.reason,
        credential=entry.credential,
        address=entry.address,
        request_id=entry.request_id,
        details=entry.details,
        position=entry.position,
        hash=entry.hash.hex() if entry.hash else None,
    )
