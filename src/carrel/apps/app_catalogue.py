"""The catalogue of apps: built in, of the installation, of projects and of people. Each use case starts with an
authorization check.

Nearer entries replace further ones of the same name: a person's, the project's, the installation's, built-in ones. A
person's own entries concern nobody else, administrators included.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from sqlalchemy import (
    Boolean,
    DateTime,
    Select,
    String,
    and_,
    case,
    cast,
    column,
    func,
    literal,
    null,
    or_,
    select,
    union_all,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.apps.app_templates import AppTemplate, template
from carrel.apps.catalogue_schemas import (
    AppDefinition,
    AppTemplateCreate,
    AppTemplateList,
    AppTemplateQuery,
    AppTemplateScope,
    AppTemplateUpdate,
    AppTemplateView,
)
from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, NotFound
from carrel.core.ids import AppTemplateId, ProjectId, UserId, new_id
from carrel.db.scope import permitted
from carrel.db.search import escaped
from carrel.http.paging import Sort, page
from carrel.permissions.decide import Actor, Target, allows, require
from carrel.tables.apps import CatalogueEntry
from carrel.tables.tenancy import Project
from carrel.tenancy import queries as tenancy
from carrel.tenancy.schemas import ProjectRef

MAX_ENTRIES = 100


@cache
def built_in() -> Mapping[str, Mapping[str, Any]]:
    """The definitions that every installation has, by name."""
    entries = tomllib.loads(files("carrel.apps").joinpath("builtin.toml").read_text("utf-8"))["app"]
    return {entry["name"]: AppDefinition(**entry).model_dump(mode="json") for entry in entries}


async def available(tx: AsyncSession, owner: UserId, project: ProjectId) -> dict[str, AppTemplate]:
    """The templates of sessions of this person and project, by name, in the order of their titles."""
    entry = CatalogueEntry
    of_all = and_(entry.user_id.is_(None), entry.project_id.is_(None))
    rows = await tx.execute(
        select(entry).where(or_(entry.user_id == owner, entry.project_id == project, of_all))
    )
    ranked = sorted(rows.scalars(), key=lambda one: (one.user_id is not None, one.project_id is not None))
    chosen: dict[str, Mapping[str, Any] | None] = {**built_in()}
    for one in ranked:
        chosen[one.name] = one.definition if one.enabled else None
    known = [template(definition) for definition in chosen.values() if definition is not None]
    return {one.name: one for one in sorted(known, key=lambda one: one.title.lower())}


async def listed(tx: AsyncSession, actor: Actor, query: AppTemplateQuery) -> AppTemplateList:
    """Built-in entries, the installation's, those of projects that the actor may see, and the actor's own."""
    rows = _everything(actor)
    statement: Select[*tuple[Any, ...]] = select(*rows.c)
    if query.q:
        part = f"%{escaped(query.q)}%"
        statement = statement.where(or_(rows.c.name.ilike(part), rows.c.title.ilike(part)))
    if query.project:
        chosen = await tenancy.project(tx, actor, query.project)
        statement = statement.where(rows.c.project_id == chosen.id)
    if query.scope:
        statement = statement.where(rows.c.scope == query.scope)
    columns = {"name": rows.c.name, "title": rows.c.title}
    shown = await page(tx, statement, Sort(columns, tie=rows.c.id, default="name"), query)
    return AppTemplateList(items=[_view(actor, row) for row in shown.rows], next_cursor=shown.next_cursor)


async def show(tx: AsyncSession, actor: Actor, ref: str) -> AppTemplateView:
    """One entry. Raises: NotFound, Conflict."""
    return _view(actor, await _row(tx, actor, ref))


async def create(tx: AsyncSession, clock: Clock, actor: Actor, request: AppTemplateCreate) -> AppTemplateView:
    """Add an entry. Raises: NotFound, Forbidden, Conflict."""
    owner: dict[str, Any] = {}
    if request.project is not None:
        project = await tenancy.project(tx, actor, request.project)
        owner = {"project_id": project.id, "domain_id": project.domain_id}
    elif not request.installation:
        owner = {"user_id": actor.user_id}
    target = Target(owner.get("user_id"), owner.get("project_id"), owner.get("domain_id"))
    require(actor, "app_template.create", target)
    place = func.coalesce(CatalogueEntry.user_id, CatalogueEntry.project_id, "")
    key = owner.get("user_id") or owner.get("project_id") or ""
    count = (
        await tx.execute(select(func.count()).select_from(CatalogueEntry).where(place == key))
    ).scalar_one()
    if count >= MAX_ENTRIES:
        raise Conflict(
            "app_template.too_many",
            f"The limit is {MAX_ENTRIES} app templates for each person, project and the installation.",
            hint="Remove one first.",
        )
    entry = CatalogueEntry(
        id=AppTemplateId(new_id()),
        name=request.name,
        enabled=request.enabled,
        definition=request.definition(),
        updated_at=clock.now(),
        **owner,
    )
    tx.add(entry)
    try:
        await tx.flush()
    except IntegrityError as error:
        if "uq_app_templates" not in str(error.orig):
            raise
        raise Conflict(
            "app_template.name_taken",
            f"There is already an app template named {request.name} there.",
            hint="Choose another name, or change that one.",
            field="name",
        ) from None
    after = {"definition": entry.definition, "enabled": entry.enabled}
    _note(tx, actor, "app_template.create", entry, {"after": after})
    return await show(tx, actor, entry.id)


async def update(
    tx: AsyncSession, clock: Clock, actor: Actor, ref: str, changes: AppTemplateUpdate
) -> AppTemplateView:
    """Change the given fields. Apps that run are unaffected. Raises: NotFound, Forbidden, Invalid, Conflict."""
    entry = await _entry(tx, actor, ref, "app_template.update")
    before = {"definition": entry.definition, "enabled": entry.enabled}
    entry.definition = changes.applied_to(entry.definition)
    if changes.enabled is not None:
        entry.enabled = changes.enabled
    entry.updated_at = clock.now()
    await tx.flush()
    after = {"definition": entry.definition, "enabled": entry.enabled}
    _note(tx, actor, "app_template.update", entry, {"before": before, "after": after})
    return await show(tx, actor, entry.id)


async def remove(tx: AsyncSession, actor: Actor, ref: str) -> None:
    """Delete an entry. Apps that run are unaffected. Raises: NotFound, Forbidden, Conflict."""
    entry = await _entry(tx, actor, ref, "app_template.remove")
    _note(tx, actor, "app_template.remove", entry, {})
    await tx.delete(entry)
    await tx.flush()


def _everything(actor: Actor) -> Any:
    """Each entry that the actor may see, as a subquery."""
    entry = CatalogueEntry
    seen = permitted(actor, "app_template.read", domain=entry.domain_id, project=entry.project_id)
    rows = (
        select(
            entry.id.label("id"),
            entry.name,
            entry.definition["title"].astext.label("title"),
            case(
                (entry.user_id.is_not(None), literal(AppTemplateScope.PERSON.value)),
                (entry.project_id.is_not(None), literal(AppTemplateScope.PROJECT.value)),
                else_=literal(AppTemplateScope.INSTALLATION.value),
            ).label("scope"),
            entry.enabled,
            entry.definition,
            entry.updated_at,
            entry.user_id,
            entry.project_id,
            entry.domain_id,
            Project.name.label("project"),
        )
        .outerjoin(Project, Project.id == entry.project_id)
        .where(
            or_(
                entry.user_id == actor.user_id,
                and_(entry.user_id.is_(None), entry.project_id.is_(None)),
                and_(entry.project_id.is_not(None), seen),
            )
        )
    )
    given = [{"name": name, "definition": definition} for name, definition in built_in().items()]
    shipped = (
        func.jsonb_to_recordset(cast(given, JSONB))
        .table_valued(column("name", String), column("definition", JSONB), name="shipped")
        .render_derived(with_types=True)
    )
    nothing = cast(null(), String)
    ours = select(
        (literal(f"{AppTemplateScope.BUILTIN}.") + shipped.c.name).label("id"),
        shipped.c.name,
        shipped.c.definition["title"].astext.label("title"),
        literal(AppTemplateScope.BUILTIN.value).label("scope"),
        literal(True, Boolean).label("enabled"),
        shipped.c.definition,
        cast(null(), DateTime(timezone=True)).label("updated_at"),
        nothing.label("user_id"),
        nothing.label("project_id"),
        nothing.label("domain_id"),
        nothing.label("project"),
    )
    return union_all(rows, ours).subquery("catalogue")


async def _row(tx: AsyncSession, actor: Actor, ref: str) -> Any:
    """The entry with this id, or the nearest with this name. Raises: NotFound; Conflict if projects share it."""
    rows = _everything(actor)
    statement = select(*rows.c).where(or_(rows.c.id == ref, rows.c.name == ref))
    matches = (await tx.execute(statement)).all()
    if not matches:
        raise NotFound(
            "app_template.not_found", f"There is no app template {ref}.", hint="See `carrel app-template ls`."
        )
    rank = {scope: number for number, scope in enumerate(AppTemplateScope)}
    best = min(matches, key=lambda one: (one.id != ref, rank[one.scope]))
    rivals = [one.id for one in matches if one.scope == best.scope]
    if best.id != ref and len(rivals) > 1:
        raise Conflict(
            "app_template.ambiguous",
            f"Several projects have an app template {ref}.",
            hint="Use its id.",
            details={"ids": rivals},
        )
    return best


async def _entry(tx: AsyncSession, actor: Actor, ref: str, action: str) -> CatalogueEntry:
    """The row for a change, locked. Raises: NotFound, Forbidden, Conflict."""
    row = await _row(tx, actor, ref)
    require(actor, action, _target(row))
    if row.scope == AppTemplateScope.BUILTIN:
        raise Conflict(
            "app_template.built_in",
            f"{row.title} is built in.",
            hint="Add an app template of the same name, which replaces it, or hides it if it is not enabled.",
        )
    return await tx.get_one(CatalogueEntry, row.id, with_for_update=True)


def _target(row: Any) -> Target:
    return Target(row.user_id, row.project_id, row.domain_id)


def _view(actor: Actor, row: Any) -> AppTemplateView:
    changeable = row.scope != AppTemplateScope.BUILTIN
    return AppTemplateView(
        **row.definition,
        id=row.id,
        scope=row.scope,
        project=ProjectRef(id=row.project_id, name=row.project) if row.project_id else None,
        enabled=row.enabled,
        may_change=changeable and allows(actor, "app_template.update", _target(row)),
        updated_at=row.updated_at,
    )


def _note(
    tx: AsyncSession, actor: Actor, action: str, entry: CatalogueEntry, details: Mapping[str, object]
) -> None:
    target = Target(entry.user_id, entry.project_id, entry.domain_id)
    audit.record(tx, actor, action, entry.id, name=entry.name, target=target, details=details)
