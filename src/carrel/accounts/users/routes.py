"""/users, and one's own profile."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from carrel.accounts.users import batch, purge, queries, service
from carrel.accounts.users.schemas import (
    ProfileUpdate,
    UserBatch,
    UserCreate,
    UserCreated,
    UserDetail,
    UserList,
    UserPurge,
    UserPurged,
    UserQuery,
    UsersMade,
    UsersPurge,
    UsersPurged,
    UserUpdate,
)
from carrel.http.auth import CurrentActor, RecentlyConfirmed, names, require_confirmed
from carrel.http.query import QueryBool
from carrel.http.services import Services, ServicesOf
from carrel.permissions.roles import is_administrator
from carrel.signin.logins.schemas import RecoveryLink
from carrel.tenancy import queries as tenancy
from carrel.tenancy import service as places
from carrel.tenancy.schemas import DomainRef, Preferences, UserProfile

router = APIRouter(tags=["users"])
Ref = Annotated[str, Path(max_length=254, description="An id or an e-mail.")]


@router.patch(
    "/auth/me",
    operation_id="profile.update",
    summary="Update your profile",
    openapi_extra=names("profile.update"),
)
async def update_profile(
    services: ServicesOf[Services], actor: CurrentActor, body: ProfileUpdate
) -> UserProfile:
    """Change your name and preferences."""
    async with services.database.transaction() as tx:
        await service.update_profile(tx, actor, body)
        profile = await places.profile(tx, actor.user_id)
    return UserProfile(
        id=profile.user.id,
        email=profile.user.email,
        name=profile.user.name,
        role=profile.user.role,
        domain=DomainRef(id=profile.domain.id, name=profile.domain.name),
        preferences=Preferences.model_validate(profile.user.preferences),
    )


@router.get("/users", operation_id="users.list", summary="List users", openapi_extra=names("user.read"))
async def list_users(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[UserQuery, Query()]
) -> UserList:
    """Users of your domain or of projects that you administer; otherwise yourself."""
    async with services.database.transaction() as tx:
        return await queries.page(tx, actor, query)


@router.post(
    "/users",
    operation_id="users.create",
    summary="Create a user",
    openapi_extra=names("user.create"),
    status_code=201,
)
async def create(
    request: Request, services: ServicesOf[Services], actor: CurrentActor, body: UserCreate
) -> UserCreated:
    """Create a user. A generated password or link is returned only once."""
    if is_administrator(body.role):
        await require_confirmed(request)
    made = await service.create(_means(services), actor, body)
    async with services.database.transaction() as tx:
        detail = await queries.detail(tx, actor, made.id)
    link = RecoveryLink.model_validate(made.link, from_attributes=True) if made.link else None
    return UserCreated(**detail.model_dump(), password=made.password, link=link)


@router.post(
    "/users/batch",
    operation_id="users.create_many",
    summary="Create many users",
    openapi_extra=names("user.create"),
)
async def create_many(
    services: ServicesOf[Services], actor: CurrentActor, body: UserBatch, dry_run: QueryBool = False
) -> UsersMade:
    """Create many users, or only check them. Each row has its own result; valid ones are created."""
    return await batch.create(_means(services), actor, body, dry_run=dry_run)


@router.post(
    "/users/purge",
    operation_id="users.purge_many",
    summary="Purge many users",
    openapi_extra=names("user.purge"),
)
async def purge_many(
    services: ServicesOf[Services], actor: RecentlyConfirmed, body: UsersPurge
) -> UsersPurged:
    """Permanently delete inactive users. Each has its own result."""
    purged = await purge.purge_many(services.database, services.clock, actor, body)
    services.authenticator.forget()
    return purged


@router.get("/users/{ref}", operation_id="users.show", summary="Get a user", openapi_extra=names("user.read"))
async def show(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> UserDetail:
    """One user."""
    async with services.database.transaction() as tx:
        user = await tenancy.user(tx, actor, ref)
        return await queries.detail(tx, actor, user.id)


@router.patch(
    "/users/{ref}", operation_id="users.update", summary="Update a user", openapi_extra=names("user.update")
)
async def update(
    request: Request, services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: UserUpdate
) -> UserDetail:
    """Update a user. Disabling signs them out everywhere immediately and rejects their keypairs."""
    if "role" in body.model_fields_set:
        await require_confirmed(request)
    async with services.database.transaction() as tx:
        user = await service.update(tx, services.clock, actor, ref, body)
        view = await queries.detail(tx, actor, user)
    services.authenticator.forget()
    return view


@router.post(
    "/users/{ref}/purge",
    operation_id="users.purge",
    summary="Purge a user",
    openapi_extra=names("user.purge"),
)
async def purge_one(
    services: ServicesOf[Services], actor: RecentlyConfirmed, ref: Ref, body: UserPurge
) -> UserPurged:
    """Permanently delete an inactive user; only the id stays, in the history of sessions."""
    async with services.database.transaction() as tx:
        purged = await purge.purge(
            tx,
            services.clock,
            actor,
            ref,
            confirm=body.confirm,
            sessions=body.sessions,
            folders=purge.FoldersChoice(body.folders_to, body.delete_folders),
        )
    services.authenticator.forget()
    return purged.view(ref)


def _means(services: Services) -> service.UserServices:
    return service.UserServices(services.database, services.clock, services.settings.effective_public_url)
