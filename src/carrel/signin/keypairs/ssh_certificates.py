"""SSH certificates of users: a public key, signed for minutes or hours, that names its user and the credential by which
they obtained it. The gateway looks both up at each connection, so that a certificate ends with them.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization.ssh import SSHCertificateBuilder, SSHCertificateType
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Invalid
from carrel.db.encryption import SecretBox
from carrel.permissions.decide import Actor
from carrel.signin.keypairs import ssh_identity, ssh_keys
from carrel.tables.keypairs import Keypair
from carrel.tables.logins import Login

_EARLIER = timedelta(minutes=1)
"""Tolerated difference between the clocks of two machines."""
_USER = "user:"


@dataclass(frozen=True)
class SignedKey:
    """A certificate. text: the line of a -cert.pub file."""

    text: str
    expires_at: datetime


async def certify(
    tx: AsyncSession, clock: Clock, box: SecretBox, actor: Actor, *, public_key: str, lifetime: timedelta
) -> SignedKey:
    """Sign the public key for the actor. Raises: Invalid; Forbidden for a credential that may not use sessions."""
    ssh_keys.require_sessions(actor, "ssh_key.certify")
    plain = ssh_keys.checked(public_key)
    key = serialization.load_ssh_public_key(plain.encode())
    if not isinstance(key, Ed25519PublicKey | EllipticCurvePublicKey | RSAPublicKey):
        raise Invalid(
            "ssh_key.not_certifiable",
            "Keys of this type cannot be certified.",
            hint="Use an Ed25519, ECDSA or RSA key, or register this one: carrel ssh-key add.",
            field="public_key",
        )
    now = clock.now()
    expires_at = (now + lifetime).replace(microsecond=0)
    builder = (
        SSHCertificateBuilder()
        .public_key(key)
        .serial(secrets.randbits(63))
        .type(SSHCertificateType.USER)
        .key_id(actor.email.encode())
        .valid_principals([(_USER + actor.user_id).encode(), (await credential_of(tx, actor)).encode()])
        .valid_after(int((now - _EARLIER).timestamp()))
        .valid_before(int(expires_at.timestamp()))
    )
    for extension in (b"permit-port-forwarding", b"permit-pty", b"permit-agent-forwarding"):
        builder = builder.add_extension(extension, b"")
    text = builder.sign(ssh_identity.authority(box)).public_bytes().decode()
    details = {"fingerprint": ssh_identity.fingerprint(plain), "expires_at": expires_at.isoformat()}
    audit.record(tx, actor, "ssh_key.certify", actor.user_id, name=actor.email, details=details)
    return SignedKey(text, expires_at)


async def credential_of(tx: AsyncSession, actor: Actor) -> str:
    """The actor's credential, with the sign-in that a cookie stands for: "login:<public id>".

    That of a keypair includes the start of its secret's hash, so that it ends when the secret is rotated.
    """
    if actor.login_id is None:
        kind, _, access_key = actor.credential.partition(":")
        if kind != "keypair":
            return actor.credential
        # not narrowed: the actor's own keypair
        keypair = await tx.execute(select(Keypair.secret_hash).where(Keypair.access_key == access_key))
        return f"{actor.credential}:{(keypair.scalar_one_or_none() or b'')[:8].hex()}"
    # not narrowed: the actor's own sign-in
    login = await tx.execute(select(Login.public_id).where(Login.id == actor.login_id))
    return f"login:{login.scalar_one_or_none() or ''}"


def named(principals: list[str]) -> tuple[str, str]:
    """The user's id and the credential of a certificate; both empty if it is not of this form."""
    users = [name.removeprefix(_USER) for name in principals if name.startswith(_USER)]
    others = [name for name in principals if not name.startswith(_USER)]
    return (users[0], others[0]) if len(users) == len(others) == 1 else ("", "")
