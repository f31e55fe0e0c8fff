"""Secrets at rest, sealed with the installation's key, so that a copy of the database reveals none."""

import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from carrel.core.errors import Unavailable

_NONCE_BYTES = 12


class SecretUnreadable(Unavailable):
    """A secret was sealed with another key."""


class SecretBox:
    """AES-256-GCM. purpose: binds a secret to its use ("totp:<user>"); it opens only with the same purpose."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._cipher = AESGCM(self.derived(b"carrel seal 1"))

    def derived(self, purpose: bytes) -> bytes:
        """32 secret bytes for a purpose, always the same, so that they need not be stored."""
        return HKDF(SHA256(), 32, salt=None, info=purpose).derive(self._key)

    def close(self, secret: bytes, purpose: str) -> bytes:
        """The sealed secret: nonce, ciphertext and tag."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, secret, purpose.encode())

    def open(self, sealed: bytes, purpose: str) -> bytes:
        """The plain secret. Raises: SecretUnreadable."""
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], purpose.encode())
        except InvalidTag:
            raise SecretUnreadable(
                "seal.wrong_key",
                "A stored secret cannot be decrypted with this installation's key.",
                hint="Restore the file `key` of the data directory from the backup that has the database.",
            ) from None
