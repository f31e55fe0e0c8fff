"""Password hashes: argon2id, with the parameters of RFC 9106's second recommendation."""

import asyncio

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_hasher = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4)
# The hash of nobody's password, with the same parameters; written out, since making one takes a while.
_UNKNOWN = (
    "$argon2id$v=19$m=65536,t=3,p=4$yxQylHlyQCE60aliWm3oQg"
    "$pUKvC73Y217smb3Dw7QLimnxJwJng6GyT7KYbnd++UE"
)
_slots = asyncio.Semaphore(2)


async def hash_password(password: str) -> str:
    """A salted hash to store."""
    return await asyncio.to_thread(_hasher.hash, password)


async def password_matches(stored: str | None, password: str) -> bool:
    """True when it does. Without a stored hash it takes as long and says False, so that time tells nothing.

    At most two at once: each needs 64 MiB and a core for some tens of milliseconds.
    """
    async with _slots:
        return await asyncio.to_thread(_matches, stored, password)


def _matches(stored: str | None, password: str) -> bool:
    try:
        return _hasher.verify(stored or _UNKNOWN, password) and stored is not None
    except (VerificationError, InvalidHashError):
        return False
