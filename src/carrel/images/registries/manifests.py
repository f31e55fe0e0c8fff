"""Image manifests and indexes: OCI image specification 1.1, and its predecessor, schema 2."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from urllib.parse import quote

from carrel.core.host_names import architecture
from carrel.images.image_facts import LABELS, is_read
from carrel.images.registries.client import RegistryClient, RegistryResponse
from carrel.images.registries.registry_errors import broken
from carrel.images.registries.repositories import pull

OCI_INDEX = "application/vnd.oci.image.index.v1+json"
OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
ACCEPT = ", ".join((OCI_INDEX, OCI_MANIFEST, DOCKER_LIST, DOCKER_MANIFEST))
_MOST_LABELS, _MOST_VARIABLES = 200, 100
_LONGEST_NAME, _LONGEST_LABEL, _LONGEST_VARIABLE = 200, 20_000, 8_000
_MOST_BYTES = (1 << 63) - 1
_HEADER = "Docker-Content-Digest"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True)
class ImageDescription:
    """What a registry tells about an image. architectures: all of a tag; the other facts are of the first one that is
    preferred. size_bytes: of its compressed layers.
    """

    digest: str
    architectures: tuple[str, ...]
    size_bytes: int
    layers: int
    built_at: datetime | None
    labels: Mapping[str, str]
    env: Mapping[str, str]


@dataclass(frozen=True)
class Layer:
    """size_bytes: compressed."""

    digest: str
    size_bytes: int


class ManifestReader:
    """Reads the images of a repository, each digest once. preferred: architectures, the best first."""

    def __init__(self, client: RegistryClient, repository: str, preferred: Sequence[str]) -> None:
        self._client = client
        self._repository = repository
        self._preferred = preferred
        self._read: dict[str, ImageDescription] = {}

    async def changed(self, tag: str, known: str | None) -> ImageDescription | None:
        """The image of a tag; None: it still has the known digest. Raises: RegistryError."""
        # A registry that counts pulls does not count HEAD.
        if known and known == (await self._manifest(tag, method="HEAD")).headers.get(_HEADER):
            return None
        response = await self._manifest(tag)
        digest = _digest_of(response)
        if digest == known:
            return None
        if digest not in self._read:
            self._read[digest] = await self._described(digest, response)
        return self._read[digest]

    async def digest(self, tag: str) -> str:
        """What the tag means. Raises: RegistryError."""
        named = (await self._manifest(tag, method="HEAD")).headers.get(_HEADER, "")
        return named if _DIGEST.fullmatch(named) else _digest_of(await self._manifest(tag))

    async def described(self, digest: str) -> ImageDescription:
        """The image with this digest. Raises: RegistryError."""
        return await self._described(digest, await self._manifest_of(digest))

    async def layers(self, digest: str) -> list[Layer]:
        """Those of the image with this digest, the lowest first. Raises: RegistryError."""
        response, manifest, _ = await self._preferred_of(await self._manifest_of(digest))
        return [
            Layer(str(one.get("digest")), max(0, size) if isinstance(size := one.get("size"), int) else 0)
            for one in _layers(response, manifest)
            if _DIGEST.fullmatch(str(one.get("digest")))
        ]

    async def _preferred_of(
        self, response: RegistryResponse
    ) -> tuple[RegistryResponse, dict[str, Any], tuple[str, ...]]:
        """The manifest of the preferred architecture, and all architectures of an index."""
        manifest = _object(response)
        architectures: tuple[str, ...] = ()
        if "manifests" in manifest:
            digests = {name: at for name, at in _platforms(response, manifest)}
            architectures = tuple(sorted(digests))
            first = next((name for name in self._preferred if name in digests), architectures[0])
            response = await self._manifest_of(digests[first])
            manifest = _object(response)
        return response, manifest, architectures

    async def _described(self, digest: str, response: RegistryResponse) -> ImageDescription:
        response, manifest, architectures = await self._preferred_of(response)
        config = await self._config(response, manifest)
        layers = _layers(response, manifest)
        sizes = [size for one in layers if isinstance(size := one.get("size"), int)]
        settings = config.get("config")
        settings = settings if isinstance(settings, dict) else {}
        return ImageDescription(
            digest=digest,
            architectures=architectures or (_architecture(config),),
            size_bytes=max(0, min(sum(sizes), _MOST_BYTES)),
            layers=len(layers),
            built_at=_time(config.get("created")),
            labels=_labels(settings.get("Labels")),
            env=_variables(settings.get("Env")),
        )

    async def _manifest_of(self, digest: str) -> RegistryResponse:
        response = await self._manifest(digest)
        if _digest_of(response) != digest:
            raise broken(response.host, "a manifest with another digest")
        return response

    async def _manifest(self, reference: str, method: str = "GET") -> RegistryResponse:
        path = f"v2/{quote(self._repository)}/manifests/{reference}"
        return await self._client.get(path, accept=ACCEPT, scope=pull(self._repository), method=method)

    async def _config(self, response: RegistryResponse, manifest: dict[str, Any]) -> dict[str, Any]:
        described = manifest.get("config")
        digest = described.get("digest") if isinstance(described, dict) else None
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            # Schema 1, which engines no longer pull, and artifacts.
            raise broken(response.host, "a manifest without a configuration")
        path = f"v2/{quote(self._repository)}/blobs/{digest}"
        blob = await self._client.get(path, scope=pull(self._repository))
        if f"sha256:{hashlib.sha256(blob.body).hexdigest()}" != digest:
            raise broken(blob.host, "a configuration with another digest")
        return _object(blob)


def _layers(response: RegistryResponse, manifest: dict[str, Any]) -> list[dict[str, Any]]:
    layers = manifest.get("layers")
    if not isinstance(layers, list) or not all(isinstance(one, dict) for one in layers):
        raise broken(response.host, "a manifest without layers")
    return layers


def _digest_of(response: RegistryResponse) -> str:
    computed = f"sha256:{hashlib.sha256(response.body).hexdigest()}"
    if response.headers.get(_HEADER, computed) != computed:
        raise broken(response.host, "a manifest with another digest")
    return computed


def _platforms(response: RegistryResponse, index: dict[str, Any]) -> list[tuple[str, str]]:
    """Architectures and digests of the Linux images of an index; the first of an architecture is last."""
    images = []
    for one in index["manifests"] if isinstance(index["manifests"], list) else ():
        platform = one.get("platform") if isinstance(one, dict) else None
        digest = one.get("digest") if isinstance(one, dict) else None
        # Attestations have the architecture "unknown".
        if isinstance(platform, dict) and platform.get("os") == "linux" and _DIGEST.fullmatch(str(digest)):
            images.append((_architecture(platform), str(digest)))
    if not images:
        raise broken(response.host, "an index without a Linux image")
    return images[::-1]


def _object(response: RegistryResponse) -> dict[str, Any]:
    body = response.json()
    if not isinstance(body, dict):
        raise broken(response.host, "no JSON object")
    return body


def _text(value: object) -> str:
    return value.replace("\0", "") if isinstance(value, str) else ""


def _architecture(described: dict[str, Any]) -> str:
    return architecture(_text(described.get("architecture")))[:30]


def _labels(value: object) -> dict[str, str]:
    """Those that are used: a scan has many images in memory, and a configuration may have megabytes."""
    pairs = value.items() if isinstance(value, dict) else ()
    used = ((name, text) for name, text in pairs if isinstance(text, str) and LABELS.match(name))
    return {
        _text(name[:_LONGEST_NAME]): _text(text[:_LONGEST_LABEL]) for name, text in islice(used, _MOST_LABELS)
    }


def _variables(value: object) -> dict[str, str]:
    lines = value if isinstance(value, list) else []
    pairs = (line.partition("=") for line in lines if isinstance(line, str))
    used = ((name, text[:_LONGEST_VARIABLE]) for name, _, text in pairs if is_read(name))
    return {name[:_LONGEST_NAME]: text for name, text in islice(used, _MOST_VARIABLES)}


def _time(value: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(_text(value))
        # Beyond the first and the last year, the database stores what cannot be read again.
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
