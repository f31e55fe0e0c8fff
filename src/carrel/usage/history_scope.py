"""The object that a history is about."""

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Invalid
from carrel.nodes import queries as node_queries
from carrel.nodes.groups import service as groups
from carrel.permissions.decide import Actor, Target, require
from carrel.tables.usage import UsageScope
from carrel.tenancy import queries as tenancy


async def find(tx: AsyncSession, actor: Actor, scope: UsageScope, ref: str | None) -> str:
    """The id of an object whose usage the actor may read; empty for the site.

    Raises: NotFound, Forbidden, Invalid.
    """
    if scope is UsageScope.SITE:
        require(actor, "usage.read", Target())
        return ""
    if scope is UsageScope.USER:
        user = await tenancy.user(tx, actor, ref or actor.user_id)
        require(actor, "usage.read", tenancy.user_target(user))
        return user.id
    if not ref:
        raise Invalid("invalid.request", f"Name the {scope}.", field="ref")
    if scope is UsageScope.PROJECT:
        project = await tenancy.project(tx, actor, ref)
        require(actor, "usage.read", tenancy.project_target(project))
        return project.id
    if scope is UsageScope.DOMAIN:
        domain = await tenancy.domain(tx, actor, ref)
        require(actor, "usage.read", tenancy.domain_target(domain))
        return domain.id
    # Nodes and groups run sessions of several domains.
    require(actor, "usage.read", Target())
    if scope is UsageScope.NODE:
        return await node_queries.find(tx, actor, ref)
    return (await groups.find(tx, ref)).id
