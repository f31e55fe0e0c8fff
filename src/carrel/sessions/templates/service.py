"""Use cases of templates. Each starts with an authorization check."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from carrel_client import definition
from pydantic import TypeAdapter
from sqlalchemy import Select, and_, case, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Changed, Conflict, Invalid, NotFound
from carrel.core.ids import ProjectId, TemplateId, new_id
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.db.scope import permitted
from carrel.db.search import escaped
from carrel.events import service as events
from carrel.http.paging import Sort, page
from carrel.permissions.decide import Actor, Target, allows, require
from carrel.sessions import environment, repeating, resolution
from carrel.sessions import service as sessions
from carrel.sessions.schemas import OwnerRef
from carrel.sessions.templates import definitions, parameters
from carrel.sessions.templates.parameters import Parameter
from carrel.sessions.templates.schemas import (
    TemplateCreate,
    TemplateDetail,
    TemplateList,
    TemplateOwner,
    TemplateQuery,
    TemplateUpdate,
    TemplateView,
)
from carrel.tables.session_templates import SessionTemplate
from carrel.tables.tenancy import Project, User
from carrel.tenancy.schemas import ProjectRef

_SORT = Sort(
    {
        "name": SessionTemplate.name,
        "created_at": SessionTemplate.created_at,
        "updated_at": SessionTemplate.updated_at,
    },
    tie=SessionTemplate.id,
    default="name",
)
_FIELDS = ("name", "description", "shared")
_PARAMETERS = TypeAdapter(tuple[Parameter, ...])


async def create(
    tx: AsyncSession, clock: Clock, actor: Actor, seal: SecretBox, request: TemplateCreate
) -> TemplateView:
    """Save a template. Raises: Forbidden, NotFound, Invalid; Conflict when the name is taken."""
    if (request.session is None) == (request.from_session is None):
        raise Invalid(
            "template.no_definition",
            "A template has either a definition or a session to take it from.",
            hint="Give one of them.",
            field="session",
        )
    if request.from_session is not None:
        definition = await _of_session(tx, actor, seal, request.from_session)
    else:
        definition = dict(request.session or {})
    project = await _project(tx, actor, definition.pop("project", None))
    parameters.require_sound(request.parameters)
    definitions.require_sound(definition, request.parameters)
    now = clock.now()
    template = SessionTemplate(
        id=TemplateId(new_id()),
        name=request.name,
        description=request.description,
        owner_id=actor.user_id,
        project_id=project,
        domain_id=actor.domain_id,
        shared=request.shared,
        parameters=[asdict(parameter) for parameter in request.parameters],
        definition=_sealed(seal, definition, {}),
        revision=1,
        created_at=now,
        updated_at=now,
    )
    tx.add(template)
    await _flush(tx, request.name)
    after = {field: getattr(template, field) for field in _FIELDS}
    await _recorded(tx, actor, "template.create", "template.created", template, {"after": after})
    return await show(tx, actor, seal, template.id)


def origin_of(template: SessionTemplate) -> dict[str, Any]:
    """What a session records of the template that it is started from."""
    return {"id": template.id, "name": template.name, "revision": template.revision}


async def origin(database: Database, actor: Actor, ref: str, *, revision: int | None) -> dict[str, Any]:
    """The same for a request made from an earlier revision, if given. Raises: NotFound, Forbidden."""
    async with database.transaction() as tx:
        template = await find(tx, actor, ref, "template.start")
    recorded = origin_of(template)
    return {**recorded, "revision": min(revision or template.revision, template.revision)}


async def _of_session(tx: AsyncSession, actor: Actor, seal: SecretBox, ref: str) -> dict[str, Any]:
    """The definition of one of the actor's sessions, without its name."""
    session = await sessions.find(tx, actor, ref, "session.again")
    spec = await repeating.portable_definition(tx, actor, session)
    request = {**spec.to_json(), "project": spec.project}
    for holder in (request, *request.get("roles", ())):
        if "env" in holder:
            holder["env"] = environment.opened(seal, holder["env"])
    return {**definitions.escaped(request), "project": spec.project}


async def _project(tx: AsyncSession, actor: Actor, ref: object) -> ProjectId:
    if ref is not None and not isinstance(ref, str):
        raise Invalid("template.bad_definition", "A project is an id or a name.", field="session.project")
    project = await resolution.project_of(tx, actor, ref)
    require(
        actor,
        "template.create",
        Target(actor.user_id, project, actor.domain_id),
        read="template.create",
        missing=NotFound("project.not_found", f"You are not a member of a project {ref}."),
    )
    return project


