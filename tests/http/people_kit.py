"""Administrators for the tests of people: one of each office, and how refusals are read."""

from dataclasses import replace
from typing import Any

from httpx2 import Response
from installation import Api, Caller
from people import PASSWORD

from carrel.core.clock import SystemClock
from carrel.core.ids import DomainId, ProjectId
from carrel.permissions.actions import Role
from carrel.permissions.decide import Actor
from carrel.tables.tenancy import Membership
from carrel.tenancy import service as tenancy

GOOD = "velvet-otter 41 plum"


async def newcomer(
    api: Api,
    name: str,
    role: Role = Role.USER,
    *,
    domain: DomainId | None = None,
    project: ProjectId | None = None,
    admin: bool = False,
    password: str | None = None,
) -> Actor:
    """Somebody new, <name>@example.org. admin: administers the project."""
    async with api.database.transaction() as tx:
        user = await tenancy.add_user(
            tx,
            SystemClock(),
            email=f"{name}@example.org",
            name=name,
            role=role,
            password=password,
            domain_id=domain or api.people.domain,
            projects=[],
        )
        if project:
            tx.add(Membership(project_id=project, user_id=user.id, admin=admin))
        await tx.flush()
        return await tenancy.actor_of(tx, user, credential="test", address="")


async def officer(api: Api, name: str, role: Role = Role.USER, **more: Any) -> Caller:
    """The same, by a keypair of theirs."""
    return await caller(api, await newcomer(api, name, role, **more), name)


async def caller(api: Api, actor: Actor, name: str = "somebody") -> Caller:
    return Caller(
        name, replace(actor, role=Role(actor.role)), await api.client(auth=await api.keypair(actor))
    )


async def domain_admin(api: Api) -> Caller:
    return await officer(api, "head", Role.DOMAIN_ADMIN)


async def project_admin(api: Api) -> Caller:
    return await officer(api, "lead", project=api.people.project, admin=True)


def status_and_code(answer: Response) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json().get("code", "")


async def appoint(api: Api) -> dict[str, Actor]:
    """An actor for each role. The project admin and the user share a project, the domain admin is of another."""
    lead = await newcomer(api, "project_admin", project=api.people.project, admin=True, password=PASSWORD)
    head = await newcomer(
        api, "domain_admin", Role.DOMAIN_ADMIN, project=api.people.other_project, password=PASSWORD
    )
    return {
        "superadmin": api.people.superadmin,
        "user": api.people.user,
        "project_admin": lead,
        "domain_admin": head,
    }
