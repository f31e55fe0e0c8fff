"""Use cases of users' public SSH keys."""

from dataclasses import dataclass

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Invalid, NotFound
from carrel.core.ids import new_id
from carrel.permissions.decide import Actor, refusal, within
from carrel.signin.keypairs import ssh_identity
from carrel.tables.keypairs import SshKey

MAX_KEYS = 50
_MIN_RSA_BITS = 2048


@dataclass(frozen=True)
class NewSshKey:
    """private_key: in OpenSSH format, shown only once and not stored; None for an uploaded key."""

    key: SshKey
    private_key: str | None


async def add(
    tx: AsyncSession, clock: Clock, actor: Actor, *, name: str, public_key: str | None
) -> NewSshKey:
    """Add a public key; without one, generate an Ed25519 pair.

    Raises: Invalid for an invalid or weak key; Conflict for a duplicate or too many keys; Forbidden for a credential
    that may not use sessions.
    """
    require_sessions(actor, "ssh_key.update")
    private_key = None
    if public_key is None:
        made = Ed25519PrivateKey.generate()
        private_key = made.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
        ).decode()
        public_key = (
            made.public_key()
            .public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
            .decode()
        )
    plain = checked(public_key)
    fingerprint = ssh_identity.fingerprint(plain)
    await _require_room(tx, actor, fingerprint)
    key = SshKey(
        id=new_id(),
        user_id=actor.user_id,
        name=name,
        public_key=plain,
        fingerprint=fingerprint,
        created_at=clock.now(),
    )
    tx.add(key)
    audit.record(
        tx, actor, "ssh_key.update", key.id, name=name, details={"after": {"fingerprint": fingerprint}}
    )
    return NewSshKey(key, private_key)


async def list_own(tx: AsyncSession, actor: Actor) -> list[SshKey]:
    """The actor's keys, newest first."""
    own = select(SshKey).where(SshKey.user_id == actor.user_id)
    return list((await tx.execute(own.order_by(SshKey.created_at.desc(), SshKey.id))).scalars())


async def remove(tx: AsyncSession, actor: Actor, key: str) -> None:
    """Delete one of the actor's keys. Raises: NotFound."""
    gone = await tx.execute(
        delete(SshKey).where(SshKey.id == key, SshKey.user_id == actor.user_id).returning(SshKey.fingerprint)
    )
    fingerprint = gone.scalar_one_or_none()
    if fingerprint is None:
        raise NotFound("ssh_key.not_found", f"You have no SSH key {key}.", hint="See `carrel ssh-key ls`.")
    audit.record(tx, actor, "ssh_key.update", key, details={"before": {"fingerprint": fingerprint}})


async def _require_room(tx: AsyncSession, actor: Actor, fingerprint: str) -> None:
    own = select(SshKey).where(SshKey.user_id == actor.user_id)
    held = (await tx.execute(select(func.count()).select_from(own.subquery()))).scalar_one()
    if held >= MAX_KEYS:
        raise Conflict(
            "ssh_key.too_many", f"The limit is {MAX_KEYS} SSH keys per user.", hint="Remove one first."
        )
    if (await tx.execute(own.where(SshKey.fingerprint == fingerprint))).first():
        raise Conflict("ssh_key.known", "You already have this SSH key.", field="public_key")


def require_sessions(actor: Actor, action: str) -> None:
    """A key opens sessions, so a credential that may not must not obtain one. Raises: Forbidden."""
    if not within(actor.scopes, "session.exec"):
        raise refusal(actor, "session.exec" if within(actor.scopes, action) else action)


def checked(public_key: str) -> str:
    """Type and key without the comment. Raises: Invalid."""
    try:
        key = serialization.load_ssh_public_key(public_key.strip().encode())
    except (ValueError, UnsupportedAlgorithm):
        raise Invalid(
            "ssh_key.invalid",
            "This is not a public SSH key.",
            hint="Paste the one line of a file such as ~/.ssh/id_ed25519.pub.",
            field="public_key",
        ) from None
    if isinstance(key, RSAPublicKey) and key.key_size < _MIN_RSA_BITS:
        raise Invalid(
            "ssh_key.weak",
            f"RSA keys need at least {_MIN_RSA_BITS} bits; this one has {key.key_size}.",
            hint="Create another one: ssh-keygen -t ed25519.",
            field="public_key",
        )
    return " ".join(public_key.split()[:2])
