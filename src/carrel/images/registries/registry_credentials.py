"""What registries are signed in to with: their secret, or a password that is renewed by it (`ecr_tokens`)."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import RegistryId
from carrel.db.database import notify
from carrel.db.encryption import SecretBox
from carrel.images.registries import ecr_tokens
from carrel.images.registries.ecr_tokens import EcrPassword
from carrel.tables.registries import PASSWORDS_TOPIC, ImageRegistry


def set_secret(seal: SecretBox, registry: ImageRegistry, secret: str) -> None:
    """Seal and keep it; "": remove it."""
    registry.secret = seal.close(secret.encode(), _purpose(registry.id)) if secret else None


def secret_of(seal: SecretBox, registry: ImageRegistry) -> str:
    """The secret; "" if there is none. Raises: SecretUnreadable."""
    return seal.open(registry.secret, _purpose(registry.id)).decode() if registry.secret else ""


def credentials(seal: SecretBox, registry: ImageRegistry) -> tuple[str, str]:
    """User name and password; an empty password if there is none, or none yet. Raises: SecretUnreadable."""
    if not ecr_tokens.is_renewed(registry):
        return registry.username, secret_of(seal, registry)
    if registry.password is None:
        return ecr_tokens.USERNAME, ""
    return ecr_tokens.USERNAME, seal.open(registry.password, _purpose_of_password(registry.id)).decode()


async def begin(tx: AsyncSession, registry: ImageRegistry, now: datetime) -> None:
    """Forget the password of other settings, and have it renewed now if it is renewed."""
    registry.password = registry.password_until = registry.password_problem = None
    registry.password_due = now if ecr_tokens.is_renewed(registry) else None
    if registry.password_due:
        await notify(tx, PASSWORDS_TOPIC)


async def again(tx: AsyncSession, registry: ImageRegistry, now: datetime) -> None:
    """Try a renewal that failed again now. Otherwise: no-op."""
    if registry.password_problem:
        registry.password_due = now
        await notify(tx, PASSWORDS_TOPIC)


async def due(tx: AsyncSession, now: datetime) -> Sequence[ImageRegistry]:
    """Those whose password is to be renewed; changes to them are not stored."""
    rows = (await tx.execute(select(ImageRegistry).where(ImageRegistry.password_due <= now))).scalars().all()
    for row in rows:
        tx.expunge(row)
    return rows


async def store(
    tx: AsyncSession, seal: SecretBox, registry: ImageRegistry, password: EcrPassword, now: datetime
) -> None:
    """Keep a renewed password, unless the keys were changed meanwhile."""
    if row := await _unchanged(tx, registry):
        row.password = seal.close(password.text.encode(), _purpose_of_password(row.id))
        row.password_until, row.password_due = password.until, password.renewed_at(now)
        row.password_problem = None


async def fail(tx: AsyncSession, registry: ImageRegistry, problem: str, due: datetime, now: datetime) -> None:
    """Keep why there is no newer one, and when to try again. One that has expired is forgotten."""
    if row := await _unchanged(tx, registry):
        row.password_problem, row.password_due = problem, due
        if row.password_until and row.password_until <= now:
            row.password = row.password_until = None


async def _unchanged(tx: AsyncSession, registry: ImageRegistry) -> ImageRegistry | None:
    row = await tx.get(ImageRegistry, registry.id, with_for_update=True)
    if row is None or (row.url, row.username, row.secret) != (
        registry.url,
        registry.username,
        registry.secret,
    ):
        return None
    return row


def _purpose(registry: RegistryId) -> str:
    """What the secret of a registry is sealed for."""
    return f"registry:{registry}"


def _purpose_of_password(registry: RegistryId) -> str:
    return f"registry-password:{registry}"