def _sealed(seal: SecretBox, definition: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """The definition with encrypted variables. stored: the present one, whose values hidden ones keep."""
    roles = {role["name"]: role for role in stored.get("roles", ())}
    result = _sealed_in(seal, definition, stored)
    if "roles" in definition:
        result["roles"] = [
            _sealed_in(seal, role, roles.get(role["name"], {})) for role in definition["roles"]
        ]
    return result


def _sealed_in(seal: SecretBox, holder: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    if "env" not in holder:
        return dict(holder)
    known = stored.get("env", {})
    kept = {
        name: known[name]
        for name, value in holder["env"].items()
        if value == environment.HIDDEN and name in known
    }
    return {**holder, "env": {**environment.closed(seal, holder["env"]), **kept}}


async def update(
    tx: AsyncSession, clock: Clock, actor: Actor, seal: SecretBox, ref: str, changes: TemplateUpdate
) -> TemplateView:
    """Change the given fields.

    Raises: NotFound, Forbidden, Invalid; Changed if the revision is not the latest; Conflict when the name is taken.
    """
    template = await find(tx, actor, ref, "template.update", lock=True)
    if changes.revision is not None and changes.revision != template.revision:
        raise Changed(
            "template.changed",
            f"{template.name} has changed since revision {changes.revision}; it has revision {template.revision}.",
            hint="Load it again, then repeat your change.",
            field="revision",
            details={"revision": template.revision},
        )
    members = _members(template)
    after = changes.model_dump(exclude_none=True, include={*_FIELDS})
    before = {field: getattr(template, field) for field in after}
    for field, value in after.items():
        setattr(template, field, value)
    if changes.parameters is not None or changes.session is not None:
        await _redefine(tx, actor, seal, template, changes)
        after["content"] = "changed"
    template.revision += 1
    template.updated_at = clock.now()
    await _flush(tx, template.name)
    details = {"before": before, "after": {**after, "revision": template.revision}}
    await _recorded(tx, actor, "template.update", "template.updated", template, details, members=members)
    return await show(tx, actor, seal, template.id)


async def _redefine(
    tx: AsyncSession, actor: Actor, seal: SecretBox, template: SessionTemplate, changes: TemplateUpdate
) -> None:
    declared = parameters_of(template) if changes.parameters is None else changes.parameters
    definition = changes.session
    if definition is None:
        definition = opened(seal, template)
    else:
        definition = dict(definition)
        project = definition.pop("project", None)
        name = (await tx.get_one(Project, template.project_id)).name
        if project is not None and project not in (template.project_id, name):
            template.project_id = await _project(tx, actor, project)
    parameters.require_sound(declared)
    definitions.require_sound(definition, declared)
    template.parameters = [asdict(parameter) for parameter in declared]
    template.definition = _sealed(seal, definition, template.definition)


async def remove(tx: AsyncSession, actor: Actor, ref: str) -> None:
    """Delete a template; sessions are unaffected. Raises: NotFound, Forbidden."""
    template = await find(tx, actor, ref, "template.remove", lock=True)
    await _recorded(tx, actor, "template.remove", "template.removed", template, {})
    await tx.delete(template)
    await tx.flush()


async def find(
    tx: AsyncSession, actor: Actor, ref: str, action: str = "template.read", *, lock: bool = False
) -> SessionTemplate:
    """The template with this id or name: the actor's own, else one that is shared in a project of theirs.

    lock: until the transaction ends. Raises: NotFound, Forbidden; Conflict when several projects share the name.
    """
    table = SessionTemplate
    own = (table.owner_id == actor.user_id) & (table.name == ref)
    shared = table.shared & table.project_id.in_(sorted(actor.projects)) & (table.name == ref)
    statement = select(table).where((table.id == ref) | own | shared)
    matches = (await tx.execute(statement.with_for_update() if lock else statement)).scalars().all()
    missing = NotFound("template.not_found", f"There is no template {ref}.", hint="See `carrel template ls`.")
    visible = [one for one in matches if allows(actor, "template.read", target_of(actor, one))]
    if not visible:
        raise missing
    best = min(visible, key=lambda one: (one.id != ref, one.owner_id != actor.user_id))
    if best.id != ref and best.owner_id != actor.user_id and len(visible) > 1:
        raise Conflict(
            "template.ambiguous",
            f"Several of your projects share a template {ref}.",
            hint="Use its id.",
            details={"ids": [one.id for one in visible]},
        )
    require(actor, action, target_of(actor, best), read="template.read", missing=missing)
    return best


def target_of(actor: Actor, template: SessionTemplate) -> Target:
    """A private template concerns only its owner. A shared one remains with its project when its owner leaves."""
    if not template.shared:
        return Target(template.owner_id)
    left = template.owner_id == actor.user_id and template.project_id not in actor.projects
    return Target(None if left else template.owner_id, template.project_id, template.domain_id)


def parameters_of(template: SessionTemplate) -> tuple[Parameter, ...]:
    return _PARAMETERS.validate_python(template.parameters)


def opened(seal: SecretBox, template: SessionTemplate) -> dict[str, Any]:
    """The definition with its variables decrypted."""
    return _with_env(template.definition, lambda env: environment.opened(seal, env))


def _with_env(definition: Mapping[str, Any], show: Any) -> dict[str, Any]:
    shown = {**definition}
    if "env" in shown:
        shown["env"] = show(shown["env"])
    if "roles" in shown:
        shown["roles"] = [
            {**role, "env": show(role["env"])} if "env" in role else role for role in shown["roles"]
        ]
    return shown


async def show(tx: AsyncSession, actor: Actor, seal: SecretBox, ref: str) -> TemplateDetail:
    """One template. Raises: NotFound, Forbidden, Conflict."""
    template = await find(tx, actor, ref)
    [row] = await tx.execute(_rows().where(SessionTemplate.id == template.id))
    view = _view(actor, seal, row)
    return TemplateDetail(**dict(view), text=definition.text_of(definition.template_session(view.session)))


async def listed(tx: AsyncSession, actor: Actor, seal: SecretBox, query: TemplateQuery) -> TemplateList:
    """Templates that the actor may see."""
    table = SessionTemplate
    here = table.project_id.in_(sorted(actor.projects))
    own = (table.owner_id == actor.user_id) & or_(~table.shared, here)
    shared = permitted(actor, "template.read", domain=table.domain_id, project=table.project_id)
    private = permitted(actor, "template.read", owner=case((or_(~table.shared, here), table.owner_id)))
    statement = _rows().where(or_(private, and_(table.shared, shared)))
    if query.owner == TemplateOwner.ME:
        statement = statement.where(own)
    elif query.owner == TemplateOwner.USABLE:
        statement = statement.where(or_(own, and_(table.shared, here)))
    if query.q:
        part = f"%{escaped(query.q)}%"
        statement = statement.where(or_(table.name.ilike(part), table.description.ilike(part)))
    if query.project:
        statement = statement.where(or_(Project.id == query.project, Project.name == query.project))
    shown = await page(tx, statement, _SORT, query)
    return TemplateList(items=[_view(actor, seal, row) for row in shown.rows], next_cursor=shown.next_cursor)


def _rows() -> Select[*tuple[Any, ...]]:
    return (
        select(SessionTemplate, User.email, Project.name.label("project"))
        .join(User, User.id == SessionTemplate.owner_id)
        .join(Project, Project.id == SessionTemplate.project_id)
    )


def _view(actor: Actor, seal: SecretBox, row: Any) -> TemplateView:
    template, email, project = row
    target = target_of(actor, template)
    may_start = allows(actor, "template.start", target)
    definition = opened(seal, template) if may_start else _with_env(template.definition, environment.hidden)
    return TemplateView(
        id=template.id,
        name=template.name,
        description=template.description,
        owner=OwnerRef(id=template.owner_id, email=email),
        project=ProjectRef(id=template.project_id, name=project),
        shared=template.shared,
        parameters=list(parameters_of(template)),
        session={**definition, "project": project},
        revision=template.revision,
        may_start=may_start,
        may_change=allows(actor, "template.update", target),
        created_at=template.created_at,
        updated_at=template.updated_at,
    )


async def _flush(tx: AsyncSession, name: str) -> None:
    try:
        await tx.flush()
    except IntegrityError as error:
        if "uq_session_templates" not in str(error.orig):
            raise
        own = "owner_id" in str(error.orig)
        raise Conflict(
            "template.name_taken",
            f"{'You already have' if own else 'The project already shares'} a template named {name}.",
            hint="Choose another name.",
            field="name",
        ) from None


def _members(template: SessionTemplate) -> set[str]:
    return {f"project:{template.project_id}"} if template.shared else set()


async def _recorded(
    tx: AsyncSession,
    actor: Actor,
    action: str,
    event: str,
    template: SessionTemplate,
    details: Mapping[str, object],
    *,
    members: set[str] | None = None,
) -> None:
    """Write the audit entry and publish an event. members: who saw it before the change."""
    target = Target(template.owner_id, template.project_id, template.domain_id)
    audit.record(tx, actor, action, template.id, name=template.name, target=target, details=details)
    await events.record(
        tx,
        event,
        template.id,
        target=target if template.shared else Target(template.owner_id),
        data={"id": template.id, "name": template.name, "revision": template.revision},
        audience=_members(template) | (members or set()),
    )
