"""Use cases of registries. Each starts with an authorization check."""

import ssl
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Invalid, NotFound
from carrel.core.ids import RegistryId, new_id
from carrel.db.encryption import SecretBox
from carrel.engines.references import canonical_host
from carrel.events import service as events
from carrel.images import availability
from carrel.images.registries import ecr_tokens, queries, registry_credentials
from carrel.images.registries.client import RegistryConnection
from carrel.images.registries.schemas import RegistryCreate, RegistryUpdate
from carrel.permissions.actions import Scope
from carrel.permissions.decide import Actor, Target, allows, require, scope_of, widest
from carrel.tables.registries import ImageRegistry, MayPush, RegistryKind
from carrel.tenancy import queries as tenancy

_READ, _UPDATE = "registry.read", "registry.update"
_ADDED, _CHANGED, _REMOVED = "registry.created", "registry.updated", "registry.removed"
_URLS = {
    RegistryKind.DOCKERHUB: "https://registry-1.docker.io",
    RegistryKind.GHCR: "https://ghcr.io",
    RegistryKind.GITLAB: "https://registry.gitlab.com",
    RegistryKind.NGC: "https://nvcr.io",
    RegistryKind.QUAY: "https://quay.io",
}
_LISTED_ELSEWHERE = (RegistryKind.DOCKERHUB, RegistryKind.GHCR, RegistryKind.GITLAB)
_USERNAMES = {
    RegistryKind.NGC: "$oauthtoken",
    RegistryKind.ECR: "AWS",
    RegistryKind.QUAY: "$oauthtoken",
}
_AUDITED = (
    "name",
    "url",
    "namespace",
    "username",
    "ca_pem",
    "mirror",
    "repositories",
    "tags",
    "images_enabled",
    "push",
    "push_repositories",
    "read_packages",
)


async def create(
    tx: AsyncSession, seal: SecretBox, clock: Clock, actor: Actor, request: RegistryCreate
) -> RegistryId:
    """Add a registry. Raises: NotFound, Forbidden, Invalid; Conflict when the name is taken."""
    target, scope = await _scope(tx, actor, request)
    url = request.url or _URLS.get(request.kind)
    if url is None:
        raise Invalid(
            "registry.url_needed",
            "This kind of registry has no usual address.",
            hint="Specify its URL, such as https://registry.example.org.",
            field="url",
        )
    username = request.username or (_USERNAMES.get(request.kind, "") if request.secret else "")
    registry = ImageRegistry(
        **request.model_dump(exclude={"secret", "domain", "project"}) | scope,
        id=RegistryId(new_id()),
        created_at=clock.now(),
    )
    registry.url, registry.host, registry.username = url, _host(url), username
    registry.mirror = request.mirror or ""
    registry_credentials.set_secret(seal, registry, request.secret)
    _require_usable(registry)
    await _require_permitted(tx, registry, target)
    tx.add(registry)
    await registry_credentials.begin(tx, registry, clock.now())
    await _flush(tx, registry)
    _record(tx, actor, registry, target, {"what": "created", "after": _shown(registry)})
    await _publish(tx, _ADDED, registry, target)
    return registry.id


