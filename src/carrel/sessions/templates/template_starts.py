"""Start sessions from templates."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.core.ids import SessionId, new_id
from carrel.core.units import LEAST
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.folders import access
from carrel.permissions.decide import Actor
from carrel.sessions import environment
from carrel.sessions import service as sessions
from carrel.sessions.templates import definitions, parameters, service
from carrel.sessions.templates.parameters import Parameter, ParameterType, invalid_value
from carrel.sessions.templates.schemas import TemplateRequest, TemplateStart
from carrel.tables.session_templates import SessionTemplate
from carrel.tables.tenancy import Project

_SUFFIX = 4
_OVERRIDES = ("name", "project", "group", "alternative_groups", "priority", "time_limit_s", "start_at")


async def preview(
    tx: AsyncSession, actor: Actor, seal: SecretBox, ref: str, request: TemplateStart
) -> TemplateRequest:
    """The request that a start would make. Raises: NotFound, Forbidden, Invalid."""
    template = await service.find(tx, actor, ref, "template.start")
    definition = service.opened(seal, template)
    values = parameters.text_values(service.parameters_of(template), request.parameters)
    merged = _merged(definition, template, request)
    spec = definitions.spec_of(merged, values)
    project = await tx.get_one(Project, template.project_id)
    shown = project.name if spec.project == project.id else spec.project
    shown_request = {**spec.to_json(), "project": shown}
    if "name" not in definition and request.name is None:
        # Another one is generated at the start.
        del shown_request["name"]
    return TemplateRequest(session=shown_request, revision=template.revision)


async def start(
    database: Database,
    clock: Clock,
    actor: Actor,
    seal: SecretBox,
    ref: str,
    request: TemplateStart,
    *,
    idempotency_key: str | None = None,
) -> SessionId:
    """Create a session from the template, with the rights of the actor.

    Twice with the same idempotency key: the first one's id. Raises: NotFound, Forbidden; Invalid for the values of
    parameters; as `sessions.service.enqueue`, with the parameter as the field where the error depends on one.
    """
    async with database.transaction() as tx:
        template = await service.find(tx, actor, ref, "template.start")
        definition = service.opened(seal, template)
        declared = service.parameters_of(template)
        values = parameters.text_values(declared, request.parameters)
        await _require_objects(tx, actor, declared, values)
        merged = _merged(definition, template, request)
        spec = definitions.spec_of(merged, values)
    try:
        return await sessions.enqueue(
            database,
            clock,
            actor,
            environment.closed_spec(seal, spec),
            idempotency_key=idempotency_key,
            template=service.origin_of(template),
            repeated=not _chooses_groups(merged, request),
        )
    except CarrelError as error:
        error.field = definitions.blamed(merged, error.field)
        raise


def _merged(
    definition: Mapping[str, Any], template: SessionTemplate, request: TemplateStart
) -> dict[str, Any]:
    """The definition with the overrides of a start."""
    given = {name: value for name in _OVERRIDES if (value := getattr(request, name)) is not None}
    if request.group is not None:
        given.setdefault("alternative_groups", ())
    literal = definitions.escaped(given)
    slots = {**definition["slots"], **request.slots}
    literal["slots"] = {slot: amount for slot, amount in slots.items() if amount or slot in LEAST}
    name = f"{template.name}-{new_id()[:_SUFFIX]}"
    return {"name": name, "project": template.project_id, **definition, **literal}


def _chooses_groups(merged: Mapping[str, Any], request: TemplateStart) -> bool:
    """True if the start gives a resource group, also as the value of a parameter."""
    given = request.group is not None or request.alternative_groups is not None
    return given or any(definitions.names_behind(merged, one) for one in ("group", "alternative_groups"))


async def _require_objects(
    tx: AsyncSession, actor: Actor, declared: tuple[Parameter, ...], values: Mapping[str, str]
) -> None:
    """Check that the actor can use the folders. Raises: Invalid."""
    for parameter in declared:
        if parameter.type == ParameterType.FOLDER:
            try:
                await access.find(tx, actor, values[parameter.name], "vfolder.use")
            except CarrelError as wrong:
                raise invalid_value(parameter.name, wrong.message, hint=wrong.hint) from None
