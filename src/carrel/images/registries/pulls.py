"""Where engines pull an image from, and with which credentials."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from sqlalchemy import and_, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import DomainId, ProjectId
from carrel.db.encryption import SecretBox
from carrel.engines.port import PullCredentials
from carrel.engines.references import on_registry, registry_of, repository_of, to_pull
from carrel.images import availability
from carrel.images.registries import registry_credentials
from carrel.tables.registries import ImageRegistry, PrivateRepository
from carrel.tables.tenancy import Project


@dataclass(frozen=True, slots=True)
class PullSource:
    """reference: to pull. always: also where a node has the image, see `ContainerSpec.pull_always`."""

    reference: str
    credentials: PullCredentials | None = None
    always: bool = False


async def source(
    tx: AsyncSession,
    seal: SecretBox,
    reference: str,
    *,
    project: ProjectId | None,
    domain: DomainId | None = None,
) -> PullSource:
    """Where a session of the project gets an image from; stores for whom it is pulled, if that is not everybody.

    domain: of the project; None: look it up. project None: only by registries of the installation.

    By the registry of the project, otherwise of the domain, otherwise of the installation; of several, the one with the
    longest namespace. A registry of a project or domain counts only if its mirror is one that the domain permits.
    """
    if project and domain is None:
        domain = (await tx.execute(select(Project.domain_id).where(Project.id == project))).scalar_one()
    best = await _registry(tx, reference, project, domain)
    image = to_pull(reference)
    if best and best.mirror:
        image = to_pull(on_registry(reference, urlsplit(best.mirror).netloc))
        if domain and _scope(best) and not await availability.may_pull(tx, domain, image):
            best, image = None, to_pull(reference)
    always = await _others_have(tx, image, project, domain)
    username, secret = registry_credentials.credentials(seal, best) if best else ("", "")
    if best is None or not secret:
        return PullSource(image, always=always)
    await note_private(tx, best, image)
    return PullSource(image, PullCredentials(registry_of(image), username, secret), always)


async def note_private(tx: AsyncSession, registry: ImageRegistry, image: str) -> None:
    """Note that nodes have the image by the credentials of a project or domain, if the registry is of one."""
    if scope := _scope(registry):
        row = {"name": _name(image), "scope_id": scope}
        await tx.execute(insert(PrivateRepository).values(row).on_conflict_do_nothing())


async def _registry(
    tx: AsyncSession, reference: str, project: ProjectId | None, domain: DomainId | None
) -> ImageRegistry | None:
    of_all = and_(ImageRegistry.project_id.is_(None), ImageRegistry.domain_id.is_(None))
    theirs = or_(ImageRegistry.project_id == project, ImageRegistry.domain_id == domain)
    rows = await tx.execute(
        select(ImageRegistry).where(
            ImageRegistry.host == registry_of(reference), or_(of_all, theirs) if project else of_all
        )
    )
    repository = repository_of(reference)
    fitting = [
        one for one in rows.scalars() if f"{repository}/".startswith(one.namespace and f"{one.namespace}/")
    ]
    return max(
        fitting,
        key=lambda one: (one.project_id is not None, one.domain_id is not None, len(one.namespace), one.id),
        default=None,
    )


async def _others_have(
    tx: AsyncSession, image: str, project: ProjectId | None, domain: DomainId | None
) -> bool:
    """True if it may be on nodes because somebody else's credentials have pulled it."""
    others = select(PrivateRepository.name).where(
        PrivateRepository.name == _name(image),
        PrivateRepository.scope_id.not_in([one for one in (project, domain) if one]),
    )
    return (await tx.execute(others.limit(1))).first() is not None


def _name(image: str) -> str:
    return f"{registry_of(image)}/{repository_of(image)}"


def _scope(registry: ImageRegistry) -> str | None:
    """The id of its project or domain; None: it is of the installation."""
    return registry.project_id or registry.domain_id