async def update(
    tx: AsyncSession, seal: SecretBox, clock: Clock, actor: Actor, ref: str, changes: RegistryUpdate
) -> RegistryId:
    """Change the given fields. Raises: NotFound, Forbidden, Invalid; Conflict when the name is taken."""
    row = await _changing(tx, actor, ref)
    registry, before = row.registry, _shown(row.registry)
    given = changes.model_dump(exclude_unset=True, exclude={"secret"})
    if "mirror" in given:
        given["mirror"] = given["mirror"] or ""
    for field, value in given.items():
        setattr(registry, field, value)
    registry.host = _host(registry.url)
    if "secret" in changes.model_fields_set:
        registry_credentials.set_secret(seal, registry, changes.secret)
    elif registry.secret and (registry.url, registry.mirror) != (before["url"], before["mirror"]):
        raise Invalid(
            "registry.secret_again",
            "The secret belongs to the previous address.",
            hint="Set the secret together with the new address.",
            field="secret",
        )
    _require_usable(registry)
    if "mirror" in given:
        await _require_permitted(tx, registry, row.target)
    if {"url", "username", "secret"} & changes.model_fields_set:
        await registry_credentials.begin(tx, registry, clock.now())
    after = _shown(registry)
    changed = [field for field in after if after[field] != before[field]]
    details = {"before": {f: before[f] for f in changed}, "after": {f: after[f] for f in changed}}
    if "secret" in changes.model_fields_set:
        details["after"]["secret"] = "changed" if changes.secret else "removed"
    if details["after"]:
        await _flush(tx, registry)
        _record(tx, actor, registry, row.target, {"what": "changed", **details})
        await _publish(tx, _CHANGED, registry, row.target)
    return registry.id


async def remove(tx: AsyncSession, actor: Actor, ref: str) -> None:
    """Remove a registry. Raises: NotFound, Forbidden."""
    row = await _changing(tx, actor, ref)
    await tx.delete(row.registry)
    await tx.flush()
    _record(tx, actor, row.registry, row.target, {"what": "removed", "before": _shown(row.registry)})
    await _publish(tx, _REMOVED, row.registry, row.target)


async def find(tx: AsyncSession, actor: Actor, ref: str, action: str = _READ) -> queries.ScopedRegistry:
    """The registry with this id, or this name among those that the actor may see, locked for a change.

    Raises: NotFound, Forbidden; Conflict when several have the name.
    """
    statement = queries.chosen(actor).where(or_(ImageRegistry.id == ref, ImageRegistry.name == ref)).limit(10)
    if action != _READ:
        statement = statement.with_for_update(of=ImageRegistry)
    rows = [queries.scoped(row) for row in await tx.execute(statement)]
    matches = [row for row in rows if row.registry.id == ref] or rows
    if not matches:
        raise NotFound("registry.not_found", f"There is no registry {ref}.", hint="See `carrel registry ls`.")
    if len(matches) > 1:
        raise Conflict(
            "registry.ambiguous",
            f"Several registries have the name {ref}.",
            hint="Use the id.",
            details={"ids": [row.registry.id for row in matches]},
        )
    require(actor, action, matches[0].target)
    return matches[0]


async def connection(tx: AsyncSession, seal: SecretBox, registry: ImageRegistry) -> RegistryConnection:
    """How to reach a registry, or its mirror.

    Private addresses are for registries of the installation, and for others at the same address: whoever administers a
    project must not reach the server's own network.
    """
    url = registry.mirror or registry.url
    vouched = select(ImageRegistry.id).where(
        func.coalesce(func.nullif(ImageRegistry.mirror, ""), ImageRegistry.url) == url,
        ImageRegistry.domain_id.is_(None),
        ImageRegistry.project_id.is_(None),
    )
    # A mirror of these has no API of theirs.
    kind = RegistryKind.GENERIC if registry.mirror and registry.kind in _LISTED_ELSEWHERE else registry.kind
    username, password = registry_credentials.credentials(seal, registry)
    private = (await tx.execute(vouched.limit(1))).first() is not None
    return RegistryConnection(
        url=url,
        kind=kind,
        username=username,
        password=password,
        ca_pem=registry.ca_pem,
        private=private,
    )


async def _changing(tx: AsyncSession, actor: Actor, ref: str) -> queries.ScopedRegistry:
    return await find(tx, actor, ref, _UPDATE)


