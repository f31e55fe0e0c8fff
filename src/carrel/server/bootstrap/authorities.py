"""Certificate authorities that this machine trusts in addition to the public ones.

Corporate proxies sign with a private authority. Sessions must trust it like this machine does, otherwise pip, curl and
git fail with certificate errors.
"""

import hashlib
import os
import re
import ssl
from collections.abc import Iterable, Iterator
from pathlib import Path

_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_BUNDLE_VARIABLES = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
)
_SYSTEM_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")
_OWN_FOLDERS = ("/usr/local/share/ca-certificates", "/etc/pki/ca-trust/source/anchors")
_PUBLIC_FOLDERS = ("/usr/share/ca-certificates",)


def extra_authorities() -> dict[str, bytes]:
    """File name -> PEM text, sorted, of every authority that is not part of Debian's ca-certificates.

    Shape: may be empty; each certificate once, named by its fingerprint, so that equal sets yield equal results.
    """
    public = {_fingerprint(pem) for folder in _PUBLIC_FOLDERS for pem in _in_folder(Path(folder))}
    authorities: dict[str, bytes] = {}
    for pem in _trusted_here():
        fingerprint = _fingerprint(pem)
        if fingerprint not in public:
            authorities.setdefault(f"{fingerprint[:16]}.crt", f"{pem}\n".encode())
    return dict(sorted(authorities.items()))


def _trusted_here() -> Iterator[str]:
    named = [os.environ.get(name, "") for name in _BUNDLE_VARIABLES]
    default = ssl.get_default_verify_paths().openssl_cafile
    yield from _in_files(Path(path) for path in dict.fromkeys([*named, default, *_SYSTEM_BUNDLES]) if path)
    for folder in _OWN_FOLDERS:
        yield from _in_folder(Path(folder))


def _in_folder(folder: Path) -> Iterator[str]:
    yield from _in_files(path for path in sorted(folder.rglob("*")) if path.suffix in (".crt", ".pem"))


def _in_files(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        try:
            text = path.read_text(errors="replace")
        except OSError:
            continue
        yield from _PEM.findall(text)


def _fingerprint(pem: str) -> str:
    """Fingerprint of the certificate itself, independent of line lengths and surrounding text."""
    try:
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()
    except ValueError:
        return hashlib.sha256(pem.encode()).hexdigest()
