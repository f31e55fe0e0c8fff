"""/logins: active sign-ins of a user."""

from typing import Annotated

from fastapi import APIRouter, Query

from carrel.http.auth import CurrentActor, names
from carrel.http.services import ServicesOf
from carrel.signin.logins import browsers
from carrel.signin.logins.schemas import LoginList, LoginQuery, LoginsEnded, LoginView
from carrel.signin.logins.services import SignInServices
from carrel.signin.logins.user_agents import browser_of, system_of
from carrel.tenancy.schemas import UserRef

router = APIRouter(tags=["logins"])


@router.get("/logins", operation_id="logins.list", summary="List sign-ins", openapi_extra=names("login.read"))
async def list_logins(
    services: ServicesOf[SignInServices], actor: CurrentActor, query: Annotated[LoginQuery, Query()]
) -> LoginList:
    """Your sign-ins, or those of a user that you administer, most recently used first."""
    async with services.database.transaction() as tx:
        page = await browsers.list_of(tx, services.clock, actor, query)
    items = [
        LoginView(
            id=row.Login.public_id,
            user=UserRef(id=row.User.id, email=row.User.email),
            browser=browser_of(row.Login.device),
            system=system_of(row.Login.device),
            address=row.Login.address,
            method=row.Login.method,
            pending=row.Login.pending,
            created_at=row.Login.created_at,
            seen_at=row.Login.seen_at,
            expires_at=row.Login.expires_at,
            current=row.Login.id == actor.login_id,
        )
        for row in page.rows
    ]
    return LoginList(items=items, next_cursor=page.next_cursor)


@router.delete(
    "/logins/{login}",
    operation_id="logins.remove",
    summary="Revoke a sign-in",
    openapi_extra=names("login.remove"),
    status_code=204,
)
async def end_login(services: ServicesOf[SignInServices], actor: CurrentActor, login: str) -> None:
    """Sign out one browser."""
    async with services.database.transaction() as tx:
        await browsers.end(tx, actor, login)
    services.authenticator.forget()


@router.delete(
    "/logins",
    operation_id="logins.remove_all",
    summary="Revoke all sign-ins of a user",
    openapi_extra=names("login.remove"),
)
async def end_logins(
    services: ServicesOf[SignInServices],
    actor: CurrentActor,
    user: Annotated[str | None, Query(max_length=254)] = None,
) -> LoginsEnded:
    """Sign out a user everywhere, or yourself everywhere else."""
    async with services.database.transaction() as tx:
        ended = await browsers.end_everywhere(tx, actor, user)
    services.authenticator.forget()
    return LoginsEnded(ended=ended)
