"""The apps of one session: of its image, its instances and opened ports, and the catalogue's."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.apps import app_catalogue, app_templates
from carrel.apps.app_templates import AppTemplate
from carrel.core.errors import Conflict, NotFound
from carrel.core.ids import SessionId
from carrel.tables.apps import AppGrant, AppInstance
from carrel.tables.sessions import Session

MAX_INSTANCES = 50


class AppSource(StrEnum):
    """PORT: opened by a user, without a command."""

    IMAGE = "image"
    CATALOGUE = "catalogue"
    PORT = "port"


@dataclass(frozen=True)
class AppOfSession:
    """options: as chosen at its last start. kind: the name of the template. stored: it has a row."""

    template: AppTemplate
    source: AppSource
    kind: str | None
    options: Mapping[str, str] = field(default_factory=dict)
    stored: bool = False

    @property
    def name(self) -> str:
        return self.template.name


async def of_session(tx: AsyncSession, session: Session) -> dict[str, AppOfSession]:
    """By name: the image's, then those that were started or opened, oldest first, then the catalogue's."""
    of_image = app_templates.templates(session.apps)
    known = {name: AppOfSession(one, AppSource.IMAGE, name) for name, one in of_image.items()}
    rows = await tx.execute(
        select(AppInstance).where(AppInstance.session_id == session.id).order_by(AppInstance.created_at)
    )
    for row in rows.scalars():
        if row.template is None:
            source = AppSource.PORT
        else:
            source = AppSource.IMAGE if row.template in of_image else AppSource.CATALOGUE
        known[row.name] = AppOfSession(
            app_templates.template(row.definition), source, row.template, row.options, stored=True
        )
    for name, one in (await app_catalogue.available(tx, session.owner_id, session.project_id)).items():
        known.setdefault(name, AppOfSession(one, AppSource.CATALOGUE, name))
    return known


def named(apps: Mapping[str, AppOfSession], name: str) -> AppOfSession:
    """Raises: NotFound."""
    if name not in apps:
        listed = ", ".join(apps) or "none"
        raise NotFound("app.not_found", f"This session has no app {name}.", hint=f"It has: {listed}.")
    return apps[name]


async def reached(tx: AsyncSession, session: Session, name: str) -> AppTemplate | None:
    """The app as the gateway reaches it; None: the session has none of this name, or never started it."""
    row = await tx.get(AppInstance, (session.id, name))
    if row:
        return app_templates.template(row.definition)
    return app_templates.templates(session.apps).get(name)


async def keep(
    tx: AsyncSession, session: Session, app: AppOfSession, options: Mapping[str, str], now: datetime
) -> AppOfSession:
    """Store an app before it starts, with a port of its own in the session and these options."""
    await _lock(tx, session.id)
    apps = await of_session(tx, session)
    source = await _source(tx, session, app)
    port = app.template.port if app.stored else _free_port(source, apps.values())
    kept = replace(source, name=app.name, title=app.template.title, port=port)
    values = {"definition": asdict(kept), "options": kept.checked(options)}
    await tx.execute(
        insert(AppInstance)
        .values(session_id=session.id, name=app.name, template=app.kind, created_at=now, **values)
        .on_conflict_do_update(index_elements=[AppInstance.session_id, AppInstance.name], set_=values)
    )
    return replace(app, template=kept, options=options, stored=True)


async def add(
    tx: AsyncSession, session: Session, kind: str, name: str | None, options: Mapping[str, str], now: datetime
) -> AppOfSession:
    """A further app of this kind. Raises: NotFound, Invalid, Conflict."""
    await _lock(tx, session.id)
    apps = await of_session(tx, session)
    original = named(apps, kind)
    if original.source is AppSource.PORT:
        raise Conflict("app.is_port", f"{original.template.title} is an opened port.", field="template")
    source = await _source(tx, session, original)
    if not source.command:
        raise Conflict("app.no_command", f"{source.title} starts by itself, once.", field="template")
    number, chosen = 1, name or kind
    while name is None and ((chosen in apps and apps[chosen].stored) or (number > 1 and chosen in apps)):
        number += 1
        chosen = f"{kind}-{number}"
    title = source.title if number == 1 else f"{source.title} {number}"
    template = replace(source, name=chosen, title=title if name is None else f"{source.title}: {name}")
    one = AppOfSession(template, original.source, original.kind)
    return await _insert(tx, session, apps, one, options, now)


async def open_port(tx: AsyncSession, session: Session, template: AppTemplate, now: datetime) -> AppOfSession:
    """An app without a command. Raises: Conflict."""
    await _lock(tx, session.id)
    apps = await of_session(tx, session)
    return await _insert(tx, session, apps, AppOfSession(template, AppSource.PORT, None), {}, now)


async def remove(tx: AsyncSession, session: SessionId, name: str) -> None:
    """Forget an instance or an opened port, and whoever may use it. Twice: no-op."""
    await tx.execute(delete(AppInstance).where(AppInstance.session_id == session, AppInstance.name == name))
    await tx.execute(delete(AppGrant).where(AppGrant.session_id == session, AppGrant.app == name))


async def _insert(
    tx: AsyncSession,
    session: Session,
    apps: Mapping[str, AppOfSession],
    app: AppOfSession,
    options: Mapping[str, str],
    now: datetime,
) -> AppOfSession:
    if app.name in apps:
        raise Conflict(
            "app.name_taken",
            f"This session already has an app {app.name}.",
            hint="Choose another name.",
            field="name",
        )
    stored = sum(one.stored for one in apps.values())
    if stored >= MAX_INSTANCES:
        raise Conflict(
            "app.too_many",
            f"The limit is {MAX_INSTANCES} started apps and opened ports for each session.",
            hint="Remove one first.",
        )
    port = app.template.port
    if app.source is not AppSource.PORT:
        port = _free_port(app.template, apps.values())
    kept = replace(app.template, port=port)
    checked = kept.checked(options)
    tx.add(
        AppInstance(
            session_id=session.id,
            name=kept.name,
            template=app.kind,
            definition=asdict(kept),
            options=checked,
            created_at=now,
        )
    )
    await tx.flush()
    return replace(app, template=kept, options=checked, stored=True)


async def _source(tx: AsyncSession, session: Session, app: AppOfSession) -> AppTemplate:
    """The template as it is now: a stored app gets its changes when it starts again."""
    if app.source is AppSource.IMAGE:
        return app_templates.templates(session.apps).get(app.kind or "", app.template)
    available = await app_catalogue.available(tx, session.owner_id, session.project_id)
    return available.get(app.kind or "", app.template)


async def _lock(tx: AsyncSession, session: SessionId) -> None:
    """Names and ports are chosen by one transaction of a session at a time."""
    await tx.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(session, 0))))


def _free_port(template: AppTemplate, apps: Iterable[AppOfSession]) -> int:
    """The template's, or the next one that no app of the session has. Raises: Conflict if its port cannot be chosen."""
    taken = {
        one.template.port
        for one in apps
        if one.template.name != template.name and (one.stored or one.source is AppSource.IMAGE)
    }
    if template.port not in taken:
        return template.port
    fixed = not any("{port}" in text for text in (*template.command, *template.env.values()))
    free = next((port for port in range(template.port + 1, 65536) if port not in taken), None)
    if fixed or free is None:
        raise Conflict(
            "app.port_taken",
            f"{template.title} needs port {template.port}, which another app of this session has.",
            hint="Stop and remove that one first.",
        )
    return free
