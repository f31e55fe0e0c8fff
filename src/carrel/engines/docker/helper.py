"""Short-lived containers that run a shell script as root in the network of the daemon's machine."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import aiodocker
import structlog

from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.container_config import LABEL_COMMIT, LABEL_INSTALLATION, LABEL_USER, Names
from carrel.engines.docker.logs import read_logs
from carrel.engines.port import EngineError, EngineUnavailable

log = structlog.get_logger()

PATH = "/usr/sbin:/sbin:/usr/bin:/bin"


async def image_with_shell(api: DockerApi) -> str | None:
    """The id of a local image, one for sessions if possible; None if there is none. Never one of a session: a helper
    has more rights than its user.
    """
    images = await api.call("GET", "images/json")
    usable = [one for one in images if LABEL_COMMIT not in (one["Labels"] or {})]
    usable.sort(key=lambda one: LABEL_USER not in (one["Labels"] or {}))
    return usable[0]["Id"] if usable else None


async def run_helper(
    api: DockerApi, names: Names, purpose: str, image: str, script: str, *, host: Mapping[str, Any]
) -> str | None:
    """The output of the script; None if it failed, which is logged.

    purpose: part of the container's name; one runs at a time. host: of its HostConfig, besides the defaults.
    """
    name = f"{names.network}-{purpose}"
    body = {
        "Image": image,
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
        await api.call("POST", "containers/create", params={"name": name}, body=body)
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


async def _discard(api: DockerApi, name: str) -> None:
    """Delete it, if it exists and the daemon responds; otherwise the next attempt does."""
    with suppress(aiodocker.DockerError, EngineUnavailable):
        await api.call("DELETE", f"containers/{name}", params={"force": "true"})
