"""/auth: sign-in, sign-out and passwords. Second factors and sign-ins have their own routes."""

from datetime import timedelta
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from carrel.core.errors import Conflict, Unauthorized
from carrel.http.auth import (
    COOKIE,
    OWN_TOKEN,
    ByAddress,
    UnfinishedIdentity,
    client_address,
    finishing,
    identify,
    names,
)
from carrel.http.auth import set_cookie as carry
from carrel.http.services import Identity, ServicesOf
from carrel.permissions.actions import ACTIONS
from carrel.permissions.decide import widest
from carrel.permissions.roles import sees_everything
from carrel.signin.logins import one_time_links, passkeys, passwords, proofs, service, sign_up
from carrel.signin.logins.one_time_links import LinkMailer
from carrel.signin.logins.passkeys import site_of
from carrel.signin.logins.proofs import Evidence, ProofServices
from carrel.signin.logins.schemas import (
    ForgotRequest,
    LoginRequest,
    Me,
    PasskeyLogin,
    PasskeyOptions,
    PasswordChange,
    Proof,
    ResetRequest,
    SecondFactor,
    SignUpRequest,
    VerifyRequest,
)
from carrel.signin.logins.service import Client
from carrel.signin.logins.services import SignInServices
from carrel.site import service as site
from carrel.tenancy import service as tenancy
from carrel.tenancy.schemas import DomainRef, Preferences, ProjectMembership, UserProfile

router = APIRouter(tags=["auth"])

PasswordIdentity = Annotated[Identity, Depends(finishing("password"))]
EnrolIdentity = Annotated[Identity, Depends(finishing("enrol"))]


@router.post(
    "/auth/login",
    operation_id="auth.login",
    summary="Sign in with a password",
    openapi_extra=names("auth.login"),
    dependencies=[ByAddress],
)
async def login(
    request: Request, services: ServicesOf[SignInServices], response: Response, body: LoginRequest
) -> Me:
    """Sign in with a password; the returned cookie is the page's credential.

    `pending` names the sign-in step that is still required.
    """
    token = await service.sign_in(
        services.database,
        services.clock,
        email=body.email,
        password=body.password,
        client=client_of(request),
        elsewhere=services.elsewhere,
    )
    return await let_in(request, services, response, token)


@router.post(
    "/auth/passkey-options",
    operation_id="auth.passkey_options",
    summary="Get a passkey challenge for signing in",
    openapi_extra=names("auth.login"),
    dependencies=[ByAddress],
)
async def passkey_options(request: Request, services: ServicesOf[SignInServices]) -> PasskeyOptions:
    """The browser's options for using a passkey: any passkey for sign-in, or your own if you are signed in."""
    try:
        identity = await identify(request)
    except Unauthorized:  # not signed in, or with an ended sign-in
        identity = None
    async with services.database.transaction() as tx:
        options = await passkeys.challenge_to_use(
            tx,
            site_of(services.settings.effective_public_url),
            identity.actor.user_id if identity else None,
            services.clock.now(),
        )
    return PasskeyOptions(options=options)


@router.post(
    "/auth/passkey",
    operation_id="auth.passkey",
    summary="Sign in with a passkey",
    openapi_extra=names("auth.login"),
    dependencies=[ByAddress],
)
async def passkey(
    request: Request, services: ServicesOf[SignInServices], response: Response, body: PasskeyLogin
) -> Me:
    """Sign in with a passkey that verified you (by fingerprint, face or PIN)."""
    token = await proofs.sign_in_by_passkey(means_of(services), body.credential.plain(), client_of(request))
    return await let_in(request, services, response, token)


@router.post(
    "/auth/factor",
    operation_id="auth.factor",
    summary="Complete the second step of a sign-in",
    openapi_extra=names("auth.login"),
)
async def factor(
    request: Request,
    services: ServicesOf[SignInServices],
    response: Response,
    identity: UnfinishedIdentity,
    body: SecondFactor,
) -> Me:
    """Complete the second step of a sign-in, after `pending` was "factor"."""
    if identity.pending != "factor":
        raise Conflict("auth.no_second_step", "This sign-in has no pending second step.")
    token = await proofs.second_step(
        means_of(services), identity.actor, evidence_of(body), client_of(request)
    )
    return await let_in(request, services, response, token)


@router.get(
    "/auth/me", operation_id="auth.me", summary="Show the current user", openapi_extra=names("auth.me")
)
async def me(services: ServicesOf[SignInServices], identity: UnfinishedIdentity) -> Me:
    """The current user with projects and permissions."""
    return await describe(services, identity)


@router.post(
    "/auth/logout",
    operation_id="auth.logout",
    summary="Sign out",
    openapi_extra=names("auth.logout"),
    status_code=204,
)
async def logout(
    request: Request, services: ServicesOf[SignInServices], response: Response, identity: UnfinishedIdentity
) -> None:
    """Sign out this browser. With a keypair: no-op."""
    if token := getattr(request.state, OWN_TOKEN, None):
        await services.authenticator.sign_out(token, identity.actor)
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")


@router.post(
    "/auth/confirm",
    operation_id="auth.confirm",
    summary="Confirm your identity again",
    openapi_extra=names("auth.confirm"),
)
async def confirm(
    request: Request,
    services: ServicesOf[SignInServices],
    response: Response,
    identity: EnrolIdentity,
    body: Proof,
) -> Me:
    """Re-authenticate; actions that require it (`auth.confirm_needed`) are permitted for 15 minutes."""
    token = await proofs.confirm(means_of(services), identity.actor, evidence_of(body), client_of(request))
    return await let_in(request, services, response, token)


