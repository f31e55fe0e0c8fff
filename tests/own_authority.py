"""A certificate authority that nobody trusts but the tests that are told to."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def certificates(folder: Path, *hosts: str, days: tuple[int, int] = (-1, 1)) -> str:
    """Write server.pem and server.key into the folder; gives the certificate to trust.

    hosts: that it is for, 127.0.0.1 besides. days: from when to when it holds, counted from now.
    """
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = _name("Authority of this test")
    ca_constraints = x509.BasicConstraints(ca=True, path_length=0)
    ca = _sign(authority, authority_key, authority, authority_key, ca_constraints, (-1, 1))
    names = [*(x509.DNSName(host) for host in hosts), x509.IPAddress(ip_address("127.0.0.1"))]
    server = _sign(
        _name("127.0.0.1"), key, authority, authority_key, x509.SubjectAlternativeName(names), days
    )
    (folder / "server.pem").write_bytes(server)
    (folder / "server.key").touch(mode=0o600)
    (folder / "server.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return ca.decode()


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _sign(
    subject: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    issuer: x509.Name,
    issuer_key: ec.EllipticCurvePrivateKey,
    extension: x509.ExtensionType,
    days: tuple[int, int],
) -> bytes:
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + timedelta(days=days[0]))
        .not_valid_after(now + timedelta(days=days[1]))
        .add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False
        )
        .sign(issuer_key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM)
