"""Queries of storage hosts: a fixed number of statements per page, independent of its length."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Row,
    Select,
    cast,
    column,
    exists,
    func,
    or_,
    select,
    table,
    text,
    true,
)
from sqlalchemy.ext.asyncio import AsyncSession

from carrel import plugins
from carrel.core.errors import Unavailable
from carrel.core.ids import EngineId, ProjectId, StorageHostId
from carrel.db.scope import permitted
from carrel.db.search import escaped
from carrel.folders.hosts.schemas import (
    Level,
    StorageHostAccessView,
    StorageHostKind,
    StorageHostList,
    StorageHostLocationView,
    StorageHostQuery,
    StorageHostView,
)
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.limits.scopes import policy_of
from carrel.nodes.engines.schemas import EngineRef
from carrel.permissions.decide import Actor
from carrel.permissions.roles import sees_everything
from carrel.plugins import Port
from carrel.storage.port import Clone, HardQuota
from carrel.tables.engines import EngineRow
from carrel.tables.storage_hosts import HostScopeKind, StorageHost, StorageHostAccess, StorageHostLocation
from carrel.tables.tenancy import Domain, Project
from carrel.tenancy.schemas import DomainRef, ProjectRef

_SORT = Sort(
    {"name": StorageHost.name, "created_at": StorageHost.created_at}, tie=StorageHost.id, default="name"
)
_CAUTION, _INSUFFICIENT = 0.8, 0.95
_ELSEWHERE = StorageHostLocation.location.is_distinct_from("")
_FOLDERS = table(
    "vfolders",
    column("host_id"),
    column("used_bytes", BigInteger),
    column("owner_id"),
    column("project_id"),
    column("domain_id"),
)
"""Only counts folders, because folders build on hosts."""

# Names of the access list as users know them; deleted entities are omitted.
_ACCESS = text("""
    SELECT x.host_id, x.kind, x.scope_id AS id, coalesce(d.name, p.name) AS name
    FROM storage_host_access x
    LEFT JOIN domains d ON x.kind = 'domain' AND d.id = x.scope_id AND d.removed_at IS NULL
    LEFT JOIN projects p ON x.kind = 'project' AND p.id = x.scope_id
    WHERE x.host_id = ANY(:hosts) AND coalesce(d.id, p.id) IS NOT NULL ORDER BY 4, 3""")


async def seen(tx: AsyncSession, actor: Actor) -> ColumnElement[bool]:
    """A condition for hosts that the actor may see: accessible ones, including those closed to new folders."""
    return true() if sees_everything(actor) else await may_use(tx, actor)


async def may_use(tx: AsyncSession, actor: Actor, project: ProjectId | None = None) -> ColumnElement[bool]:
    """A condition for hosts where the actor may create folders: for the project, or for any of theirs.

    The host is public or names the domain or one of the projects. The domain must permit it, and so must the resource
    policy of the keypair, or the one that applies without a keypair.
    """
    # not narrowed: reads only the domain of the project, for comparison
    home = select(Project.domain_id).where(Project.id == project).scalar_subquery()
    domain = home if project else actor.domain_id
    projects: Iterable[ProjectId] = [project] if project else actor.projects
    named = exists().where(
        StorageHostAccess.host_id == StorageHost.id,
        or_(
            (StorageHostAccess.kind == HostScopeKind.DOMAIN) & (StorageHostAccess.scope_id == domain),
            (StorageHostAccess.kind == HostScopeKind.PROJECT)
            & StorageHostAccess.scope_id.in_(sorted(projects)),
        ),
    )
    let_in = exists().where(
        Domain.id == domain,
        or_(Domain.storage_hosts.is_(None), StorageHost.name == func.any(Domain.storage_hosts)),
    )
    hosts = (await policy_of(tx, actor)).storage_hosts
    allowed = true() if hosts is None else StorageHost.name.in_(hosts)
    return or_(StorageHost.public, named) & let_in & allowed


async def folders_on(tx: AsyncSession, host: StorageHostId) -> int:
    """The number of folders on the host."""
    counted = select(func.count()).select_from(_FOLDERS).where(_FOLDERS.c.host_id == host)
    return int((await tx.execute(counted)).scalar_one())


async def page(tx: AsyncSession, actor: Actor, query: StorageHostQuery) -> StorageHostList:
    """A page of the hosts that the actor may see."""
    chosen = _rows(actor).where(await seen(tx, actor))
    if query.q:
        # There are few hosts: searching names needs no index.
        chosen = chosen.where(StorageHost.name.ilike(f"%{escaped(query.q)}%"))
    page = await paging.page(tx, chosen, _SORT, query)
    return StorageHostList(items=await _views(tx, actor, page.rows), next_cursor=page.next_cursor)


async def detail(tx: AsyncSession, actor: Actor, host: StorageHostId) -> StorageHostView:
    """One host that is known to exist."""
    rows = (await tx.execute(_rows(actor).where(StorageHost.id == host))).all()
    return (await _views(tx, actor, rows))[0]


async def locations(tx: AsyncSession) -> Mapping[EngineId, Mapping[StorageHostId, str | None]]:
    """Where the containers of each engine have the roots of hosts, if not at the same path; None: nowhere."""
    rows = (await tx.execute(select(StorageHostLocation).where(_ELSEWHERE))).scalars()
    by_engine: defaultdict[EngineId, dict[StorageHostId, str | None]] = defaultdict(dict)
    for row in rows:
        by_engine[row.engine_id][row.host_id] = row.location
    return by_engine


def level_of(total: int | None, free: int | None) -> Level:
    """Free space of a host as a level."""
    if total is None or free is None or total <= 0:
        return "unknown"
    used = 1 - free / total
    if used < _CAUTION:
        return "adequate"
    return "caution" if used < _INSUFFICIENT else "insufficient"


def capabilities(kind: str) -> dict[str, bool]:
    """Capabilities of back ends of this kind beyond the port; empty if its plug-in is unusable."""
    try:
        return _capabilities(kind)
    except Unavailable:
        return {"hard_quota": False, "instant_clone": False}


@cache
def _capabilities(kind: str) -> dict[str, bool]:
    made = plugins.find(Port.STORAGE, kind).makes or object
    return {"hard_quota": issubclass(made, HardQuota), "instant_clone": issubclass(made, Clone)}


def kinds() -> list[StorageHostKind]:
    """The installed storage kinds."""
    return [
        StorageHostKind(
            kind=kind,
            title=plugin.title or kind,
            description=(plugin.settings.__doc__ or "").strip(),
            settings=plugin.schema(),
            **capabilities(kind),
        )
        for kind, plugin in plugins.kinds(Port.STORAGE).items()
    ]


def _rows(actor: Actor) -> Select[*tuple[Any, ...]]:
    folder = _FOLDERS.c
    counted = (
        select(
            folder.host_id,
            func.count().label("folders"),
            cast(func.coalesce(func.sum(folder.used_bytes), 0), BigInteger).label("used_bytes"),
        )
        .where(
            permitted(
                actor,
                "vfolder.read",
                owner=folder.owner_id,
                domain=folder.domain_id,
                project=folder.project_id,
            )
        )
        .group_by(folder.host_id)
        .subquery()
    )
    return select(
        *StorageHost.__table__.columns,
        func.coalesce(counted.c.folders, 0).label("folders"),
        func.coalesce(counted.c.used_bytes, 0).label("used_bytes"),
    ).outerjoin_from(StorageHost, counted, counted.c.host_id == StorageHost.id)


async def _views(tx: AsyncSession, actor: Actor, rows: Sequence[Row[Any]]) -> list[StorageHostView]:
    administered = sees_everything(actor)
    ids = [row.id for row in rows]
    access = await _access(tx, ids) if administered else {}
    located = await _located(tx, ids) if administered else {}
    return [
        StorageHostView.model_validate(
            {
                **row._mapping,
                **capabilities(row.backend),
                "root": row.root if administered else None,
                "problem": row.problem if administered else None,
                "level": level_of(row.total_bytes, row.free_bytes),
                "access": access.get(row.id),
                "locations": located.get(row.id),
            }
        )
        for row in rows
    ]


async def _access(
    tx: AsyncSession, hosts: Sequence[StorageHostId]
) -> Mapping[StorageHostId, StorageHostAccessView]:
    """Access list of each host."""
    named = {host: StorageHostAccessView(domains=[], projects=[]) for host in hosts}
    for row in await tx.execute(_ACCESS, {"hosts": list(hosts)}):
        if row.kind == HostScopeKind.DOMAIN:
            named[row.host_id].domains.append(DomainRef(id=row.id, name=row.name))
        else:
            named[row.host_id].projects.append(ProjectRef(id=row.id, name=row.name))
    return named


async def _located(
    tx: AsyncSession, hosts: Sequence[StorageHostId]
) -> Mapping[StorageHostId, list[StorageHostLocationView]]:
    """Locations of each host, by the name of the engine."""
    rows = await tx.execute(
        select(StorageHostLocation, EngineRow.name)
        .join(EngineRow, EngineRow.id == StorageHostLocation.engine_id)
        .where(StorageHostLocation.host_id.in_(hosts), _ELSEWHERE)
        .order_by(EngineRow.name)
    )
    located: dict[StorageHostId, list[StorageHostLocationView]] = {host: [] for host in hosts}
    for row, name in rows:
        engine = EngineRef(id=row.engine_id, name=name)
        located[row.host_id].append(StorageHostLocationView(engine=engine, location=row.location))
    return located
