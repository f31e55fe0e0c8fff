"""The certificates and kubeconfigs of a cluster, from an authority of its own."""

import json
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


class Authority:
    """Writes NAME.pem and NAME.key into its folder; its own certificate is ca.pem."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("test-cluster", "")
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        self.certificate = self._sign(self._name, self._key, [(constraints, True)])
        (folder / "ca.pem").write_bytes(self.certificate)

    def server(self, name: str, *hosts: str) -> None:
        names = [x509.IPAddress(ip_address(one)) if one[0].isdigit() else x509.DNSName(one) for one in hosts]
        self._issue(name, _name(name, ""), [(x509.SubjectAlternativeName(names), False)])

    def client(self, name: str, user: str, group: str = "") -> None:
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
        self._issue(name, _name(user, group), [(usage, False)])

    def key_pair(self, name: str) -> None:
        """NAME.key and NAME.pub, for tokens."""
        key = ec.generate_private_key(ec.SECP256R1())
        (self._folder / f"{name}.key").write_bytes(_private(key))
        (self._folder / f"{name}.pub").write_bytes(
            key.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
        )

    def kubeconfig(self, name: str, server: str) -> Path:
        """NAME.kubeconfig of the client NAME, with everything in it."""

        def inlined(file: str) -> str:
            return b64encode((self._folder / file).read_bytes()).decode()

        path = self._folder / f"{name}.kubeconfig"
        cluster = {"server": server, "certificate-authority-data": inlined("ca.pem")}
        user = {
            "client-certificate-data": inlined(f"{name}.pem"),
            "client-key-data": inlined(f"{name}.key"),
        }
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": name}}],
        }
        path.write_text(json.dumps(content))
        return path

    def _issue(
        self, name: str, subject: x509.Name, extensions: list[tuple[x509.ExtensionType, bool]]
    ) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        (self._folder / f"{name}.pem").write_bytes(self._sign(subject, key, extensions))
        (self._folder / f"{name}.key").write_bytes(_private(key))

    def _sign(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        extensions: list[tuple[x509.ExtensionType, bool]],
    ) -> bytes:
        now = datetime.now(UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=2))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False
            )
        )
        for extension, critical in extensions:
            made = made.add_extension(extension, critical=critical)
        return made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _name(common: str, group: str) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, common)]
    if group:
        parts.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
    return x509.Name(parts)


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
