"""Short-lived containers that run a shell script as root in the network of the daemon's machine.

Their programs are those of the machine. No image of a session is used: its author would be root on the machine's
network.
"""

import io
import tarfile
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import aiodocker
import structlog

from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.container_config import LABEL_INSTALLATION, Names
from carrel.engines.docker.logs import read_logs
from carrel.engines.port import LOCAL_IMAGES, EngineError, EngineUnavailable

log = structlog.get_logger()

PATH = "/usr/sbin:/sbin:/usr/bin:/bin"
_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives")
"""Directories of programs, their loader and their libraries on all common distributions."""
_REPOSITORY, _TAG = f"{LOCAL_IMAGES}carrel/helper", "1"


async def helper_image(api: DockerApi) -> str:
    """The id of an image without programs, which is made if it is missing. Raises: DockerError, EngineUnavailable."""
    path = f"images/{_REPOSITORY}:{_TAG}/json"
    try:
        return str((await api.call("GET", path))["Id"])
    except aiodocker.DockerError as error:
        if error.status != 404:
            raise
    params = {"fromSrc": "-", "repo": _REPOSITORY, "tag": _TAG}
    async with api.stream("POST", "images/create", params=params, body=_archive()) as answer:
        await answer.read()
    return str((await api.call("GET", path))["Id"])


def _archive() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(folder)
    return out.getvalue()


async def run_helper(
    api: DockerApi, names: Names, purpose: str, script: str, *, host: Mapping[str, Any]
) -> str | None:
    """The output of the script; None if it failed, which is logged.

    purpose: part of the container's name; one runs at a time. host: of its HostConfig, besides the defaults.
    """
    name = f"{names.network}-{purpose}"
    body: dict[str, Any] = {
        "User": "0:0",
        "Entrypoint": ["/bin/sh", "-c", script],
        "Cmd": [],
        "Env": [f"PATH={PATH}", "LC_ALL=C"],
        "Healthcheck": {"Test": ["NONE"]},
        # Without our id label: this is not a session.
        "Labels": {f"{LABEL_INSTALLATION}.{purpose}": names.installation},
        # A daemon that remaps users refuses the machine's network to remapped containers.
        "HostConfig": {"NetworkMode": "host", "UsernsMode": "host", "CapDrop": ["ALL"], **host},
    }
    try:
        await _discard(api, name)
        body["Image"] = await helper_image(api)
        await _create(api, name, body)
        await api.call("POST", f"containers/{name}/start")
        ended = await api.call("POST", f"containers/{name}/wait")
        if ended["StatusCode"] != 0:
            return None
        batches = read_logs(api, name, follow=False, tail=None, since=None)
        output = [record.content async for records in batches for record in records]
        return b"".join(output).decode(errors="replace")
    except (aiodocker.DockerError, EngineError) as error:
        log.warning("engine.helper_failed", purpose=purpose, error=str(error))
        return None
    finally:
        await _discard(api, name)


async def _create(api: DockerApi, name: str, body: Mapping[str, Any]) -> None:
    """Create it with those of `_FOLDERS` that the machine has."""
    folders = list(_FOLDERS)
    while True:
        mounts = [{"Type": "bind", "Source": path, "Target": path, "ReadOnly": True} for path in folders]
        try:
            await api.call(
                "POST",
                "containers/create",
                params={"name": name},
                body={**body, "HostConfig": {**body["HostConfig"], "Mounts": mounts}},
            )
            return
        except aiodocker.DockerError as error:
            missing = [path for path in folders if error.message.endswith(f" {path}")]
            if not missing:
                raise
            folders.remove(missing[0])


async def _discard(api: DockerApi, name: str) -> None:
    """Delete it, if it exists and the daemon responds; otherwise the next attempt does."""
    with suppress(aiodocker.DockerError, EngineUnavailable):
        await api.call("DELETE", f"containers/{name}", params={"force": "true"})
