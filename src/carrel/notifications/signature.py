"""Signatures of webhook deliveries. Source: Standard Webhooks 1.0, symmetric signatures."""

import hashlib
import hmac
import secrets
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Iterable

PREFIX = "whsec_"
_KEY_BYTES = range(24, 65)


def new_secret() -> str:
    """A random secret, as receivers configure it."""
    return PREFIX + b64encode(secrets.token_bytes(32)).decode()


def is_secret(secret: str) -> bool:
    """True for "whsec_" and 24 to 64 bytes in Base64."""
    try:
        return secret.startswith(PREFIX) and len(_key(secret)) in _KEY_BYTES
    except (Error, ValueError):
        return False


def headers(secrets: Iterable[str], message_id: str, at_s: int, body: bytes) -> dict[str, str]:
    """The headers of one attempt, with a signature by each secret. at_s: time of the attempt, in seconds since 1970."""
    signed = f"{message_id}.{at_s}.".encode() + body
    digests = [hmac.new(_key(secret), signed, hashlib.sha256).digest() for secret in secrets]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at_s),
        "webhook-signature": " ".join(f"v1,{b64encode(digest).decode()}" for digest in digests),
    }


def _key(secret: str) -> bytes:
    return b64decode(secret.removeprefix(PREFIX), validate=True)
