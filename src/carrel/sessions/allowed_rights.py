"""Rights inside sessions: root where the keypair's policy, the project's policy and the resource group all allow it, on
nodes whose engine can give it.
"""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import CarrelError, Forbidden, Refused
from carrel.core.ids import ProjectId
from carrel.engines.port import ROOT_INSIDE
from carrel.limits.scopes import policy_of, project_policy_of
from carrel.permissions.decide import Actor
from carrel.tables.groups import ResourceGroup
from carrel.tables.nodes import Node
from carrel.tables.session_states import Rights


def forbidden_as_text() -> str:
    """SQL: what does not allow the root that the session `s` has requested in the group `g`; NULL: nothing."""
    return """
        CASE WHEN s.rights = 'root' THEN CASE
            WHEN g.max_rights <> 'root' THEN 'group'
            WHEN NOT EXISTS (
                SELECT FROM projects o JOIN resource_policies p ON p.id = o.policy_id
                WHERE o.id = s.project_id AND p.limits->>'max_rights' = 'root') THEN 'project'
            WHEN NOT EXISTS (
                SELECT FROM users u LEFT JOIN keypairs k ON k.access_key = s.access_key
                    JOIN resource_policies p ON p.id = coalesce(k.policy_id, u.keypair_policy_id)
                WHERE u.id = s.owner_id AND p.limits->>'max_rights' = 'root') THEN 'keypair'
        END END"""


_FORBIDDEN = {
    "keypair": "Your resource policy does not allow root in a session.",
    "project": "The resource policy of the project does not allow root in a session.",
    "group": "The resource group does not allow root in a session.",
}
NO_LONGER_ALLOWED = {
    "keypair": "The resource policy of its owner no longer allows root in a session.",
    "project": "The resource policy of its project no longer allows root in a session.",
    # It may never have: a session may accept other groups that do.
    "group": _FORBIDDEN["group"],
}
"""Why a pending session does not start, by the result of `forbidden_as_text`."""


async def root_refused(
    tx: AsyncSession, actor: Actor, project: ProjectId, group: ResourceGroup, machines: Sequence[Node]
) -> CarrelError | None:
    """Why a session of the actor could not have root there; None: it could."""
    allowed = {
        "keypair": (await policy_of(tx, actor)).max_rights,
        "project": (await project_policy_of(tx, project)).max_rights,
        "group": group.max_rights,
    }
    for scope, most in allowed.items():
        if most != Rights.ROOT:
            return Forbidden(
                "session.root_forbidden",
                _FORBIDDEN[scope],
                hint="Ask an administrator to allow it, or request a session without root.",
                field="rights",
                details={"scope": scope},
            )
    # A group that has no node yet may get one.
    if machines and not _able(machines):
        return Refused(
            "session.root_impossible",
            "The engine of no node of the resource group can give root in a session.",
            hint="Choose another resource group, or request a session without root.",
            field="rights",
            details={"needed": ROOT_INSIDE},
        )
    return None


async def able(
    tx: AsyncSession,
    actor: Actor,
    project: ProjectId,
    group: ResourceGroup,
    rights: Rights,
    machines: Sequence[Node],
) -> Sequence[Node]:
    """The machines whose engine can give these rights. Raises: Forbidden, Refused."""
    if rights == Rights.PLAIN:
        return machines
    if refused := await root_refused(tx, actor, project, group, machines):
        raise refused
    return _able(machines)


def _able(machines: Sequence[Node]) -> Sequence[Node]:
    return [node for node in machines if ROOT_INSIDE in node.capabilities]
