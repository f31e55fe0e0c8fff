"""/keypairs, /tokens and /ssh-keys."""

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query
from sqlalchemy import Row

from carrel.http.auth import Confirmed, CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.signin.keypairs import service, ssh_certificates, ssh_keys, tokens
from carrel.signin.keypairs.schemas import (
    KeypairCreate,
    KeypairCreated,
    KeypairList,
    KeypairUpdate,
    KeypairView,
    SshCertificate,
    SshCertify,
    SshKeyAdd,
    SshKeyAdded,
    SshKeyList,
    SshKeyView,
    TokenCreate,
    TokenCreated,
    TokenList,
    TokenView,
)
from carrel.tables.keypairs import Keypair
from carrel.tables.tenancy import User
from carrel.tenancy.schemas import UserRef

router = APIRouter()


@router.get(
    "/keypairs",
    operation_id="keypairs.list",
    summary="List keypairs",
    openapi_extra=names("keypair.read"),
    tags=["keypairs"],
)
async def list_keypairs(
    services: ServicesOf[Services],
    actor: CurrentActor,
    owner: Annotated[
        str, Query(max_length=64, description="A user's id, me, or all that you administer.")
    ] = "me",
) -> KeypairList:
    """Keypairs, newest first; secrets are never shown again."""
    async with services.database.transaction() as tx:
        rows = await service.list_of(tx, actor, owner=owner)
    return KeypairList(items=[_view(row) for row in rows])


@router.post(
    "/keypairs",
    operation_id="keypairs.create",
    summary="Create a keypair",
    openapi_extra=names("keypair.create"),
    status_code=201,
    tags=["keypairs"],
    dependencies=[Confirmed],
)
async def create_keypair(
    services: ServicesOf[Services], actor: CurrentActor, body: KeypairCreate | None = None
) -> KeypairCreated:
    """Create a keypair. The secret is returned only once."""
    async with services.database.transaction() as tx:
        made = await service.create(tx, services.clock, actor, name=body.name if body else "")
    return KeypairCreated.model_validate(made, from_attributes=True)


@router.patch(
    "/keypairs/{access_key}",
    operation_id="keypairs.update",
    summary="Update a keypair",
    openapi_extra=names("keypair.update"),
    tags=["keypairs"],
)
async def update_keypair(
    services: ServicesOf[Services], actor: CurrentActor, access_key: str, body: KeypairUpdate
) -> KeypairView:
    """Rename, activate or deactivate a keypair; administrators also set its rate limit."""
    async with services.database.transaction() as tx:
        row = await service.update(tx, actor, access_key, body.model_dump(exclude_unset=True))
    services.authenticator.forget()
    return _view(row)


@router.post(
    "/keypairs/{access_key}/rotate",
    operation_id="keypairs.rotate",
    summary="Rotate the secret of a keypair",
    openapi_extra=names("keypair.rotate"),
    tags=["keypairs"],
    dependencies=[Confirmed],
)
async def rotate_keypair(
    services: ServicesOf[Services], actor: CurrentActor, access_key: str
) -> KeypairCreated:
    """Rotate the secret of a keypair; the old one stops working immediately."""
    async with services.database.transaction() as tx:
        made = await service.rotate(tx, services.clock, actor, access_key)
    services.authenticator.forget()
    return KeypairCreated.model_validate(made, from_attributes=True)


@router.delete(
    "/keypairs/{access_key}",
    operation_id="keypairs.remove",
    summary="Delete a keypair",
    openapi_extra=names("keypair.remove"),
    status_code=204,
    tags=["keypairs"],
)
async def remove_keypair(services: ServicesOf[Services], actor: CurrentActor, access_key: str) -> None:
    """Delete a keypair; it stops working immediately."""
    async with services.database.transaction() as tx:
        await service.remove(tx, actor, access_key)
    services.authenticator.forget()


@router.get(
    "/tokens",
    operation_id="tokens.list",
    summary="List personal tokens",
    openapi_extra=names("token.read"),
    tags=["tokens"],
)
async def list_tokens(services: ServicesOf[Services], actor: CurrentActor) -> TokenList:
    """Your personal tokens, newest first."""
    async with services.database.transaction() as tx:
        own = await tokens.list_own(tx, actor)
    return TokenList(items=[TokenView.model_validate(token, from_attributes=True) for token in own])


