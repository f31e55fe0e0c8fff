"""/auth."""

from fastapi import APIRouter, Request, Response

from carrel.http.auth import COOKIE, CurrentIdentity, Identity, client_address, names
from carrel.logins import service
from carrel.logins.schemas import LoginRequest, Me, ProjectMembership
from carrel.policy.actions import ACTIONS
from carrel.policy.decide import widest
from carrel.tenancy import service as tenancy
from carrel.tenancy.schemas import DomainRef, UserProfile

router = APIRouter(tags=["auth"])


@router.post("/auth/login", operation_id="auth.login", openapi_extra=names("auth.login"))
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
    return await describe(request, credential)


@router.get("/auth/me", operation_id="auth.me", openapi_extra=names("auth.me"))
async def me(request: Request, identity: CurrentIdentity) -> Me:
    """Who you are, your projects, and what you may do."""
    return await describe(request, identity)


@router.post(
    "/auth/logout", operation_id="auth.logout", openapi_extra=names("auth.logout"), status_code=204
)
async def logout(request: Request, response: Response, identity: CurrentIdentity) -> None:
    """Sign this browser out. With a keypair: no-op."""
    if token := request.cookies.get(COOKIE):
        await request.app.state.authenticator.sign_out(token)
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")


async def describe(request: Request, identity: Identity) -> Me:
    """What the page must know of who is signed in."""
    actor = identity.actor
    async with request.app.state.database.transaction() as tx:
        profile = await tenancy.profile(tx, actor.user_id)
    return Me(
        user=UserProfile(
            id=profile.user.id,
            email=profile.user.email,
            name=profile.user.name,
            role=profile.user.role,
            domain=DomainRef(id=profile.domain.id, name=profile.domain.name),
        ),
        projects=[
            ProjectMembership(id=project.id, name=project.name, admin=membership.admin)
            for project, membership in profile.projects
        ],
        csrf_token=identity.csrf_token,
        pending=identity.pending,
        actions={name: scope.name.lower() for name in ACTIONS if (scope := widest(actor, name))},
    )
