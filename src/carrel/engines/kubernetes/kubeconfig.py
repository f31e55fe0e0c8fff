"""A kubeconfig that an administrator pasted: read, and what is wrong with it in sentences.

Source: https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
"""

import os
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from carrel.engines.port import EngineUnavailable

_FILES = {
    "certificate-authority": "certificate-authority-data",
    "client-certificate": "client-certificate-data",
    "client-key": "client-key-data",
    "tokenFile": "token",
}
"""Keys that name a file, and those with its content."""
_CREDENTIALS = ("client-certificate-data", "token", "exec", "username")
_COMMANDS = "CARREL_KUBECONFIG_COMMANDS"
"""Programs that kubeconfigs may have run on this machine, separated by commas."""


_PROXIES = ("http://", "https://")


def _decoded(text: object) -> bytes:
    """Raises: ValueError, which names no secret."""
    try:
        return b64decode(str(text or ""))
    except ValueError:
        raise ValueError("it is not encoded in Base64") from None


_Pem = Annotated[bytes, BeforeValidator(_decoded)]


class KubeconfigCluster(BaseModel):
    """authority: PEM. insecure: any server is accepted. server_name: that its certificate is for."""

    server: str
    authority: _Pem = Field(default=b"", alias="certificate-authority-data")
    insecure: bool = Field(default=False, alias="insecure-skip-tls-verify")
    server_name: str | None = Field(default=None, alias="tls-server-name")
    proxy: str | None = Field(default=None, alias="proxy-url")


class ExecVariable(BaseModel):
    name: str
    value: str


class ExecConfig(BaseModel):
    """A program that issues credentials."""

    version: str = Field(alias="apiVersion")
    command: str
    args: list[str] | None = None
    env: list[ExecVariable] | None = None
    with_cluster: bool = Field(default=False, alias="provideClusterInfo")


class KubeconfigUser(BaseModel):
    """certificate, key: PEM."""

    certificate: _Pem = Field(default=b"", alias="client-certificate-data")
    key: _Pem = Field(default=b"", alias="client-key-data")
    token: str | None = None
    username: str | None = None
    password: str | None = None
    exec: ExecConfig | None = None


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """The parts of the chosen context."""

    cluster: KubeconfigCluster
    user: KubeconfigUser


def read(text: str, context: str) -> Kubeconfig:
    """The decoded parts of a context that can be used. context: empty: its current one.

    Raises: EngineUnavailable with what is wrong.
    """
    try:
        config = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark else ""
        raise EngineUnavailable(f"The kubeconfig is not valid YAML{where}: paste the whole file.") from None
    if not isinstance(config, dict) or not all(
        isinstance(config.get(part), list) for part in ("clusters", "users", "contexts")
    ):
        raise EngineUnavailable("This is no kubeconfig: it has no lists of clusters, users and contexts.")
    name = context or config.get("current-context") or ""
    chosen = _named(config["contexts"], name)
    if chosen is None:
        known = ", ".join(str(one.get("name")) for one in config["contexts"] if isinstance(one, dict))
        what = f"no context {name}" if name else "no current context"
        raise EngineUnavailable(f"The kubeconfig has {what}. Choose one of: {known or 'it has none'}.")
    cluster, user = (_part(config, kind, chosen.get("context"), name) for kind in ("cluster", "user"))
    if not str(cluster.get("server", "")).startswith(("https://", "http://")):
        raise EngineUnavailable(f"The kubeconfig gives no address of the API server for the context {name}.")
    for part in (cluster, user):
        _require_content(part)
    if not any(user.get(key) for key in _CREDENTIALS):
        raise EngineUnavailable(f"The kubeconfig has no credentials for the context {name}.")
    try:
        chosen_parts = Kubeconfig(
            KubeconfigCluster.model_validate(cluster), KubeconfigUser.model_validate(user)
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(one) for one in first["loc"])
        raise EngineUnavailable(
            f"The kubeconfig cannot be used: {where}: {first['msg'].removeprefix('Value error, ')}."
        ) from None
    _require_allowed(user)
    _require_usable(chosen_parts)
    return chosen_parts


def _require_usable(config: Kubeconfig) -> None:
    proxy = config.cluster.proxy
    if proxy and not proxy.startswith(_PROXIES):
        raise EngineUnavailable(
            f"The kubeconfig has a proxy with {proxy.partition(':')[0]}:// (proxy-url): only http:// and https:// are "
            "supported."
        )
    if bool(config.user.certificate) != bool(config.user.key):
        raise EngineUnavailable("The kubeconfig has a client certificate without its key, or a key alone.")


def _part(config: Mapping[str, Any], kind: str, context: object, name: str) -> Mapping[str, Any]:
    """The cluster or the user of a context."""
    ref = context.get(kind) if isinstance(context, dict) else None
    part = (_named(config[f"{kind}s"], ref) or {}).get(kind)
    if not isinstance(part, dict):
        raise EngineUnavailable(f"The kubeconfig has no {kind} for the context {name}.")
    return part


def _named(parts: Sequence[Any], name: object) -> Mapping[str, Any] | None:
    return next((one for one in parts if isinstance(one, dict) and name and one.get("name") == name), None)


def _require_content(part: Mapping[str, Any]) -> None:
    for key, content in _FILES.items():
        if part.get(key) and not part.get(content):
            raise EngineUnavailable(
                f"The kubeconfig refers to the file {part[key]} ({key}), which is not part of it. "
                "`kubectl config view --raw --flatten --minify` writes one with everything in it."
            )


def _require_allowed(user: Mapping[str, Any]) -> None:
    """Raises: EngineUnavailable for programs that would run here without the operator's consent."""
    if user.get("auth-provider"):
        raise EngineUnavailable(
            "The kubeconfig uses auth-provider, which Kubernetes no longer has. Use a token or an exec plug-in."
        )
    command = (user.get("exec") or {}).get("command")
    if command and command not in os.environ.get(_COMMANDS, "").split(","):
        raise EngineUnavailable(
            f"The kubeconfig runs the program {command}, which is not allowed on this machine. "
            f"An operator can add it to {_COMMANDS}; a token of a service account needs no program."
        )
