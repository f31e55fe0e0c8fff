"""The whole app layer, for tests that run its programs.

`reference = layer_image()` builds it on first use, which takes minutes, and afterwards only asks whether it is there:
its version follows from the recipe. `./carrel test` begins with it beside other tests: python tests/layer_image.py
"""

import asyncio
import fcntl
from pathlib import Path

from tiny_image import docker_url

from carrel.engines.docker import DockerEngine
from carrel.server.bootstrap.layer_recipe import build_here

_LOCK = Path(__file__).parents[1] / ".tools" / "checks" / "layer.lock"


def layer_image() -> str:
    """Its reference. Several processes at once: one builds. Raises: Unavailable."""
    _LOCK.parent.mkdir(parents=True, exist_ok=True)
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return asyncio.run(_built())


async def _built() -> str:
    engine = DockerEngine(docker_url(), "layer-of-tests")
    try:
        return await build_here(engine, print)
    finally:
        await engine.close()


if __name__ == "__main__":
    layer_image()
