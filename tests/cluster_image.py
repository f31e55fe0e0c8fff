"""An image for clusters that compute: the starter image with Debian's Open MPI and Dask from PyPI.

`reference = await ensure_cluster_image()` builds it on first use, which takes a minute, and the starter image before,
where that is missing.
"""

import hashlib
import io
import os
import tarfile

from tiny_image import docker_url

from carrel.engines.docker import DockerEngine
from carrel.server.bootstrap import starter

_REPOSITORY = "carrel-test-cluster"
_RECIPE = """FROM {base}
USER root
RUN apt-get update -q && apt-get install -qy --no-install-recommends openmpi-bin python3-mpi4py
RUN python3 -m venv /opt/dask && /opt/dask/bin/pip install -q distributed==2025.11.0
USER work
"""
ALL_REDUCE = """
from mpi4py import MPI
world = MPI.COMM_WORLD
print(world.rank, world.size, MPI.Get_processor_name(), world.allreduce(world.rank + 1))
"""
"""A program for `mpirun`: each process prints its rank, their number, its host, and the sum of all ranks from 1."""


async def ensure_cluster_image() -> str:
    """The reference of the image in the machine's daemon. Twice: one lookup."""
    return await ensure_image(_REPOSITORY, _RECIPE)


async def ensure_image(repository: str, text: str) -> str:
    """The reference of the image that the recipe makes of the starter image. Twice: one lookup."""
    engine = DockerEngine(docker_url(), "cluster-image")
    try:
        base = await starter.ensure_starter_image(engine, say=print, consent=lambda _: True)
        recipe = text.format(base=base).encode()
        reference = f"{repository}:{hashlib.sha256(recipe).hexdigest()[:12]}"
        if reference not in {name for image in await engine.images() for name in image.references}:
            proxies = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
            with io.BytesIO(_archive(recipe)) as context:
                await engine.build_image(context, reference, arguments=proxies, output=lambda line: None)
    finally:
        await engine.close()
    return reference


def _archive(recipe: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        entry = tarfile.TarInfo("Dockerfile")
        entry.size = len(recipe)
        archive.addfile(entry, io.BytesIO(recipe))
    return out.getvalue()
