"""Image pulls: one pull per image for any number of waiting sessions, with a progress fraction."""

import asyncio
import json
import re
from dataclasses import dataclass, field

import aiodocker

from carrel.engines.docker.api import DockerApi
from carrel.engines.port import EngineError, ImageUnusable, Progress, ProgressSink, require_pullable

_DOWNLOAD_SHARE = 0.7
"""Fraction of a layer's work for its download; the rest is unpacking."""


@dataclass(slots=True, eq=False)
class _Pull:
    image: str
    sinks: list[ProgressSink] = field(default_factory=list)
    task: "asyncio.Task[None] | None" = None


class Pulls:
    """The running pulls of this process."""

    def __init__(self, api: DockerApi) -> None:
        self._api = api
        self._running: dict[str, _Pull] = {}

    async def pull(self, image: str, progress: ProgressSink) -> None:
        """Pull the image. A pull without waiting callers is cancelled.

        Raises: ImageUnusable, EngineUnavailable, EngineError (the registry: try again later).
        """
        require_pullable(image)
        pull = self._running.setdefault(image, _Pull(image))
        pull.task = pull.task or asyncio.create_task(self._run(pull))
        pull.sinks.append(progress)
        try:
            await asyncio.shield(pull.task)
        finally:
            pull.sinks.remove(progress)
            if not pull.sinks:
                self._forget(pull)
                pull.task.cancel()

    async def _run(self, pull: _Pull) -> None:
        layers = Layers()
        try:
            async with self._api.stream("POST", "images/create", params=_reference(pull.image)) as lines:
                async for line in lines:
                    self._report(pull, layers, json.loads(line))
        except aiodocker.DockerError as error:
            raise pull_error(pull.image, error.message) from error
        finally:
            self._forget(pull)

    def _report(self, pull: _Pull, layers: "Layers", line: dict[str, object]) -> None:
        if "error" in line:
            raise pull_error(pull.image, str(line["error"]))
        layers.note(line)
        for sink in list(pull.sinks):
            sink(Progress("pull", layers.fraction, f"Pulling {pull.image}: {line.get('status', '')}"))

    def _forget(self, pull: _Pull) -> None:
        if self._running.get(pull.image) is pull:
            del self._running[pull.image]


class Layers:
    """Progress of a pull, from the daemon's lines about each layer. Never decreases."""

    def __init__(self) -> None:
        self._done: dict[str, float] = {}
        self._fraction = 0.0

    @property
    def fraction(self) -> float:
        return self._fraction

    def note(self, line: dict[str, object]) -> None:
        layer, status = line.get("id"), str(line.get("status", ""))
        if not isinstance(layer, str) or status.startswith("Pulling from"):
            return
        part = _part(line.get("progressDetail"))
        if status in ("Already exists", "Pull complete"):
            self._done[layer] = 1.0
        elif status in ("Download complete", "Verifying Checksum"):
            self._done[layer] = _DOWNLOAD_SHARE
        elif status == "Downloading":
            self._done[layer] = part * _DOWNLOAD_SHARE
        elif status == "Extracting":
            self._done[layer] = _DOWNLOAD_SHARE + part * (1 - _DOWNLOAD_SHARE)
        else:
            self._done.setdefault(layer, 0.0)
        # Layers appear one by one, so the plain mean may drop; users should not see that.
        self._fraction = max(self._fraction, sum(self._done.values()) / len(self._done))


def _part(detail: object) -> float:
    if not isinstance(detail, dict):
        return 0.0
    current, total = detail.get("current"), detail.get("total")
    return min(current / total, 1.0) if current and total else 0.0


def _reference(image: str) -> dict[str, str]:
    """The reference with a tag: without one the daemon would pull every tag."""
    tagged = ":" in image.rsplit("/", 1)[-1] or "@" in image
    return {"fromImage": image} if tagged else {"fromImage": image, "tag": "latest"}


_UNREACHABLE = re.compile(
    r"no such host|connection refused|i/o timeout|Client\.Timeout|dial tcp|TLS handshake|unreachable|EOF|"
    r"x509|server gave HTTP response to HTTPS client",
    re.IGNORECASE,
)


def pull_error(image: str, text: str) -> EngineError:
    """The error for a failed pull, with a remedy."""
    registry = _registry(image)
    if "invalid reference format" in text or "must be lowercase" in text:
        return ImageUnusable(f"{image!r} is not a valid image name; write for example python:3.12.")
    if re.search(r"manifest (for .* )?(not found|unknown)|manifest unknown|name unknown", text):
        return ImageUnusable(f"There is no image named {image} in its registry ({registry}).")
    if re.search(r"pull access denied|unauthorized|denied|authentication required", text):
        return ImageUnusable(
            f"The registry {registry} has no image named {image}, or does not let this installation pull it."
        )
    if "no matching manifest" in text or "does not match the specified platform" in text:
        return ImageUnusable(f"The image {image} does not support the architecture of this machine.")
    if "toomanyrequests" in text or "rate limit" in text:
        return _later(f"The registry {registry} refuses more pulls for now (rate limit).", "registry_busy")
    if "no space left on device" in text:
        return _later(f"The disk is full: the image {image} does not fit.", "disk_full")
    if _UNREACHABLE.search(text):
        return _later(
            f"No registry answered for the image {image}: this machine cannot reach {registry}. "
            "Check the name, or load the image into the engine by hand.",
            "registry_unavailable",
        )
    return _later(f"The image {image} could not be pulled: {text.rstrip('.')}.", "pull_failed")


def _later(message: str, code: str) -> EngineError:
    return EngineError(message, retriable=True, code=code)


def _registry(image: str) -> str:
    first, slash, _ = image.partition("/")
    named = slash and ("." in first or ":" in first or first == "localhost")
    return first if named else "docker.io"
