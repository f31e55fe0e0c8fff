"""The installation's own SSH keys: of the host that people connect to, and of the authority that signs certificates.

Both are derived from the installation's key: the same in all copies and after a restore, and stored nowhere.
"""

import base64
import hashlib

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from carrel.db.encryption import SecretBox


def host_key(box: SecretBox) -> Ed25519PrivateKey:
    """The key by which clients recognize the SSH gateway."""
    return Ed25519PrivateKey.from_private_bytes(box.derived(b"carrel ssh host 1"))


def authority(box: SecretBox) -> Ed25519PrivateKey:
    """The key that signs certificates of users."""
    return Ed25519PrivateKey.from_private_bytes(box.derived(b"carrel ssh authority 1"))


def private_text(key: Ed25519PrivateKey) -> bytes:
    """In the format of OpenSSH, without a passphrase."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())


def public_line(key: Ed25519PrivateKey) -> str:
    """Type and key, as in authorized_keys."""
    return key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def fingerprint(public_key: str) -> str:
    """SHA256:..., as `ssh-keygen -l` prints it. public_key: type and key."""
    digest = hashlib.sha256(base64.b64decode(public_key.split()[1])).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")
