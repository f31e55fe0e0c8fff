"""The operator's certificate and key: validation before start, and the names that it covers."""

import ssl
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.x509.oid import ExtensionOID

from carrel.core.errors import Invalid
from carrel.http.tls import context

_OPEN_TO_ALL = 0o007


class Certificate(NamedTuple):
    """names: hosts and addresses that it covers, such as "*.apps.example.org"."""

    names: tuple[str, ...]
    not_before: datetime
    not_after: datetime

    def covers(self, host: str) -> bool:
        """True if it covers the host, by the rules of browsers: a "*" matches one label."""
        wildcard = f"*.{host.partition('.')[2]}"
        return any(name.lower() in (host.lower(), wildcard.lower()) for name in self.names)


def require(certificate: str, key: str, *, now: datetime) -> Certificate:
    """The certificate, if both files are usable now. Raises: Invalid."""
    if not (certificate and key):
        missing = "--tls-key" if certificate else "--tls-cert"
        raise _refused(
            "A certificate needs its key, and a key its certificate.",
            f"Specify {missing} too, or --no-tls for plain HTTP.",
        )
    for path in (certificate, key):
        try:
            Path(path).open("rb").close()
        except OSError as error:
            raise _refused(
                f"{path}: {error.strerror}.", "Specify a PEM file that this user can read."
            ) from None
    if Path(key).stat().st_mode & _OPEN_TO_ALL:
        raise _refused(f"Every user of this machine can read the key {key}.", f"chmod 600 {key}")
    validity = read(certificate)
    try:
        context(certificate, key)
    except (ssl.SSLError, ValueError) as error:
        if getattr(error, "reason", "") == "KEY_VALUES_MISMATCH":
            raise _refused(
                f"The key {key} does not belong to the first certificate in {certificate}.",
                "Use a matching pair; the server's certificate comes before those of its authorities.",
            ) from None
        raise _refused(
            f"{key} holds no private key in PEM without a password.",
            "openssl pkey -in KEY -out PLAIN takes the password off.",
        ) from None
    if now > validity.not_after:
        raise _refused(
            f"The certificate {certificate} expired on {validity.not_after:%Y-%m-%d}.", "Renew it."
        )
    if now < validity.not_before:
        raise _refused(
            f"The certificate {certificate} is not valid before {validity.not_before:%Y-%m-%d %H:%M} UTC.",
            "Is the clock of this machine right?",
        )
    return validity


@lru_cache(maxsize=4)
def first_name(certificate: str) -> str | None:
    """The first host or address that it covers, cached by the first call. Raises: Invalid, OSError."""
    return next((name for name in read(certificate).names if "*" not in name), None)


def read(certificate: str) -> Certificate:
    """The first certificate in the file. Raises: Invalid, OSError."""
    try:
        first, *_ = x509.load_pem_x509_certificates(Path(certificate).read_bytes())
    except ValueError:
        raise _refused(
            f"{certificate} contains no PEM certificate.", "It begins with BEGIN CERTIFICATE."
        ) from None
    names: tuple[str, ...] = ()
    for extension in first.extensions:
        if extension.oid == ExtensionOID.SUBJECT_ALTERNATIVE_NAME:
            alternatives: x509.SubjectAlternativeName = extension.value
            addresses = alternatives.get_values_for_type(x509.IPAddress)
            names = (*alternatives.get_values_for_type(x509.DNSName), *map(str, addresses))
    return Certificate(names, first.not_valid_before_utc, first.not_valid_after_utc)


def _refused(message: str, hint: str) -> Invalid:
    return Invalid("setup.tls", message, hint=hint)
