"""What the page must know before anybody has signed in."""

from fastapi import APIRouter
from pydantic import BaseModel

from carrel.http.auth import ByAddress, names
from carrel.http.services import Services, ServicesOf
from carrel.mail.letters import LANGUAGES
from carrel.signin.logins.passkeys import site_of
from carrel.signin.providers import queries
from carrel.signin.providers.schemas import OfferedProvider
from carrel.site import service as site

router = APIRouter(tags=["auth"])


class PasswordRulesView(BaseModel):
    """classes: minimum number of character classes: lowercase, uppercase, digits, others.

    history: number of previous passwords that cannot be reused.
    """

    min_length: int
    classes: int
    refuse_common: bool
    history: int


class SignUpView(BaseModel):
    """email_domains: permitted e-mail domains; empty: any. verification: whether the e-mail must be verified."""

    open: bool
    email_domains: list[str]
    verification: bool


class Greeting(BaseModel):
    """forgot_password: whether password reset links can be mailed. announcement: Markdown, or ""."""

    languages: list[str]
    password: PasswordRulesView
    sign_up: SignUpView
    forgot_password: bool
    passkeys: bool
    providers: list[OfferedProvider]
    announcement: str


@router.get(
    "/auth/greeting",
    operation_id="auth.greeting",
    summary="Show what the sign-in page needs",
    openapi_extra=names("server.greet"),
    dependencies=[ByAddress],
)
async def greeting(services: ServicesOf[Services]) -> Greeting:
    """What the sign-in page needs, without signing in."""
    async with services.database.transaction() as tx:
        settings = await site.settings(tx)
        providers = await queries.offered(tx)
    return Greeting(
        languages=list(LANGUAGES),
        password=PasswordRulesView(
            min_length=settings.password_min_length,
            classes=settings.password_classes,
            refuse_common=settings.password_refuse_common,
            history=settings.password_history,
        ),
        sign_up=SignUpView(
            open=settings.sign_up,
            email_domains=settings.sign_up_email_domains if settings.sign_up else [],
            verification=settings.sign_up_verification,
        ),
        forgot_password=settings.sends_mail,
        passkeys=site_of(services.settings.effective_public_url).takes_passkeys,
        providers=providers,
        announcement=settings.announcement,
    )
