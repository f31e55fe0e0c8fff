"""Passwords: their hashes (argon2id, with the parameters of RFC 9106's second recommendation) and their rules."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_hasher = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4)
# The hash of nobody's password, with the same parameters; written out, since making one takes a while.
_UNKNOWN = "$argon2id$v=19$m=65536,t=3,p=4$yxQylHlyQCE60aliWm3oQg$pUKvC73Y217smb3Dw7QLimnxJwJng6GyT7KYbnd++UE"
_slots = asyncio.Semaphore(2)
_LONGEST_JUDGED = 20
"""The judge tries every way to read signs as letters: with 20 it takes 0.2 s at worst, with 72 many seconds."""
_OWN_ADDITION = 6
"""Characters that must stand beside one's own name or e-mail, at least."""
_GUESSABLE_BELOW = 2
"""Of the judge's scores from 0 to 4: 2 stands for a million guesses at least."""


@dataclass(frozen=True)
class PasswordRules:
    """classes: how many of small letters, capital letters, digits and other characters there must be."""

    min_length: int
    classes: int
    refuse_common: bool


@dataclass(frozen=True)
class Broken:
    """A rule that a password breaks. code: stable. sentence: for the person."""

    code: str
    sentence: str


async def hash_password(password: str) -> str:
    """A salted hash to store."""
    return await asyncio.to_thread(_hasher.hash, password)


async def password_matches(stored: str | None, password: str) -> bool:
    """True when it does. Without a stored hash it takes as long and says False, so that time tells nothing.

    At most two at once: each needs 64 MiB and a core for some tens of milliseconds.
    """
    async with _slots:
        return await asyncio.to_thread(_matches, stored, password)


def needs_rehash(stored: str) -> bool:
    """True when the hash was made with other parameters than today's."""
    return _hasher.check_needs_rehash(stored)


async def broken_rules(password: str, rules: PasswordRules, *, personal: Sequence[str] = ()) -> list[Broken]:
    """Every rule that the password breaks, in a stable order; empty: it may be used.

    personal: words that are easy to guess for this person, such as their e-mail and name.
    """
    broken = []
    if len(password) < rules.min_length:
        broken.append(
            Broken("password.too_short", f"The password must have at least {rules.min_length} characters.")
        )
    if _classes(password) < rules.classes:
        broken.append(
            Broken(
                "password.too_plain",
                f"The password must have at least {rules.classes} of these: small letters, capital letters, "
                "digits, other characters.",
            )
        )
    if rules.refuse_common and await asyncio.to_thread(_guessable, password, personal):
        broken.append(
            Broken(
                "password.too_common",
                "The password is easy to guess: it is well known, or like your name or e-mail.",
            )
        )
    return broken


def _classes(password: str) -> int:
    kinds = (str.islower, str.isupper, str.isdigit, lambda c: not (c.islower() or c.isupper() or c.isdigit()))
    return sum(any(map(kind, password)) for kind in kinds)


def _guessable(password: str, personal: Sequence[str]) -> bool:
    if not password:  # the judge knows no empty ones
        return True
    lowered = password.lower()
    if any(text.lower() in lowered and len(lowered) - len(text) < _OWN_ADDITION for text in personal if text):
        return True
    from zxcvbn import zxcvbn  # 12 MiB of words, which many an installation never asks for

    words = [part for text in personal for part in re.split(r"[\s@.]+", text)]
    return bool(zxcvbn(password[:_LONGEST_JUDGED], user_inputs=words)["score"] < _GUESSABLE_BELOW)


def _matches(stored: str | None, password: str) -> bool:
    try:
        return _hasher.verify(stored or _UNKNOWN, password) and stored is not None
    except (VerificationError, InvalidHashError):
        return False
