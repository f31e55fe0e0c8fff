"""Where engines pull an image from, and with which credentials."""

from urllib.parse import urlsplit

from sqlalchemy import and_, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import DomainId, ProjectId
from carrel.db.encryption import SecretBox
from carrel.engines.port import PullCredentials
from carrel.engines.references import on_registry, registry_of, repository_of
from carrel.images import service as images
from carrel.images.registries import service
from carrel.tables.registries import ImageRegistry
from carrel.tables.tenancy import Project


async def source(
    tx: AsyncSession,
    seal: SecretBox,
    reference: str,
    *,
    project: ProjectId | None,
    domain: DomainId | None = None,
) -> tuple[str, PullCredentials | None]:
    """The reference to pull for a session of the project, and the credentials. domain: of the project; None: look it
    up. project None: only registries of the installation.

    By the registry of the project, otherwise of the domain, otherwise of the installation; of several, the one with the
    longest namespace. A registry of a project or domain counts only if its mirror is one that the domain permits.
    """
    if project and domain is None:
        domain = (await tx.execute(select(Project.domain_id).where(Project.id == project))).scalar_one()
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
    best = max(
        fitting,
        key=lambda one: (one.project_id is not None, one.domain_id is not None, len(one.namespace), one.id),
        default=None,
    )
    if best is None:
        return reference, None
    host = urlsplit(best.mirror).netloc if best.mirror else best.host
    image = on_registry(reference, host) if best.mirror else reference
    own = best.project_id or best.domain_id
    if best.mirror and own and domain and not await images.may_pull(tx, domain, image):
        return reference, None
    secret = service.secret_of(seal, best)
    return image, PullCredentials(host, best.username, secret) if secret else None
