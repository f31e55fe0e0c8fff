"""/factors: own second factors, and their reset by administrators."""

from fastapi import APIRouter, Request, Response

from carrel.http.auth import Confirmed, CurrentActor, RecentlyConfirmed, names
from carrel.http.services import Identity, ServicesOf
from carrel.signin.logins import factors, one_time_links, passkeys, service, target_user
from carrel.signin.logins.passkeys import site_of
from carrel.signin.logins.routes import EnrolIdentity, let_in
from carrel.signin.logins.schemas import (
    FactorAdded,
    FactorsView,
    PasskeyAdded,
    PasskeyCreate,
    PasskeyOptions,
    PasskeyUpdate,
    PasskeyView,
    RecoveryCodes,
    RecoveryLink,
    TotpConfirm,
    TotpOffer,
)
from carrel.signin.logins.services import SignInServices
from carrel.site import service as site
from carrel.tables.logins import Passkey
from carrel.tenancy import service as tenancy

router = APIRouter(tags=["factors"])


@router.get(
    "/factors",
    operation_id="factors.show",
    summary="Show your two-factor authentication",
    openapi_extra=names("factor.read"),
)
async def show(services: ServicesOf[SignInServices], identity: EnrolIdentity) -> FactorsView:
    """Your second factors."""
    async with services.database.transaction() as tx:
        own = await factors.show(tx, identity.actor.user_id)
        profile = await tenancy.profile(tx, identity.actor.user_id)
        required = service.must_have_factor(await site.settings(tx), profile.user)
    return FactorsView(
        totp_since=own.totp_since,
        passkeys=[view(key) for key in own.passkeys],
        recovery_codes_left=own.recovery_codes_left,
        required=required,
        passkeys_possible=site_of(services.settings.effective_public_url).takes_passkeys,
    )


@router.post(
    "/factors/totp",
    operation_id="totp.create",
    summary="Set up an authenticator app",
    openapi_extra=names("factor.update"),
    dependencies=[Confirmed],
)
async def offer_totp(services: ServicesOf[SignInServices], identity: EnrolIdentity) -> TotpOffer:
    """Create a secret for an authenticator app; it is active after you confirm it with a code."""
    async with services.database.transaction() as tx:
        offer = await factors.offer_totp(tx, services.seal, identity.actor)
    return TotpOffer.model_validate(offer, from_attributes=True)


@router.post(
    "/factors/totp/confirm",
    operation_id="totp.confirm",
    summary="Confirm an authenticator app",
    openapi_extra=names("factor.update"),
    dependencies=[Confirmed],
)
async def confirm_totp(
    request: Request,
    services: ServicesOf[SignInServices],
    response: Response,
    identity: EnrolIdentity,
    body: TotpConfirm,
) -> FactorAdded:
    """Activate the authenticator app."""
    async with services.database.transaction() as tx:
        codes = await factors.confirm_totp(tx, services.seal, identity.actor, body.code, services.clock.now())
    return FactorAdded(
        recovery_codes=codes, csrf_token=await _completed(request, services, response, identity)
    )


@router.delete(
    "/factors/totp",
    operation_id="totp.remove",
    summary="Remove your authenticator app",
    openapi_extra=names("factor.update"),
    status_code=204,
)
async def remove_totp(services: ServicesOf[SignInServices], actor: RecentlyConfirmed) -> None:
    """Remove your authenticator app."""
    async with services.database.transaction() as tx:
        await factors.remove_totp(tx, actor)
    services.authenticator.forget()


@router.post(
    "/factors/recovery-codes",
    operation_id="recovery_codes.create",
    summary="Generate new recovery codes",
    openapi_extra=names("factor.update"),
)
async def renew_recovery_codes(
    services: ServicesOf[SignInServices], actor: RecentlyConfirmed
) -> RecoveryCodes:
    """Generate new recovery codes; the old ones stop working."""
    async with services.database.transaction() as tx:
        return RecoveryCodes(recovery_codes=await factors.renew_recovery_codes(tx, actor))


