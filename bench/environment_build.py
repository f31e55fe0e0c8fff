"""Builds of an environment with a warm cache, against the daemon's builder alone: the same Dockerfile and files."""

import asyncio
import io
import secrets
import tarfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

import aiodocker
import httpx2
from tiny_image import docker_url

from bench.control_plane import control_plane, created
from bench.following import Follower, following
from bench.load import median
from bench.table import Line

_ROUNDS = 10
_STEPS = 8
_CACHED, _LAST, _WORK = "all cached", "last step run", "last step run, which works for some seconds"
_LAST_STEP = {
    _CACHED: "cat /made/*",
    _LAST: "cat /made/*",
    _WORK: "dd if=/dev/zero bs=1M count=500 | sha256sum",
}


async def measure() -> list[Line]:
    ours: dict[str, list[float]] = {kind: [] for kind in _LAST_STEP}
    bare: dict[str, list[float]] = {kind: [] for kind in _LAST_STEP}
    run = secrets.token_hex(3)
    made: set[str] = set()
    async with (
        control_plane(app_layer=False) as own,
        own.client() as client,
        following(own) as follower,
        aiodocker.Docker(docker_url()) as docker,
    ):
        try:
            for turn in range(_ROUNDS + 1):
                made.add(f"carrel-bench-{run}:{turn}")
                # What one has made is cached for the next.
                for kind in (_WORK, _LAST, _CACHED):
                    files = {
                        "Dockerfile": _dockerfile(own.image, _LAST_STEP[kind]),
                        "changed.txt": f"{run} {turn} {kind == _WORK}\n",
                    }
                    took = await _built(client, follower, files)
                    bare_took = await _built_alone(docker, f"carrel-bench-{run}:{turn}", files)
                    if turn:  # the first one fills both caches
                        ours[kind].append(took)
                        bare[kind].append(bare_took)
        finally:
            for reference in made:
                with suppress(aiodocker.DockerError):  # of a build that failed
                    await docker.images.delete(reference, force=True)
    return [_line(f"environment build, {kind}", ours[kind], bare[kind]) for kind in _LAST_STEP]


def _dockerfile(image: str, last: str) -> str:
    steps = [f"RUN mkdir -p /made && echo {step} >/made/{step}" for step in range(_STEPS)]
    return "\n".join([f"FROM {image}", "USER root", *steps, "COPY changed.txt /made/", f"RUN {last}"])


async def _built(client: httpx2.AsyncClient, follower: Follower, files: Mapping[str, str]) -> float:
    """Seconds from the request until the page sees that the version is ready."""
    while True:
        began = time.perf_counter()
        answer = await client.post("/environments/builds", json={"name": "bench", "files": files})
        if "build.no_engine" not in answer.text:
            break
        await asyncio.sleep(0.1)  # it has not been seen yet
    created(answer)
    return await follower.reached(answer.json()["versions"][0]["id"], "ready") - began


async def _built_alone(docker: aiodocker.Docker, reference: str, files: Mapping[str, str]) -> float:
    """Seconds from the request until the builder has answered."""
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    context.seek(0)
    began = time.perf_counter()
    await docker.images.build(fileobj=context, tag=reference, encoding="identity", rm=True, forcerm=True)
    return time.perf_counter() - began


def _line(name: str, ours: Sequence[float], bare: Sequence[float]) -> Line:
    return Line(
        name,
        f"{median(ours) * 1000:.0f} ms",
        f"{_ROUNDS} by turns, one at a time, {_STEPS + 4} steps",
        ratio=median(ours) / median(bare),
        floor=f"{median(bare) * 1000:.0f} ms",
        goal=1.2,
    )
