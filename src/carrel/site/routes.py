"""/site."""

from fastapi import APIRouter, Request

from carrel.http.auth import Confirmed, CurrentActor, names
from carrel.http.services import ServicesOf
from carrel.mail import letters
from carrel.permissions.decide import Target, require
from carrel.site import service
from carrel.site.mailer import Mailer
from carrel.site.schemas import SiteUpdate, SiteView, TestMail, TestMailResult
from carrel.site.services import MailServices

router = APIRouter(tags=["site"])


@router.get(
    "/site", operation_id="site.show", summary="Show installation settings", openapi_extra=names("site.read")
)
async def show(services: ServicesOf[MailServices], actor: CurrentActor) -> SiteView:
    """The settings of the installation."""
    async with services.database.transaction() as tx:
        return await service.show(tx, actor)


@router.patch(
    "/site",
    operation_id="site.update",
    summary="Update installation settings",
    openapi_extra=names("site.update"),
    dependencies=[Confirmed],
)
async def update(services: ServicesOf[MailServices], actor: CurrentActor, body: SiteUpdate) -> SiteView:
    """Update settings; omitted ones keep their values."""
    async with services.database.transaction() as tx:
        changed = await service.update(tx, services.seal, actor, body)
    services.authenticator.forget()
    return changed


@router.post(
    "/site/test-mail",
    operation_id="site.test_mail",
    summary="Send a test e-mail",
    openapi_extra=names("site.update"),
)
async def test_mail(
    request: Request, services: ServicesOf[MailServices], actor: CurrentActor, body: TestMail
) -> TestMailResult:
    """Send a test e-mail and return the mail server's response."""
    require(actor, "site.update", Target())
    mailer: Mailer = services.mailer
    language = letters.language_of(request.headers.get("accept-language"))
    error = await mailer.try_now(body.to, letters.test(language, link=services.settings.effective_public_url))
    return TestMailResult(sent=error is None, error=error)