@router.post(
    "/auth/password",
    operation_id="password.update",
    summary="Change your password",
    openapi_extra=names("password.update"),
)
async def change_password(
    request: Request,
    services: ServicesOf[SignInServices],
    response: Response,
    identity: PasswordIdentity,
    body: PasswordChange,
) -> Me:
    """Change your password and sign out your other browsers."""
    token = await passwords.change(
        services.database,
        services.clock,
        identity.actor,
        current=body.current,
        new=body.new,
        client=client_of(request),
    )
    return await let_in(request, services, response, token) if token else await describe(services, identity)


@router.post(
    "/auth/forgot",
    operation_id="auth.forgot",
    summary="Request a password reset",
    openapi_extra=names("auth.recover"),
    dependencies=[ByAddress],
    status_code=202,
)
async def forgot(request: Request, services: ServicesOf[SignInServices], body: ForgotRequest) -> None:
    """Send a password reset link by e-mail. The response does not reveal whether the account exists."""
    post = post_of(request, services)
    post.mailer.soon(partial(one_time_links.mail_password_link, post, body.email))


@router.post(
    "/auth/reset",
    operation_id="auth.reset",
    summary="Set a new password with a reset link",
    openapi_extra=names("auth.recover"),
    dependencies=[ByAddress],
    status_code=204,
)
async def reset(request: Request, services: ServicesOf[SignInServices], body: ResetRequest) -> None:
    """Set a new password with a one-time link, and sign out everywhere."""
    await passwords.reset(
        services.database, services.clock, token=body.token, password=body.password, client=client_of(request)
    )
    services.authenticator.forget()


@router.post(
    "/auth/sign-up",
    operation_id="auth.sign_up",
    summary="Create your own account",
    openapi_extra=names("auth.sign_up"),
    dependencies=[ByAddress],
    status_code=202,
)
async def make_account(request: Request, services: ServicesOf[SignInServices], body: SignUpRequest) -> None:
    """Sign up for an account. The response does not reveal existing accounts."""
    await sign_up.sign_up(
        post_of(request, services),
        email=body.email,
        name=body.name,
        password=body.password,
        client=client_of(request),
    )


@router.post(
    "/auth/verify",
    operation_id="auth.verify",
    summary="Verify an e-mail address",
    openapi_extra=names("auth.sign_up"),
    dependencies=[ByAddress],
    status_code=204,
)
async def verify(request: Request, services: ServicesOf[SignInServices], body: VerifyRequest) -> None:
    """Verify your e-mail with the mailed link; then you can sign in."""
    async with services.database.transaction() as tx:
        await sign_up.verify(tx, services.clock, body.token, client_of(request))


@router.post(
    "/auth/verify-again",
    operation_id="auth.verify_again",
    summary="Resend the verification e-mail",
    openapi_extra=names("auth.sign_up"),
    dependencies=[ByAddress],
    status_code=202,
)
async def verify_again(request: Request, services: ServicesOf[SignInServices], body: ForgotRequest) -> None:
    """Send the verification mail again. The response does not reveal whether the account exists."""
    post = post_of(request, services)
    post.mailer.soon(partial(one_time_links.mail_verify_link, post, body.email))


def client_of(request: Request) -> Client:
    """The client of a request."""
    return Client(
        client_address(request), request.headers.get("user-agent", ""), request.cookies.get(COOKIE, "")
    )


def means_of(services: SignInServices) -> ProofServices:
    """The services for verifying the evidence of a request."""
    place = site_of(services.settings.effective_public_url)
    return ProofServices(services.database, services.clock, services.seal, place, services.elsewhere)


def post_of(request: Request, services: SignInServices) -> LinkMailer:
    """The services for sending mails for a request."""
    return LinkMailer(
        services.database,
        services.clock,
        services.mailer,
        services.settings.effective_public_url,
        request.headers.get("accept-language", ""),
    )


def evidence_of(body: SecondFactor) -> Evidence:
    """The evidence in a request body."""
    given: dict[str, Any] = {name: getattr(body, name) for name in type(body).model_fields}
    return Evidence(**{**given, "passkey": body.passkey.plain() if body.passkey else None})


async def set_cookie(request: Request, services: SignInServices, response: Response, token: str) -> None:
    """Set the sign-in cookie, and clear the credential cache."""
    services.authenticator.forget()
    async with services.database.transaction() as tx:
        settings = await site.settings(tx)
    carry(request, response, token, timedelta(hours=settings.login_lifetime_hours))


async def let_in(request: Request, services: SignInServices, response: Response, token: str) -> Me:
    """The response for a sign-in with this token."""
    await set_cookie(request, services, response, token)
    credential = await services.authenticator.by_cookie(token, client_address(request))
    assert credential is not None
    return await describe(services, credential)


async def describe(services: SignInServices, identity: Identity) -> Me:
    """The current user as the page needs it."""
    actor = identity.actor
    async with services.database.transaction() as tx:
        profile = await tenancy.profile(tx, actor.user_id)
        nodes_shown = (await site.settings(tx)).nodes_visible or sees_everything(actor)
    return Me(
        user=UserProfile(
            id=profile.user.id,
            email=profile.user.email,
            name=profile.user.name,
            role=profile.user.role,
            domain=DomainRef(id=profile.domain.id, name=profile.domain.name),
            preferences=Preferences.model_validate(profile.user.preferences),
        ),
        projects=[
            ProjectMembership(id=project.id, name=project.name, admin=membership.admin)
            for project, membership in profile.projects
        ],
        csrf_token=identity.csrf_token,
        pending=identity.pending,
        actions={
            name: scope.name.lower()
            for name in ACTIONS
            if (scope := widest(actor, name)) and (nodes_shown or name != "node.read")
        },
    )