async def _scope(tx: AsyncSession, actor: Actor, request: RegistryCreate) -> tuple[Target, dict[str, str]]:
    if request.project and request.domain:
        raise Invalid(
            "registry.scope",
            "A registry is for a project or for a domain, not for both.",
            hint="Omit one.",
            field="domain",
        )
    if request.project:
        project = await tenancy.project(tx, actor, request.project, _UPDATE)
        return tenancy.project_target(project), {"project_id": project.id}
    if request.domain:
        domain = await tenancy.domain(tx, actor, request.domain, _UPDATE, field="domain")
        return tenancy.domain_target(domain), {"domain_id": domain.id}
    if actor.administers and len(actor.administers) == 1 and widest(actor, _UPDATE) is Scope.PROJECT:
        [own] = actor.administers
        return await _scope(tx, actor, request.model_copy(update={"project": own}))
    if scope_of(actor, _UPDATE) is Scope.DOMAIN:
        return await _scope(tx, actor, request.model_copy(update={"domain": actor.domain_id}))
    if not allows(actor, _UPDATE, Target()):
        raise Invalid(
            "registry.scope_needed",
            "You administer several projects.",
            hint="Specify the project for which the registry is.",
            field="project",
        )
    return Target(), {}


def _host(url: str) -> str:
    """As in image references."""
    return canonical_host(urlsplit(url).netloc)


def _require_usable(registry: ImageRegistry) -> None:
    if registry.secret and not registry.username:
        raise Invalid(
            "registry.username_needed",
            "The secret needs a user name.",
            hint="Specify the name of the account or robot; for tokens of GitHub or GitLab, any name.",
            field="username",
        )
    if registry.push == MayPush.MEMBERS and not registry.push_repositories:
        raise Invalid(
            "registry.push_repositories_needed",
            "Members could push to any repository, and replace the images of others.",
            hint="Specify the repositories to which they may push, such as team/*.",
            field="push_repositories",
        )
    _require_renewable(registry)
    if registry.ca_pem:
        try:
            ssl.create_default_context(cadata=registry.ca_pem)
        except (ssl.SSLError, ValueError) as error:
            raise Invalid(
                "registry.ca_invalid",
                "These are not certificates.",
                hint="Paste them in PEM, from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----.",
                field="ca_pem",
            ) from error


def _require_renewable(registry: ImageRegistry) -> None:
    """Raises: Invalid for an address or a role by which no password can be had."""
    if not ecr_tokens.is_renewed(registry):
        return
    try:
        ecr_tokens.place(registry.host)
    except ValueError:
        raise Invalid(
            "registry.ecr_address",
            f"{registry.host} is not the address of an ECR registry.",
            hint="It is like https://123456789012.dkr.ecr.eu-central-1.amazonaws.com.",
            field="url",
        ) from None
    if registry.username == ecr_tokens.INSTANCE_ROLE and (registry.domain_id or registry.project_id):
        raise Invalid(
            "registry.ecr_role",
            "Only registries of the installation use the role of its machine.",
            hint="Specify an access key as the user name, and its secret key.",
            field="username",
        )


async def _require_permitted(tx: AsyncSession, registry: ImageRegistry, target: Target) -> None:
    """Raises: Forbidden for a mirror that the domain does not permit."""
    if registry.mirror and target.domain_id:
        await availability.require_registry(
            tx, target.domain_id, f"{urlsplit(registry.mirror).netloc}/x", field="mirror"
        )


async def _flush(tx: AsyncSession, registry: ImageRegistry) -> None:
    try:
        await tx.flush()
    except IntegrityError as error:
        if "uq_registries_name" not in str(error.orig):
            raise
        raise Conflict(
            "registry.name_taken",
            f"A registry named {registry.name} already exists there.",
            hint="Choose another name.",
            field="name",
        ) from None


def _shown(registry: ImageRegistry) -> dict[str, Any]:
    """A registry in the audit trail: without its secret."""
    return {field: getattr(registry, field) for field in _AUDITED}


def _record(
    tx: AsyncSession, actor: Actor, registry: ImageRegistry, target: Target, details: dict[str, object]
) -> None:
    audit.record(tx, actor, _UPDATE, registry.id, name=registry.name, target=target, details=details)


async def _publish(tx: AsyncSession, event: str, registry: ImageRegistry, target: Target) -> None:
    data = {"id": registry.id, "name": registry.name}
    await events.record(tx, event, registry.id, target=target, data=data)
