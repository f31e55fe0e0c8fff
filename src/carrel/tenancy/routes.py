"""/auth and /keypairs."""

from fastapi import APIRouter, Request, Response

from carrel.http.auth import COOKIE, CurrentActor, CurrentIdentity, client_address, names
from carrel.tenancy import service
from carrel.tenancy.schemas import (
    DomainRef,
    KeypairCreated,
    KeypairList,
    KeypairView,
    LoginRequest,
    Me,
    ProjectRef,
    UserProfile,
)

router = APIRouter()


@router.post("/auth/login", operation_id="auth.login", openapi_extra=names("auth.login"), tags=["auth"])
async def login(request: Request, response: Response, body: LoginRequest) -> Me:
    """Sign in; the cookie that comes back is the page's credential."""
    state = request.app.state
    address = client_address(request)
    token = await service.sign_in(
        state.database,
        state.clock,
        email=body.email,
        password=body.password,
        address=address,
        device=request.headers.get("user-agent", ""),
    )
    response.set_cookie(
        COOKIE,
        token,
        max_age=int(service.LOGIN_LIFETIME.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    credential = await state.authenticator.by_cookie(token, address)
    return await _me(request, credential)


@router.get("/auth/me", operation_id="auth.me", openapi_extra=names("auth.me"), tags=["auth"])
async def me(request: Request, identity: CurrentIdentity) -> Me:
    """Who you are, and your projects."""
    return await _me(request, identity)


@router.post(
    "/auth/logout",
    operation_id="auth.logout",
    openapi_extra=names("auth.logout"),
    status_code=204,
    tags=["auth"],
)
async def logout(request: Request, response: Response, actor: CurrentActor) -> None:
    """Sign this browser out. With a keypair: no-op."""
    if token := request.cookies.get(COOKIE):
        await request.app.state.authenticator.sign_out(token)
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")


@router.get("/keypairs", operation_id="keypairs.list", openapi_extra=names("keypair.read"), tags=["keypairs"])
async def list_keypairs(request: Request, actor: CurrentActor) -> KeypairList:
    """Your keypairs, newest first; secrets are never shown again."""
    async with request.app.state.database.transaction() as tx:
        keypairs = await service.list_keypairs(tx, actor)
    return KeypairList(items=[KeypairView.model_validate(k, from_attributes=True) for k in keypairs])


@router.post(
    "/keypairs",
    operation_id="keypairs.create",
    openapi_extra=names("keypair.create"),
    status_code=201,
    tags=["keypairs"],
)
async def create_keypair(request: Request, actor: CurrentActor) -> KeypairCreated:
    """Make a keypair. The secret is in this answer and nowhere else."""
    async with request.app.state.database.transaction() as tx:
        made = await service.create_keypair(tx, request.app.state.clock, actor)
    return KeypairCreated.model_validate(made, from_attributes=True)


@router.delete(
    "/keypairs/{access_key}",
    operation_id="keypairs.remove",
    openapi_extra=names("keypair.remove"),
    status_code=204,
    tags=["keypairs"],
)
async def remove_keypair(request: Request, actor: CurrentActor, access_key: str) -> None:
    """Remove a keypair of yours; what still uses it is refused from now on."""
    async with request.app.state.database.transaction() as tx:
        await service.remove_keypair(tx, actor, access_key)
    request.app.state.authenticator.forget()


async def _me(request: Request, identity: service.Credential | CurrentIdentity) -> Me:
    async with request.app.state.database.transaction() as tx:
        profile = await service.profile(tx, identity.actor.user_id)
    return Me(
        user=UserProfile(
            id=profile.user.id,
            email=profile.user.email,
            name=profile.user.name,
            role=profile.user.role,
            domain=DomainRef(id=profile.domain.id, name=profile.domain.name),
        ),
        projects=[ProjectRef(id=project_id, name=name) for project_id, name in profile.projects],
        csrf_token=identity.csrf_token,
    )
