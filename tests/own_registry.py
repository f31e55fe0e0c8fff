"""Debian's docker-registry over TLS of its own authority, with tokens from a server of its own.

The token server grants everything to USERNAME with PASSWORD, and the repositories below `public/` to everybody.
"""

import base64
import hashlib
import json
import os
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import yaml
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_pem_x509_certificate
from joserfc import jwt
from joserfc.jwk import ECKey
from own_authority import certificates
from ports import free_port

USERNAME, PASSWORD = "robot$carrel", "correct horse"
_SERVICE, _ISSUER = "registry.test", "tokens of this test"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_INDEX = "application/vnd.oci.image.index.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


@dataclass
class OwnRegistry:
    """A running registry. ca_pem: the certificate to trust. tokens: scopes of the tokens that were issued."""

    url: str
    token_url: str
    ca_pem: str
    tokens: list[str] = field(default_factory=list)

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    def push(
        self,
        repository: str,
        *tags: str,
        architectures: tuple[str, ...] = ("amd64",),
        config: Mapping[str, Any] | None = None,
        created: str = "2026-01-02T03:04:05Z",
        layers: Sequence[bytes] = (),
    ) -> str:
        """Put an image there; returns its digest. Several architectures make an index.

        layers: compressed; without, each image has one that is nothing.
        """
        with closing(self._client(repository)) as client:
            manifests = [
                self._image(client, repository, one, config or {}, created, layers) for one in architectures
            ]
            if len(manifests) == 1:
                body, kind = manifests[0][0], _MANIFEST
            else:
                listed = [
                    {**_described(_MANIFEST, manifest), "platform": {"os": "linux", "architecture": name}}
                    for (manifest, _), name in zip(manifests, architectures, strict=True)
                ]
                index = {"schemaVersion": 2, "mediaType": _INDEX, "manifests": listed}
                body, kind = json.dumps(index).encode(), _INDEX
            for tag in tags:
                self._put(client, repository, tag, body, kind)
        return _digest(body)

    def _client(self, repository: str) -> httpx2.Client:
        context = ssl.create_default_context(cadata=self.ca_pem)
        client = httpx2.Client(base_url=self.url, verify=context, trust_env=False, timeout=30)
        scope = f"repository:{repository}:pull,push"
        answer = client.get(self.token_url, params={"scope": scope}, auth=(USERNAME, PASSWORD))
        client.headers["Authorization"] = f"Bearer {answer.json()['token']}"
        return client

    def _image(
        self,
        client: httpx2.Client,
        repository: str,
        architecture: str,
        config: Mapping[str, Any],
        created: str,
        layers: Sequence[bytes],
    ) -> tuple[bytes, str]:
        layers = layers or [os.urandom(512)]
        document = {
            "architecture": architecture,
            "os": "linux",
            "created": created,
            "config": config,
            "rootfs": {"type": "layers", "diff_ids": [_digest(layer) for layer in layers]},
        }
        written = json.dumps(document).encode()
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": self._blob(client, repository, written, _CONFIG),
            "layers": [self._blob(client, repository, layer, _LAYER) for layer in layers],
        }
        body = json.dumps(manifest).encode()
        self._put(client, repository, _digest(body), body, _MANIFEST)
        return body, architecture

    def _blob(self, client: httpx2.Client, repository: str, content: bytes, kind: str) -> dict[str, Any]:
        begun = client.post(f"/v2/{repository}/blobs/uploads/")
        assert begun.status_code == 202, begun.text
        where = httpx2.URL(begun.headers["location"]).copy_add_param("digest", _digest(content))
        done = client.put(where, content=content, headers={"Content-Type": "application/octet-stream"})
        assert done.status_code == 201, done.text
        return _described(kind, content)

    def _put(self, client: httpx2.Client, repository: str, reference: str, body: bytes, kind: str) -> None:
        path = f"/v2/{repository}/manifests/{reference}"
        done = client.put(path, content=body, headers={"Content-Type": kind})
        assert done.status_code == 201, done.text


