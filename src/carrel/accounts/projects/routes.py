"""/projects and their members."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.accounts.projects import members, queries, service
from carrel.accounts.projects.schemas import (
    MemberList,
    MemberQuery,
    MemberRemoved,
    MembersAdd,
    MembersAdded,
    MemberUpdate,
    MemberView,
    ProjectArchive,
    ProjectCreate,
    ProjectList,
    ProjectQuery,
    ProjectUpdate,
    ProjectView,
)
from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.tenancy import queries as tenancy

router = APIRouter(tags=["projects"])
Ref = Annotated[str, Path(max_length=64, description="An id, or a name that is unique among yours.")]
UserRef = Annotated[str, Path(max_length=254, description="An id or an e-mail.")]


@router.get(
    "/projects", operation_id="projects.list", summary="List projects", openapi_extra=names("project.read")
)
async def list_projects(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[ProjectQuery, Query()]
) -> ProjectList:
    """Projects that you are a member of or administer, with their number of members and live sessions."""
    async with services.database.transaction() as tx:
        return await queries.page(tx, actor, query)


@router.post(
    "/projects",
    operation_id="projects.create",
    summary="Create a project",
    openapi_extra=names("project.create"),
    status_code=201,
)
async def create(services: ServicesOf[Services], actor: CurrentActor, body: ProjectCreate) -> ProjectView:
    """Create a project. Names are unique within a domain."""
    async with services.database.transaction() as tx:
        project = await service.create(tx, services.clock, actor, body)
        return await queries.detail(tx, project)


@router.get(
    "/projects/{ref}",
    operation_id="projects.show",
    summary="Get a project",
    openapi_extra=names("project.read"),
)
async def show(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> ProjectView:
    """One project."""
    async with services.database.transaction() as tx:
        project = await tenancy.project(tx, actor, ref)
        return await queries.detail(tx, project.id)


@router.patch(
    "/projects/{ref}",
    operation_id="projects.update",
    summary="Update a project",
    openapi_extra=names("project.update"),
)
async def update(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: ProjectUpdate
) -> ProjectView:
    """Change a project."""
    async with services.database.transaction() as tx:
        project = await service.update(tx, actor, ref, body)
        return await queries.detail(tx, project)


@router.post(
    "/projects/{ref}/archive",
    operation_id="projects.archive",
    summary="Archive a project",
    openapi_extra=names("project.update"),
)
async def archive(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: ProjectArchive
) -> ProjectView:
    """Archive a project: it accepts no new sessions.

    If it has live sessions and `sessions` is not given: a conflict that lists them.
    """
    async with services.database.transaction() as tx:
        project = await service.archive(tx, services.clock, actor, ref, body.sessions)
        return await queries.detail(tx, project)


@router.post(
    "/projects/{ref}/restore",
    operation_id="projects.restore",
    summary="Restore an archived project",
    openapi_extra=names("project.update"),
)
async def restore(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> ProjectView:
    """Restore an archived project."""
    async with services.database.transaction() as tx:
        project = await service.restore(tx, actor, ref)
        return await queries.detail(tx, project)


@router.delete(
    "/projects/{ref}",
    operation_id="projects.remove",
    summary="Delete a project",
    openapi_extra=names("project.remove"),
    status_code=204,
)
async def remove(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> None:
    """Delete a project that never had a session."""
    async with services.database.transaction() as tx:
        await service.remove(tx, actor, ref)
    services.authenticator.forget()


@router.get(
    "/projects/{ref}/members",
    operation_id="project_members.list",
    summary="List members of a project",
    openapi_extra=names("project.read"),
)
async def list_members(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, query: Annotated[MemberQuery, Query()]
) -> MemberList:
    """The members of a project."""
    async with services.database.transaction() as tx:
        project = await tenancy.project(tx, actor, ref)
        return await queries.members(tx, project.id, query)


@router.post(
    "/projects/{ref}/members",
    operation_id="project_members.add",
    summary="Add members to a project",
    openapi_extra=names("project.enrol"),
)
async def add_members(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: MembersAdd
) -> MembersAdded:
    """Add users of its domain to a project.

    Users who cannot be added are reported with the reason; the others are added.
    """
    async with services.database.transaction() as tx:
        added = await members.add(tx, actor, ref, body.users, admin=body.admin)
    services.authenticator.forget()
    return added


@router.patch(
    "/projects/{ref}/members/{user}",
    operation_id="project_members.update",
    summary="Update the role of a project member",
    openapi_extra=names("project.enrol"),
)
async def update_member(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, user: UserRef, body: MemberUpdate
) -> MemberView:
    """Grant or revoke the project administrator role."""
    async with services.database.transaction() as tx:
        project, person = await members.appoint(tx, actor, ref, user, admin=body.admin)
        view = await queries.member(tx, project, person)
    services.authenticator.forget()
    return view


@router.delete(
    "/projects/{ref}/members/{user}",
    operation_id="project_members.remove",
    summary="Remove a member from a project",
    openapi_extra=names("project.enrol"),
)
async def remove_member(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, user: UserRef
) -> MemberRemoved:
    """Remove a member from a project. Their sessions in it continue; those that mount its folders are listed."""
    async with services.database.transaction() as tx:
        removed = await members.remove(tx, actor, ref, user)
    services.authenticator.forget()
    return removed
