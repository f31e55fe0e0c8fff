"""Queries of registries."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Select, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.db.scope import permitted
from carrel.db.search import escaped
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.images.registries.schemas import RegistryList, RegistryQuery, RegistryView
from carrel.permissions.decide import Actor, Target
from carrel.tables.registries import ImageRegistry
from carrel.tables.tenancy import Domain, Project
from carrel.tenancy import queries as tenancy
from carrel.tenancy.schemas import DomainRef, ProjectRef

_SORT = Sort(
    {"name": ImageRegistry.name, "created_at": ImageRegistry.created_at}, tie=ImageRegistry.id, default="name"
)
_FACTS = (
    "id name kind url host namespace username ca_pem mirror repositories tags images_enabled push push_repositories "
    "read_packages created_at password_until password_problem"
).split()


@dataclass(frozen=True)
class ScopedRegistry:
    """A registry with the project or domain for which it is; both None: the installation."""

    registry: ImageRegistry
    project: Project | None
    domain: Domain | None

    @property
    def target(self) -> Target:
        if self.project:
            return tenancy.project_target(self.project)
        return tenancy.domain_target(self.domain) if self.domain else Target()

    @property
    def view(self) -> RegistryView:
        return RegistryView(
            **{fact: getattr(self.registry, fact) for fact in _FACTS},
            has_secret=self.registry.secret is not None,
            domain=DomainRef(id=self.domain.id, name=self.domain.name) if self.domain else None,
            project=ProjectRef(id=self.project.id, name=self.project.name) if self.project else None,
        )


def chosen(actor: Actor) -> Select[*tuple[Any, ...]]:
    """The registries that the actor may see."""
    place = func.coalesce(ImageRegistry.domain_id, Project.domain_id)
    return (
        select(ImageRegistry, Project, Domain)
        .outerjoin(Project, Project.id == ImageRegistry.project_id)
        .outerjoin(Domain, Domain.id == ImageRegistry.domain_id)
        .where(permitted(actor, "registry.read", domain=place, project=ImageRegistry.project_id))
    )


def scoped(row: Row[*tuple[Any, ...]]) -> ScopedRegistry:
    """A row of `chosen`."""
    return ScopedRegistry(row.ImageRegistry, row.Project, row.Domain)


async def page(tx: AsyncSession, actor: Actor, query: RegistryQuery) -> RegistryList:
    """A page of the registries that the actor may see."""
    statement = chosen(actor)
    if query.q:
        # There are few registries: searching them needs no index.
        part = f"%{escaped(query.q)}%"
        statement = statement.where(or_(ImageRegistry.name.ilike(part), ImageRegistry.url.ilike(part)))
    rows = await paging.page(tx, statement, _SORT, query)
    return RegistryList(items=[scoped(row).view for row in rows.rows], next_cursor=rows.next_cursor)