def _digest(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


def _described(kind: str, content: bytes) -> dict[str, Any]:
    return {"mediaType": kind, "size": len(content), "digest": _digest(content)}


@contextmanager
def own_registry(folder: Path) -> Iterator[OwnRegistry]:
    """One that listens, until the block ends."""
    folder.mkdir(parents=True)
    ca_pem = certificates(folder)
    (folder / "ca.pem").write_text(ca_pem)
    server = _TokenServer(folder)
    tls = {"certificate": str(folder / "server.pem"), "key": str(folder / "server.key")}
    token = {
        "realm": server.url,
        "service": _SERVICE,
        "issuer": _ISSUER,
        "rootcertbundle": str(folder / "ca.pem"),
    }
    try:
        with plain_registry(folder, tls=tls, auth={"token": token}) as address:
            yield OwnRegistry(f"https://{address}", server.url, ca_pem, server.issued)
    finally:
        server.close()


@contextmanager
def plain_registry(
    folder: Path, *, tls: Mapping[str, str] | None = None, auth: Mapping[str, Any] | None = None
) -> Iterator[str]:
    """The address of one that listens, until the block ends. tls: certificate and key; without it speaks HTTP, which
    daemons permit on the machine itself. auth: of the registry's configuration; without, everybody may do everything.
    """
    program = shutil.which("docker-registry")
    assert program, "docker-registry is missing: apt-get install --no-install-recommends docker-registry"
    address = f"127.0.0.1:{free_port()}"
    configuration = {
        "version": "0.1",
        "log": {"level": "info", "accesslog": {"disabled": True}},
        "storage": {"filesystem": {"rootdirectory": str(folder / "blobs")}},
        "http": {"addr": address} | ({"tls": tls} if tls else {}),
    } | ({"auth": auth} if auth else {})
    (folder / "config.yml").write_text(yaml.safe_dump(configuration))
    command = [program, "serve", str(folder / "config.yml")]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr
    lines: list[bytes] = []
    for line in process.stderr:
        lines.append(line)
        if b"listening on" in line:
            break
    else:
        raise AssertionError(b"".join(lines).decode())
    # What nobody reads would stop it.
    threading.Thread(target=process.stderr.read, daemon=True).start()
    try:
        yield address
    finally:
        process.kill()
        process.wait()


class _TokenServer:
    """By the specification of Docker's token authentication, in a thread."""

    def __init__(self, folder: Path) -> None:
        self.issued: list[str] = []
        pem = (folder / "server.pem").read_bytes()
        certificate = load_pem_x509_certificate(pem)
        self._chain = [base64.b64encode(certificate.public_bytes(Encoding.DER)).decode()]
        self._key = ECKey.import_key((folder / "server.key").read_text())
        handler = type("Handler", (_TokenHandler,), {"server_of": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.pem", folder / "server.key")
        self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self._http.server_port}/token"
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def token(self, scope: str, *, trusted: bool) -> str:
        """A token for what may be done of the scope."""
        self.issued.append(scope)
        access = []
        if scope:
            kind, name, actions = scope.split(":")
            if trusted or (name.startswith("public/") and actions == "pull"):
                access = [{"type": kind, "name": name, "actions": actions.split(",")}]
        now = int(time.time())
        claims = {
            "iss": _ISSUER,
            "sub": USERNAME if trusted else "",
            "aud": _SERVICE,
            "iat": now,
            "nbf": now - 60,
            "exp": now + 300,
            "jti": os.urandom(8).hex(),
            "access": access,
        }
        return jwt.encode({"alg": "ES256", "typ": "JWT", "x5c": self._chain}, claims, self._key)


class _TokenHandler(BaseHTTPRequestHandler):
    server_of: _TokenServer

    def do_GET(self) -> None:
        given = self.headers.get("Authorization", "")
        right = "Basic " + base64.b64encode(f"{USERNAME}:{PASSWORD}".encode()).decode()
        if given and given != right:
            self._answer(401, {"errors": [{"code": "UNAUTHORIZED"}]})
            return
        scope = parse_qs(urlsplit(self.path).query).get("scope", [""])[0]
        token = self.server_of.token(scope, trusted=bool(given))
        self._answer(200, {"token": token, "expires_in": 300})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        written = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""
