"""The secrets of a pod: its variables and initial files, and the credentials for its image."""

import json
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

from carrel.core.units import format_size
from carrel.engines.port import ContainerSpec, EngineError, PullCredentials
from carrel.engines.references import DOCKER_HUB

_MAX_BYTES = 1 << 20
"""The most that Kubernetes takes in a secret."""
PULL_TYPE = "kubernetes.io/dockerconfigjson"
_DOCKER_HUB = "https://index.docker.io/v1/"
"""The name of Docker Hub in such a secret."""


def require_room(spec: ContainerSpec) -> None:
    """Raises: EngineError if its variables and files are too large."""
    if (size_bytes := sum(len(content) for content in _contents(spec).values())) > _MAX_BYTES:
        raise EngineError(
            f"Its variables, dotfiles and scripts have {format_size(size_bytes)}; a container in this cluster can "
            f"begin with {format_size(_MAX_BYTES)} of them.",
            retriable=False,
        )


def made(spec: ContainerSpec, name: str) -> Iterator[dict[str, Any]]:
    """Those that it needs. name: of the first."""
    if contents := _contents(spec):
        yield _secret(name, "Opaque", contents)
    if spec.pull:
        yield _pull_secret(_pull_name(name), spec.pull)
    if spec.layer_pull:
        yield _pull_secret(_layer_name(name), spec.layer_pull)


def pulling(spec: ContainerSpec, name: str) -> dict[str, object]:
    """What the pod says about its credentials."""
    named = [_pull_name(name)] if spec.pull else []
    named += [_layer_name(name)] if spec.layer_pull else []
    return {"imagePullSecrets": [{"name": one} for one in named]} if named else {}


def variable_key(variable: str) -> str:
    return f"env.{variable}"


def _contents(spec: ContainerSpec) -> dict[str, bytes]:
    """Contents by key: of a variable by its name, of a file by its number."""
    variables = {variable_key(name): value.encode() for name, value in spec.env.items()}
    return variables | {str(number): file.content for number, file in enumerate(spec.files)}


def _secret(name: str, kind: str, contents: dict[str, bytes]) -> dict[str, Any]:
    data = {key: b64encode(content).decode() for key, content in contents.items()}
    return {"metadata": {"name": name}, "type": kind, "data": data}


def _pull_name(name: str) -> str:
    return f"{name}-pull"


def _layer_name(name: str) -> str:
    return f"{name}-layer"


def _pull_secret(name: str, credentials: PullCredentials) -> dict[str, Any]:
    return _secret(name, PULL_TYPE, {".dockerconfigjson": docker_config(credentials)})


def docker_config(credentials: PullCredentials) -> bytes:
    """The content of a secret of PULL_TYPE."""
    host = _DOCKER_HUB if credentials.host == DOCKER_HUB else credentials.host
    auth = b64encode(f"{credentials.username}:{credentials.secret}".encode()).decode()
    return json.dumps({"auths": {host: {"auth": auth}}}).encode()
