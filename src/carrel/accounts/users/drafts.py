"""User drafts, validated against existing domains, projects, e-mails and permissions."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accounts.users.schemas import UserCreate
from carrel.core.errors import CarrelError, Conflict, Invalid, NotFound
from carrel.core.ids import DomainId
from carrel.permissions.decide import Actor, Target, allows, refusal
from carrel.permissions.roles import is_administrator
from carrel.signin.logins.passwords import require_good
from carrel.site.schemas import SiteSettings
from carrel.tables.tenancy import Domain, Project, User
from carrel.tenancy.queries import domain_target

_LETTERS = "abcdefghjkmnpqrstuvwxyz"
_DIGITS = "23456789"


@dataclass(frozen=True)
class Draft:
    """A user who may be made."""

    request: UserCreate
    domain: Domain
    projects: Sequence[Project]


@dataclass(frozen=True)
class DraftContext:
    """What drafts are checked against. domains, projects: by id and by name in lower case, those in a domain
    under its id. taken: e-mails in lower case.
    """

    domains: Mapping[str, Domain]
    projects: Mapping[tuple[DomainId, str], Project]
    taken: frozenset[str]


async def draft_context(tx: AsyncSession, actor: Actor, requests: Iterable[UserCreate]) -> DraftContext:
    """What these drafts need to be checked, in three statements whatever their number."""
    # Kept from being removed until they are in it.
    # not narrowed: whether the actor may make users there is decided for each draft.
    drafts = list(requests)
    refs = {draft.domain or actor.domain_id for draft in drafts}
    domains = (
        (
            await tx.execute(
                select(Domain)
                .where(
                    or_(Domain.id.in_(refs), func.lower(Domain.name).in_({ref.lower() for ref in refs})),
                    Domain.removed_at.is_(None),
                )
                .with_for_update(read=True, key_share=True)
            )
        )
        .scalars()
        .all()
    )
    named = {ref for draft in drafts for ref in draft.projects}
    projects = (
        (
            await tx.execute(
                select(Project).where(
                    Project.domain_id.in_([domain.id for domain in domains]),
                    or_(Project.id.in_(named), func.lower(Project.name).in_({ref.lower() for ref in named})),
                )
            )
        )
        .scalars()
        .all()
    )
    emails = {draft.email.lower() for draft in drafts}
    taken = await tx.execute(select(func.lower(User.email)).where(func.lower(User.email).in_(emails)))
    return DraftContext(
        domains={domain.name.lower(): domain for domain in domains}
        | {domain.id: domain for domain in domains},
        projects={(project.domain_id, project.name): project for project in projects}
        | {(project.domain_id, project.id): project for project in projects},
        taken=frozenset(taken.scalars()),
    )


def check(actor: Actor, request: UserCreate, around: DraftContext) -> tuple[Draft | None, list[CarrelError]]:
    """The draft, or all that is wrong with it."""
    problems: list[CarrelError] = []
    ref = request.domain or actor.domain_id
    domain = around.domains.get(ref) or around.domains.get(ref.lower())
    if domain is None or not allows(actor, "domain.read", domain_target(domain)):
        problems.append(NotFound("domain.not_found", f"There is no domain {ref}.", field="domain"))
        domain = None
    elif not allows(actor, "user.create", domain_target(domain)):
        problems.append(refusal(actor, "user.create"))
    if is_administrator(request.role) and not allows(actor, "user.appoint", Target()):
        problems.append(refusal(actor, "user.appoint"))
    if request.email.lower() in around.taken:
        problems.append(email_taken(request.email))
    if sum((bool(request.password), request.generate_password, request.link)) > 1:
        problems.append(
            Invalid(
                "invalid.password",
                "Use only one of password, generate_password and link.",
                hint="Leave the others out.",
                field="password",
            )
        )
    projects = [around.projects.get((domain.id, ref)) for ref in request.projects] if domain else []
    problems += [
        unknown_project(ref, domain)
        for ref, project in zip(request.projects, projects, strict=False)
        if domain and project is None
    ]
    if problems or domain is None:
        return None, problems
    return Draft(request, domain, [project for project in dict.fromkeys(projects) if project]), []


async def password_problems(settings: SiteSettings, request: UserCreate) -> list[CarrelError]:
    """What speaks against the password that is given, by the rules of the site."""
    try:
        if request.password:
            await require_good(settings, request.password, personal=[request.email, request.name])
    except Invalid as error:
        return [error]
    return []


def unknown_project(ref: str, domain: Domain) -> NotFound:
    return NotFound(
        "project.not_found",
        f"{domain.name} has no project {ref}.",
        hint="See `carrel project ls`.",
        field="projects",
    )


def email_taken(email: str) -> Conflict:
    return Conflict(
        "user.email_taken",
        f"A user with the e-mail {email} already exists.",
        hint="E-mail addresses are unique and case-insensitive.",
        field="email",
    )


def generated_password() -> str:
    """Four groups that a person can read out, 75 random bits: "kq7m-x2vd-...", letters and digits in each."""
    return "-".join(
        "".join(secrets.choice(letters) for letters in (_LETTERS, _LETTERS, _DIGITS, _LETTERS))
        for _ in range(5)
    )