@router.post(
    "/factors/passkeys/options",
    operation_id="passkeys.options",
    summary="Get a challenge for a new passkey",
    openapi_extra=names("factor.update"),
    dependencies=[Confirmed],
)
async def passkey_options(services: ServicesOf[SignInServices], identity: EnrolIdentity) -> PasskeyOptions:
    """The browser's options for creating a passkey."""
    here = site_of(services.settings.effective_public_url)
    async with services.database.transaction() as tx:
        options = await passkeys.challenge_to_add(tx, here, identity.actor, services.clock.now())
    return PasskeyOptions(options=options)


@router.post(
    "/factors/passkeys",
    operation_id="passkeys.create",
    summary="Register a passkey",
    openapi_extra=names("factor.update"),
    status_code=201,
    dependencies=[Confirmed],
)
async def add_passkey(
    request: Request,
    services: ServicesOf[SignInServices],
    response: Response,
    identity: EnrolIdentity,
    body: PasskeyCreate,
) -> PasskeyAdded:
    """Register a passkey created by the browser."""
    here = site_of(services.settings.effective_public_url)
    async with services.database.transaction() as tx:
        made, codes = await passkeys.add(
            tx, here, identity.actor, services.clock.now(), name=body.name, credential=body.credential.plain()
        )
    token = await _completed(request, services, response, identity)
    return PasskeyAdded(passkey=view(made), recovery_codes=codes, csrf_token=token)


@router.patch(
    "/factors/passkeys/{passkey}",
    operation_id="passkeys.rename",
    summary="Rename a passkey",
    openapi_extra=names("factor.update"),
)
async def rename_passkey(
    services: ServicesOf[SignInServices], actor: CurrentActor, passkey: str, body: PasskeyUpdate
) -> PasskeyView:
    """Rename a passkey."""
    async with services.database.transaction() as tx:
        return view(await passkeys.rename(tx, actor, passkey, body.name))


@router.delete(
    "/factors/passkeys/{passkey}",
    operation_id="passkeys.remove",
    summary="Delete a passkey",
    openapi_extra=names("factor.update"),
    status_code=204,
)
async def remove_passkey(
    services: ServicesOf[SignInServices], actor: RecentlyConfirmed, passkey: str
) -> None:
    """Remove a passkey."""
    async with services.database.transaction() as tx:
        await passkeys.remove(tx, actor, passkey)
    services.authenticator.forget()


@router.delete(
    "/users/{ref}/factors",
    operation_id="factors.reset",
    summary="Reset the two-factor authentication of a user",
    openapi_extra=names("factor.reset"),
    status_code=204,
)
async def reset(services: ServicesOf[SignInServices], actor: RecentlyConfirmed, ref: str) -> None:
    """Remove all second factors of a user who lost them, and sign them out everywhere."""
    async with services.database.transaction() as tx:
        user = await target_user.find(tx, actor, "factor.reset", ref)
        await factors.reset(tx, actor, user)
        await service.end_all(tx, user.id, but=actor.login_id)
    services.authenticator.forget()


@router.post(
    "/users/{ref}/recover",
    operation_id="users.recover",
    summary="Create a password reset link for a user",
    openapi_extra=names("user.recover"),
)
async def recover(services: ServicesOf[SignInServices], actor: RecentlyConfirmed, ref: str) -> RecoveryLink:
    """Create a one-time link, valid for a day, with which a user sets a new password."""
    async with services.database.transaction() as tx:
        link = await one_time_links.recover(
            tx, services.clock, actor, ref, public_url=services.settings.effective_public_url
        )
    return RecoveryLink.model_validate(link, from_attributes=True)


def view(key: Passkey) -> PasskeyView:
    return PasskeyView(
        id=passkeys.shown_id(key), name=key.name, created_at=key.created_at, last_used_at=key.last_used_at
    )


async def _completed(
    request: Request, services: SignInServices, response: Response, identity: Identity
) -> str | None:
    """The response, with a new token if a sign-in was waiting for this factor."""
    login_id = identity.actor.login_id
    services.authenticator.forget()
    if identity.pending is None or login_id is None:
        return identity.csrf_token
    async with services.database.transaction() as tx:
        token = await service.renew(tx, await site.settings(tx), login_id, services.clock.now())
    return (await let_in(request, services, response, token)).csrf_token
