"""Pushes of images to registries."""

import json
from collections.abc import Awaitable, Callable

from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.pull import authentication, fraction_of
from carrel.engines.port import Progress, ProgressSink, PullCredentials
from carrel.engines.pushing import push_error

_NOBODY = {"X-Registry-Auth": "e30="}
"""The daemon requires the header: an empty object."""


async def push(
    api: DockerApi,
    target: str,
    progress: ProgressSink,
    credentials: PullCredentials | None,
    *,
    begun: Callable[[], Awaitable[None]],
) -> str:
    """Push the image of this name, with a tag; returns its digest in the registry. Raises: DockerError, EngineError.

    begun: called once the daemon needs the name no more: it reports layers of the image that it has read.
    """
    name, _, tag = target.rpartition(":")
    headers = authentication(credentials) or _NOBODY
    digest = ""
    done: dict[str, float] = {}
    async with api.stream("POST", f"images/{name}/push", params={"tag": tag}, headers=headers) as lines:
        async for line in lines:
            answer = json.loads(line)
            if "error" in answer:
                raise push_error(target, str(answer["error"]))
            digest = (answer.get("aux") or {}).get("Digest", digest)
            if layer := answer.get("id"):
                if not done:
                    await begun()
                done[layer] = _part(answer)
                progress(Progress("push", sum(done.values()) / len(done)))
    return digest


def _part(answer: dict[str, object]) -> float:
    """How much of a layer is there."""
    if answer.get("status") in ("Pushed", "Layer already exists"):
        return 1.0
    return min(fraction_of(answer.get("progressDetail")), 0.99)
