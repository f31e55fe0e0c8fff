"""An image with the programs of the app catalogue: the starter image with those of PyPI and Debian.

`reference = programs_image()` builds it on first use, which takes minutes, and afterwards only asks whether it is
there: its tag follows from what is in it. By hand: python tests/programs/programs_image.py
"""

import asyncio
import fcntl
import hashlib
import io
import tarfile
from pathlib import Path

from tiny_image import docker_url

from carrel.engines.docker import DockerEngine
from carrel.server.bootstrap import starter
from carrel.server.bootstrap.image_build import proxies, python_index

_REPOSITORY = "carrel-test-programs"
_LOCK = Path(__file__).parents[2] / ".tools" / "checks" / "programs.lock"
_RECIPE = """FROM {base}
USER root
RUN apt-get update -q && apt-get install -qy --no-install-recommends \\
    novnc postgresql tigervnc-standalone-server websockify x11-apps
RUN python3 -m venv /opt/uv && \\
    /opt/uv/bin/pip install -q --index-url {index} --require-hashes -r /opt/requirements/uv.txt
ENV UV_DEFAULT_INDEX={index} UV_NO_CACHE=1
RUN /opt/uv/bin/uv venv -q /opt/apps && nice /opt/uv/bin/uv pip install -q --python /opt/apps \\
    gradio==6.31.0 grpcio==1.85.3 marimo==0.25.2 mlflow==3.17.2 notebook==7.6.5 streamlit==1.67.0 tensorboard==2.21.0
RUN /opt/uv/bin/uv venv -q /opt/nni && nice /opt/uv/bin/uv pip install -q --python /opt/nni \\
    'nni==3.0' 'setuptools<81' && install -d -o work /opt/nni/nni
COPY rserver.py /usr/local/bin/rserver
RUN chmod 755 /usr/local/bin/rserver && ln -s /opt/nni/bin/nnictl /usr/lib/postgresql/*/bin/* /usr/local/bin/
ENV PATH=/opt/apps/bin:/opt/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
USER work
"""


def programs_image() -> str:
    """Its reference. Several processes at once: one builds."""
    _LOCK.parent.mkdir(parents=True, exist_ok=True)
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return asyncio.run(_built())


async def _built() -> str:
    engine = DockerEngine(docker_url(), "programs-image")
    try:
        base = await starter.ensure_starter_image(engine, say=print, consent=lambda _: True)
        files = {
            "Dockerfile": _RECIPE.format(base=base, index=python_index(print)).encode(),
            "rserver.py": Path(__file__).with_name("rserver.py").read_bytes(),
        }
        archive = _archive(files)
        reference = f"{_REPOSITORY}:{hashlib.sha256(archive).hexdigest()[:12]}"
        if reference not in {name for image in await engine.images() for name in image.references}:
            with io.BytesIO(archive) as context:
                await engine.build_image(context, reference, arguments=proxies(), output=lambda line: None)
    finally:
        await engine.close()
    return reference


def _archive(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


if __name__ == "__main__":
    programs_image()