@router.post(
    "/tokens",
    operation_id="tokens.create",
    summary="Create a personal token",
    openapi_extra=names("token.create"),
    status_code=201,
    tags=["tokens"],
    dependencies=[Confirmed],
)
async def create_token(
    services: ServicesOf[Services], actor: CurrentActor, body: TokenCreate
) -> TokenCreated:
    """Create a personal token. It is returned only once."""
    async with services.database.transaction() as tx:
        made = await tokens.create(
            tx,
            services.clock,
            actor,
            name=body.name,
            scopes=body.scopes,
            lifetime=timedelta(days=body.expires_in_days) if body.expires_in_days else None,
        )
    shown = TokenView.model_validate(made.token, from_attributes=True)
    return TokenCreated(**shown.model_dump(), token=made.secret)


@router.delete(
    "/tokens/{token}",
    operation_id="tokens.remove",
    summary="Revoke a personal token",
    openapi_extra=names("token.remove"),
    status_code=204,
    tags=["tokens"],
)
async def remove_token(services: ServicesOf[Services], actor: CurrentActor, token: str) -> None:
    """Revoke a personal token by its id."""
    async with services.database.transaction() as tx:
        await tokens.remove(tx, actor, token)
    services.authenticator.forget()


@router.get(
    "/ssh-keys",
    operation_id="ssh_keys.list",
    summary="List SSH keys",
    openapi_extra=names("ssh_key.read"),
    tags=["ssh-keys"],
)
async def list_ssh_keys(services: ServicesOf[Services], actor: CurrentActor) -> SshKeyList:
    """Your SSH keys, newest first."""
    async with services.database.transaction() as tx:
        keys = await ssh_keys.list_own(tx, actor)
    return SshKeyList(items=[SshKeyView.model_validate(key, from_attributes=True) for key in keys])


@router.post(
    "/ssh-keys",
    operation_id="ssh_keys.add",
    summary="Add an SSH key",
    openapi_extra=names("ssh_key.update"),
    status_code=201,
    tags=["ssh-keys"],
)
async def add_ssh_key(services: ServicesOf[Services], actor: CurrentActor, body: SshKeyAdd) -> SshKeyAdded:
    """Add a public key, or generate a pair."""
    async with services.database.transaction() as tx:
        made = await ssh_keys.add(tx, services.clock, actor, name=body.name, public_key=body.public_key)
    shown = SshKeyView.model_validate(made.key, from_attributes=True)
    return SshKeyAdded(**shown.model_dump(), private_key=made.private_key)


@router.post(
    "/ssh-keys/certificate",
    operation_id="ssh_keys.certify",
    summary="Obtain an SSH certificate",
    openapi_extra=names("ssh_key.certify"),
    tags=["ssh-keys"],
)
async def certify_ssh_key(
    services: ServicesOf[Services], actor: CurrentActor, body: SshCertify
) -> SshCertificate:
    """Sign a public key for a while. It opens your sessions by SSH until then, or until the credential of this request
    ends.
    """
    async with services.database.transaction() as tx:
        made = await ssh_certificates.certify(
            tx,
            services.clock,
            services.seal,
            actor,
            public_key=body.public_key,
            lifetime=timedelta(minutes=body.minutes),
        )
    return SshCertificate(certificate=made.text, expires_at=made.expires_at)


@router.delete(
    "/ssh-keys/{key}",
    operation_id="ssh_keys.remove",
    summary="Delete an SSH key",
    openapi_extra=names("ssh_key.update"),
    status_code=204,
    tags=["ssh-keys"],
)
async def remove_ssh_key(services: ServicesOf[Services], actor: CurrentActor, key: str) -> None:
    """Delete one of your SSH keys."""
    async with services.database.transaction() as tx:
        await ssh_keys.remove(tx, actor, key)


def _view(row: Row[Keypair, User, Any]) -> KeypairView:
    keypair, owner, policy = row
    return KeypairView(
        access_key=keypair.access_key,
        name=keypair.name,
        owner=UserRef(id=owner.id, email=owner.email),
        active=keypair.active,
        rate_limit=keypair.rate_limit,
        policy=policy,
        created_at=keypair.created_at,
        rotated_at=keypair.rotated_at,
        last_used_at=keypair.last_used_at,
    )
