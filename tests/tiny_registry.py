"""A container registry in one process, with images nobody has: for tests of pulling.

`async with TinyRegistry() as registry` serves on a free port of 127.0.0.1, which Docker daemons on this
machine trust without TLS; others need another address, and to be told that it has no TLS. `registry.add(name)`
puts a new image there and returns its reference.
"""

import gzip
import hashlib
import io
import json
import os
import platform
import tarfile
from collections.abc import Mapping, Sequence
from types import TracebackType

from aiohttp import encode_basic_auth, web
from aiohttp.typedefs import Handler
from tiny_image import built

_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class TinyRegistry:
    """Manifests and blobs by digest, read-only for its clients. credentials: user name and password, if required."""

    def __init__(self, host: str = "127.0.0.1", credentials: tuple[str, str] | None = None) -> None:
        self._host = host
        self._credentials = credentials
        self._blobs: dict[str, bytes] = {}
        self._manifests: dict[str, bytes] = {}
        self._runner: web.AppRunner | None = None
        self.address = ""
        self.pulls: list[str] = []
        """Images whose manifest was asked for, in order."""

    async def __aenter__(self) -> "TinyRegistry":
        app = web.Application(middlewares=[self._authenticated])
        app.router.add_get("/v2/", self._hello)
        app.router.add_get("/v2/{name}/manifests/{reference}", self._manifest)
        app.router.add_get("/v2/{name}/blobs/{digest}", self._blob)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, 0)
        await site.start()
        self.address = f"{self._host}:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    @web.middleware
    async def _authenticated(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.headers.get("Authorization", "")
        if self._credentials is None or given == encode_basic_auth(*self._credentials):
            return await handler(request)
        body = {"errors": [{"code": "UNAUTHORIZED", "message": "authentication required"}]}
        return web.json_response(body, status=401, headers={"WWW-Authenticate": 'Basic realm="tiny"'})

    def add(self, name: str, *, architecture: str = "", noise_bytes: int = 1 << 20) -> str:
        """A tiny image with some random bytes, so that no daemon has its layers yet."""
        archive, _ = built("work")
        layers = [archive, _one_file("noise", os.urandom(noise_bytes))]
        settings = {"Labels": {"carrel.user": "work"}, "Env": ["PATH=/usr/bin:/bin"], "User": "work"}
        return self.put(name, layers, settings, architecture=architecture)

    def put(
        self, name: str, layers: Sequence[bytes], settings: Mapping[str, object], *, architecture: str = ""
    ) -> str:
        """An image of these layers, which are archives, and with this configuration; returns its reference."""
        config = {
            "architecture": architecture or _ARCHITECTURES[platform.machine()],
            "os": "linux",
            "config": settings,
            "rootfs": {"type": "layers", "diff_ids": [_digest(layer) for layer in layers]},
        }
        packed = [gzip.compress(layer, 1, mtime=0) for layer in layers]
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": self._store(
                "application/vnd.docker.container.image.v1+json", json.dumps(config).encode()
            ),
            "layers": [
                self._store("application/vnd.docker.image.rootfs.diff.tar.gzip", one) for one in packed
            ],
        }
        self._manifests[name] = json.dumps(manifest).encode()
        return f"{self.address}/{name}:1"

    def _store(self, kind: str, blob: bytes) -> dict[str, object]:
        self._blobs[_digest(blob)] = blob
        return {"mediaType": kind, "size": len(blob), "digest": _digest(blob)}

    async def _hello(self, request: web.Request) -> web.Response:
        return web.json_response({})

    async def _manifest(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name not in self._manifests:
            return _unknown("MANIFEST_UNKNOWN", "manifest unknown")
        self.pulls.append(name)
        body = self._manifests[name]
        headers = {"Docker-Content-Digest": _digest(body), "Content-Type": _MANIFEST}
        return web.Response(body=body, headers=headers)

    async def _blob(self, request: web.Request) -> web.Response:
        blob = self._blobs.get(request.match_info["digest"])
        return _unknown("BLOB_UNKNOWN", "blob unknown") if blob is None else web.Response(body=blob)


def _unknown(code: str, message: str) -> web.Response:
    return web.json_response({"errors": [{"code": code, "message": message}]}, status=404)


def _digest(blob: bytes) -> str:
    return "sha256:" + hashlib.sha256(blob).hexdigest()


def _one_file(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    return out.getvalue()
