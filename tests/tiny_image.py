"""The tiny image that container tests run in; see images/busybox/build.py for what is in it.

`reference = await ensure_tiny_image()` builds and imports it on first use (about a second) and afterwards
only asks whether it is there. The tag is a digest of the content, so a changed recipe is a new image.
"""

import asyncio
import hashlib
import importlib.util
import os
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import cast

import aiodocker

_RECIPE = Path(__file__).parent.parent / "images" / "busybox" / "build.py"
_REPOSITORY = "carrel-tiny"


async def ensure_tiny_image(flavour: str = "work", *, url: str | None = None) -> str:
    """Reference of the image in the daemon at `url` (default: the one from the environment).

    flavour: "work", "bare" (no user and home of Carrel's), "shellless", "scratch" (only the program /true) or "layer"
    (an app layer with only a shell).
    Raises: RuntimeError when busybox can be had neither from the machine nor from apt.
    """
    archive, changes = await asyncio.to_thread(built, flavour)
    digest = hashlib.sha256(archive + repr(changes).encode()).hexdigest()[:12]
    reference = f"{_REPOSITORY}:{flavour}-{digest}"
    async with aiodocker.Docker(url=url or docker_url()) as docker:
        try:
            await docker.images.inspect(reference)
        except aiodocker.DockerError as error:
            if error.status != 404:
                raise
            await _import(docker, archive, reference, changes)
    return reference


def docker_url() -> str:
    """Where the tests find their Docker daemon."""
    return os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"


async def _import(docker: aiodocker.Docker, archive: bytes, reference: str, changes: list[str]) -> None:
    repository, tag = reference.split(":")
    params = [("fromSrc", "-"), ("repo", repository), ("tag", tag), *(("changes", line) for line in changes)]
    url = f"{docker.docker_host}/{docker.api_version}/images/create"
    headers = {"Content-Type": "application/x-tar"}
    async with docker.session.post(url, params=params, data=archive, headers=headers) as answer:
        text = await answer.text()
    if answer.status != 200 or "errorDetail" in text:
        raise RuntimeError(f"The tiny image could not be imported: {text}")


@cache
def built(flavour: str) -> tuple[bytes, list[str]]:
    """The archive of a flavour, and the Dockerfile lines for its import."""
    spec = importlib.util.spec_from_file_location("carrel_tiny_image_recipe", _RECIPE)
    assert spec is not None
    assert spec.loader is not None
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    tarball = cast(Callable[[Path, str], bytes], recipe.tarball)
    changes = cast(Callable[[str], list[str]], recipe.changes)
    with tempfile.TemporaryDirectory() as scratch:
        return tarball(_busybox(Path(scratch)), flavour), changes(flavour)


def _busybox(scratch: Path) -> Path:
    for candidate in (Path("/bin/busybox"), Path("/usr/bin/busybox")):
        if candidate.exists() and _is_static(candidate):
            return candidate
    # Not installed: unpack the package without installing it, which needs no root.
    fetched = subprocess.run(["apt-get", "download", "busybox-static"], cwd=scratch, capture_output=True)
    packages = list(scratch.glob("busybox-static_*.deb"))
    if fetched.returncode or not packages:
        raise RuntimeError(
            f"Install busybox-static: apt cannot fetch it ({fetched.stderr.decode().strip()[-200:]})"
        )
    subprocess.run(["dpkg-deb", "-x", str(packages[0]), str(scratch / "root")], check=True)
    return next(
        path for path in (scratch / "root").rglob("busybox") if path.is_file() and os.access(path, os.X_OK)
    )


def _is_static(binary: Path) -> bool:
    # A dynamically linked one names its loader in the first page; in the image it could not start.
    return b"/ld-linux" not in binary.read_bytes()[:4096]
