"""Image pulls: one pull per image for any number of waiting sessions, with a progress fraction."""

import asyncio
import base64
import json
from dataclasses import dataclass, field

import aiodocker

from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.push_names import PushNames
from carrel.engines.port import Progress, ProgressSink, PullCredentials, require_pullable
from carrel.engines.pulling import pull_error

_DOWNLOAD_SHARE = 0.7
"""Fraction of a layer's work for its download; the rest is unpacking."""


@dataclass(slots=True, eq=False)
class _Pull:
    image: str
    credentials: PullCredentials | None
    sinks: list[ProgressSink] = field(default_factory=list)
    task: "asyncio.Task[None] | None" = None


class Pulls:
    """The running pulls of this process."""

    def __init__(self, api: DockerApi, push_names: PushNames) -> None:
        self._api = api
        self._push_names = push_names
        self._running: dict[tuple[str, PullCredentials | None], _Pull] = {}

    async def pull(
        self, image: str, progress: ProgressSink, credentials: PullCredentials | None = None
    ) -> None:
        """Pull the image. A pull without waiting callers is cancelled. Those with other credentials do not join it.

        Raises: ImageUnusable, EngineUnavailable, EngineError (the registry: try again later).
        """
        require_pullable(image)
        pull = self._running.setdefault((image, credentials), _Pull(image, credentials))
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
            headers = authentication(pull.credentials)
            params = _reference(pull.image)
            async with (
                self._push_names.use(pull.image),
                self._api.stream("POST", "images/create", params=params, headers=headers) as lines,
            ):
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
        key = pull.image, pull.credentials
        if self._running.get(key) is pull:
            del self._running[key]


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
        part = fraction_of(line.get("progressDetail"))
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


def fraction_of(detail: object) -> float:
    """How much of a layer has been transferred or unpacked, by the daemon's progressDetail."""
    if not isinstance(detail, dict):
        return 0.0
    current, total = detail.get("current"), detail.get("total")
    return min(current / total, 1.0) if current and total else 0.0


def authentication(credentials: PullCredentials | None) -> dict[str, str]:
    """The header with the credentials."""
    if credentials is None:
        return {}
    known = {
        "username": credentials.username,
        "password": credentials.secret,
        "serveraddress": credentials.host,
    }
    return {"X-Registry-Auth": base64.urlsafe_b64encode(json.dumps(known).encode()).decode()}


def _reference(image: str) -> dict[str, str]:
    """The reference with a tag: without one the daemon would pull every tag."""
    tagged = ":" in image.rsplit("/", 1)[-1] or "@" in image
    return {"fromImage": image} if tagged else {"fromImage": image, "tag": "latest"}
