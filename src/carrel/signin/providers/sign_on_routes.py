"""/auth/providers: redirects to an identity provider and back."""

import secrets
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from carrel.core.errors import CarrelError
from carrel.http.auth import ByAddress, names
from carrel.http.services import ServicesOf
from carrel.mail.letters import language_of
from carrel.signin.logins.routes import client_of, let_in, set_cookie
from carrel.signin.logins.schemas import Me
from carrel.signin.providers import sign_on
from carrel.signin.providers.handover import page
from carrel.signin.providers.schemas import CallbackQuery, Exchange, StartQuery
from carrel.signin.providers.services import ProviderServices
from carrel.signin.providers.sign_on import SignOnServices, SignOnState

router = APIRouter(tags=["auth"])
Name = Annotated[str, Path(max_length=64, description="The provider's name.")]
_COOKIES_BELOW = "/api/v1/auth/providers"


@router.get(
    "/auth/providers/{name}/start",
    operation_id="auth.providers_start",
    summary="Start a sign-in at an identity provider",
    openapi_extra=names("auth.login"),
    dependencies=[ByAddress],
    status_code=303,
    response_class=RedirectResponse,
)
async def start(
    request: Request,
    services: ServicesOf[ProviderServices],
    name: Name,
    query: Annotated[StartQuery, Query()],
) -> Response:
    """Redirect the browser to the provider for sign-in; for browsers, not for scripts."""
    browser = secrets.token_urlsafe(32)
    try:
        departure = await sign_on.start(sign_on_services_of(services), name, query, browser=browser)
    except CarrelError as error:
        return _go(sign_on.sign_in_page(error, name, sign_on.own_path(query.return_to)))
    response = _go(departure.url)
    response.set_cookie(
        _cookie(departure.state),
        browser,
        max_age=int(sign_on.STATE_LIFETIME.total_seconds()),
        path=_COOKIES_BELOW,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


@router.get(
    "/auth/providers/{name}/callback",
    operation_id="auth.providers_callback",
    summary="Return from an identity provider",
    openapi_extra=names("auth.login"),
    dependencies=[ByAddress],
    status_code=303,
    response_class=RedirectResponse,
    responses={
        200: {"description": "A confirmation page, if a command line waits", "content": {"text/html": {}}}
    },
)
async def callback(
    request: Request,
    services: ServicesOf[ProviderServices],
    name: Name,
    query: Annotated[CallbackQuery, Query()],
) -> Response:
    """Redirect target of the provider: signs the user in and continues to the page; for browsers."""
    sign_on_services, cookie = sign_on_services_of(services), _cookie(query.state)
    try:
        state = await sign_on.sign_on_state_of(
            sign_on_services, query.state, browser=request.cookies.get(cookie, "")
        )
    except CarrelError as error:
        return _go(sign_on.sign_in_page(error, name, "/"))
    try:
        response = await _arrive(request, services, sign_on_services, name, state, query)
    except CarrelError as error:
        response = _go(_back(error, name, state))
    response.delete_cookie(cookie, path=_COOKIES_BELOW, httponly=True, samesite="lax")
    return response


@router.post(
    "/auth/providers/exchange",
    operation_id="auth.providers_exchange",
    summary="Exchange a sign-in code of the command line",
    openapi_extra=names("auth.login"),
    dependencies=[ByAddress],
)
async def exchange(
    request: Request, services: ServicesOf[ProviderServices], response: Response, body: Exchange
) -> Me:
    """Sign a command line in with the code from its browser; `pending` as after a password."""
    client = client_of(request)
    token = await sign_on.take_over(
        sign_on_services_of(services), code=body.code, verifier=body.verifier, client=client
    )
    return await let_in(request, services, response, token)


def sign_on_services_of(services: ProviderServices) -> SignOnServices:
    """The sign-on services of a request."""
    return services.elsewhere.services


async def _arrive(
    request: Request,
    services: ProviderServices,
    sign_on_services: SignOnServices,
    name: str,
    state: SignOnState,
    query: CallbackQuery,
) -> Response:
    client = client_of(request)
    who = await sign_on.finish(sign_on_services, name, state, query, client)
    if state.waiting:
        code = await sign_on.hand_over(sign_on_services, who, state, state.waiting)
        language = language_of(request.headers.get("accept-language"))
        return HTMLResponse(page(language, email=who.email, waiting=state.waiting, code=code))
    response = _go(state.return_to)
    await set_cookie(request, services, response, await sign_on.let_in(sign_on_services, who, client))
    return response


def _back(error: CarrelError, name: str, state: SignOnState) -> str:
    if state.waiting:
        return f"http://127.0.0.1:{state.waiting.port}/?error={error.code}"
    return sign_on.sign_in_page(error, name, state.return_to)


def _go(address: str) -> RedirectResponse:
    return RedirectResponse(address, 303)


def _cookie(state: str) -> str:
    """One cookie per redirect, so that two tabs do not interfere."""
    return f"carrel_sso_{sign_on.mark_of(state)}"
