"""/maintenance: what an administrator looks at when something may be wrong."""

import asyncio
import os
import platform
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select, text

from carrel import version
from carrel.audit import service as audit
from carrel.db import revision
from carrel.http.auth import CurrentActor, names
from carrel.http.services import ServicesOf
from carrel.permissions.decide import Target, require
from carrel.server.maintenance import bundle, checks, consistency
from carrel.server.maintenance.checks import CheckOutcome
from carrel.server.maintenance.consistency import DifferenceKind
from carrel.server.maintenance.licences import packages
from carrel.server.services import ApiServices
from carrel.site import service as site
from carrel.tables.engines import EngineRow

router = APIRouter(prefix="/maintenance", tags=["maintenance"])
_ZIP: dict[int | str, dict[str, Any]] = {200: {"content": {"application/zip": {}}}}
_UNSENT = {"database_url", "key_file"}
"""Settings that are not in a bundle."""


class PackageView(BaseModel):
    """part: "server" or "page". licence: an SPDX expression or a name; empty if the package states none."""

    part: str
    name: str
    version: str
    licence: str


class InstallationLimit(BaseModel):
    """setting: the environment variable that changes it; empty if it is fixed."""

    name: str
    value: str
    setting: str


class InformationView(BaseModel):
    """schema: revision of the database. database_bytes: its size."""

    version: str
    licence: str
    schema_revision: str
    python: str
    system: str
    database: str
    database_bytes: int
    data_dir: str
    limits: list[InstallationLimit]
    packages: list[PackageView]


class InstallationCheck(BaseModel):
    """subject: of what the check is, if there are several of the kind. detail: a sentence, or a version."""

    name: str
    subject: str
    state: CheckOutcome
    detail: str
    remedy: str


class InstallationCheckList(BaseModel):
    items: list[InstallationCheck]


class DifferenceView(BaseModel):
    """where: name of the engine or node, if any. subject: the container, slot, device or folder. detail: a sentence."""

    kind: DifferenceKind
    where: str
    subject: str
    detail: str


class EngineComparedView(BaseModel):
    """containers: how many it has; null if it could not be compared. error: why not, a sentence."""

    name: str
    containers: int | None
    error: str


class ConsistencyView(BaseModel):
    """containers: of live sessions, with a node. allocations: slots that they hold, as rows."""

    model_config = ConfigDict(from_attributes=True)

    containers: int
    allocations: int
    engines: list[EngineComparedView]
    differences: Annotated[list[DifferenceView], Field(description="At most 1000 of each kind.")]


@router.get(
    "/information",
    operation_id="maintenance.information",
    summary="Show versions, licences and limits",
    openapi_extra=names("maintenance.read"),
)
async def information(services: ServicesOf[ApiServices], actor: CurrentActor) -> InformationView:
    """Versions, the licence of every package that Carrel contains, and limits of this installation."""
    require(actor, "maintenance.read", Target())
    return await _information(services)


@router.get(
    "/checks",
    operation_id="maintenance.checks",
    summary="Check the installation",
    openapi_extra=names("maintenance.read"),
)
async def run_checks(services: ServicesOf[ApiServices], actor: CurrentActor) -> InstallationCheckList:
    """Run all checks now: components, engines, nodes, storage hosts, mail, clocks, encryption."""
    require(actor, "maintenance.read", Target())
    return await _checks(services)


@router.get(
    "/consistency",
    operation_id="maintenance.consistency",
    summary="Compare the ledger with the engines",
    openapi_extra=names("maintenance.read"),
)
async def compare(services: ServicesOf[ApiServices], actor: CurrentActor) -> ConsistencyView:
    """Compare sessions, allocations and the containers of each engine. Changes nothing.

    Differences to an engine are repaired by themselves, usually within seconds.
    """
    require(actor, "maintenance.read", Target())
    return await _consistency(services)


@router.get(
    "/bundle",
    operation_id="maintenance.bundle",
    summary="Download a support bundle",
    openapi_extra=names("maintenance.bundle"),
    response_class=Response,
    responses=_ZIP,
)
async def download_bundle(services: ServicesOf[ApiServices], actor: CurrentActor) -> Response:
    """A zip file with versions, checks, consistency, settings and the end of each log. Secrets are left out."""
    require(actor, "maintenance.bundle", Target())
    documents = {
        "information": (await _information(services)).model_dump(mode="json"),
        "checks": (await _checks(services)).model_dump(mode="json"),
        "consistency": (await _consistency(services)).model_dump(mode="json"),
        "settings": await _settings(services),
    }
    async with services.database.transaction() as tx:
        audit.record(tx, actor, "maintenance.bundle", "site", name="site", target=Target())
    content = await asyncio.to_thread(bundle.write, documents, services.settings.data_dir / "logs")
    name = f"carrel-support-{services.clock.now():%Y%m%d-%H%M%S}.zip"
    return Response(
        content,
        media_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


async def _information(services: ApiServices) -> InformationView:
    settings = services.settings
    async with services.database.transaction() as tx:
        row = (
            await tx.execute(
                text("SELECT current_setting('server_version'), pg_database_size(current_database())")
            )
        ).one()
    current = await asyncio.to_thread(revision.current, settings.database_url)
    ports = settings.effective_app_ports
    return InformationView(
        version=version.full(),
        licence="Apache-2.0",
        schema_revision=current or "",
        python=platform.python_version(),
        system=f"{_system_name()}, Linux {platform.release()}, {platform.machine()}, {os.cpu_count()} CPUs",
        database=f"PostgreSQL {row[0]}",
        database_bytes=row[1],
        data_dir=str(settings.data_dir),
        limits=[
            InstallationLimit(
                name="connections_per_address",
                value=str(settings.connections_per_address or "unlimited"),
                setting="CARREL_CONNECTIONS_PER_ADDRESS",
            ),
            InstallationLimit(
                name="app_ports",
                value=f"{ports[0]}-{ports[-1]}" if ports else "by host name",
                setting="CARREL_APP_PORTS",
            ),
        ],
        packages=[PackageView.model_validate(one, from_attributes=True) for one in packages()],
    )


def _system_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux"


async def _checks(services: ApiServices) -> InstallationCheckList:
    done = await checks.run(services.settings, services.database, services.engines, services.clock)
    return InstallationCheckList(
        items=[InstallationCheck.model_validate(one, from_attributes=True) for one in done]
    )


async def _consistency(services: ApiServices) -> ConsistencyView:
    report = await consistency.report(services.database, services.engines, services.clock)
    return ConsistencyView.model_validate(report, from_attributes=True)


async def _settings(services: ApiServices) -> dict[str, Any]:
    """Settings of the processes, of the site and of the engines. Sealed ones are not among them."""
    async with services.database.transaction() as tx:
        of_site = await site.settings(tx)
        rows = (await tx.execute(select(EngineRow).order_by(EngineRow.name))).scalars().all()
    return {
        "environment": services.settings.model_dump(mode="json", exclude=_UNSENT),
        "site": of_site.model_dump(mode="json"),
        "engines": [{"name": row.name, "kind": row.kind, "settings": row.settings} for row in rows],
    }
