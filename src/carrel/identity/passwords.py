"""Passwords: hashes (argon2id, with the parameters of RFC 9106's second recommendation) and rules."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_hasher = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4)
# A dummy hash with the same parameters; a constant, since computing one takes a while.
_UNKNOWN = "$argon2id$v=19$m=65536,t=3,p=4$yxQylHlyQCE60aliWm3oQg$pUKvC73Y217smb3Dw7QLimnxJwJng6GyT7KYbnd++UE"
_slots = asyncio.Semaphore(2)
_LONGEST_JUDGED = 20
"""zxcvbn tries every substitution of signs for letters: 20 characters take at most 0.2 s, 72 many seconds."""
_OWN_ADDITION = 6
"""Minimum number of characters besides the user's own name or e-mail."""
_GUESSABLE_BELOW = 2
"""Minimum zxcvbn score, 0 to 4: 2 means at least a million guesses."""


@dataclass(frozen=True)
class PasswordRules:
    """classes: required number of character classes: lower case, upper case, digits, others."""

    min_length: int
    classes: int
    refuse_common: bool


@dataclass(frozen=True)
class BrokenRule:
    """A violated rule. code: stable. sentence: for people."""

    code: str
    sentence: str


async def hash_password(password: str) -> str:
    """A salted hash to store."""
    return await asyncio.to_thread(_hasher.hash, password)


async def password_matches(stored: str | None, password: str) -> bool:
    """True if the password matches. Without a stored hash it takes the same time and returns False, to prevent timing
    attacks.

    At most two run concurrently: each needs 64 MiB and a core for some tens of milliseconds.
    """
    async with _slots:
        return await asyncio.to_thread(_matches, stored, password)


def needs_rehash(stored: str) -> bool:
    """True if the hash was computed with outdated parameters."""
    return _hasher.check_needs_rehash(stored)


async def broken_rules(
    password: str, rules: PasswordRules, *, personal: Sequence[str] = ()
) -> list[BrokenRule]:
    """All rules that the password violates, in a stable order; empty if it is acceptable.

    personal: words that are easy to guess for this user, such as their e-mail and name.
    """
    broken = []
    if len(password) < rules.min_length:
        broken.append(
            BrokenRule(
                "password.too_short", f"The password must have at least {rules.min_length} characters."
            )
        )
    if _classes(password) < rules.classes:
        broken.append(
            BrokenRule(
                "password.too_plain",
                f"The password must have at least {rules.classes} of these: lower-case letters, upper-case letters, "
                "digits, other characters.",
            )
        )
    if rules.refuse_common and await asyncio.to_thread(_guessable, password, personal):
        broken.append(
            BrokenRule(
                "password.too_common",
                "The password is easy to guess: it is common, or similar to your name or e-mail.",
            )
        )
    return broken


def _classes(password: str) -> int:
    kinds = (str.islower, str.isupper, str.isdigit, lambda c: not (c.islower() or c.isupper() or c.isdigit()))
    return sum(any(map(kind, password)) for kind in kinds)


def _guessable(password: str, personal: Sequence[str]) -> bool:
    if not password:  # zxcvbn rejects empty passwords
        return True
    lowered = password.lower()
    if any(text.lower() in lowered and len(lowered) - len(text) < _OWN_ADDITION for text in personal if text):
        return True
    from zxcvbn import zxcvbn  # 12 MiB of word lists, which many installations never need

    words = [part for text in personal for part in re.split(r"[\s@.]+", text)]
    return bool(zxcvbn(password[:_LONGEST_JUDGED], user_inputs=words)["score"] < _GUESSABLE_BELOW)


def _matches(stored: str | None, password: str) -> bool:
    try:
        return _hasher.verify(stored or _UNKNOWN, password) and stored is not None
    except (VerificationError, InvalidHashError):
        return False
