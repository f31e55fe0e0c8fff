"""Programs that issue credentials of a cluster, as kubeconfigs name them.

Source: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
"""

import asyncio
import json
import os
import shutil
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress

from pydantic import BaseModel, Field, ValidationError

from carrel.engines.kubernetes.kubeconfig import ExecConfig, KubeconfigCluster
from carrel.engines.port import EngineUnavailable

_ANSWER_S = 10.0
_END_S = 5.0
_KEPT = ("PATH", "HOME", "USER", "LANG", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")
"""What a program gets of our environment, which has secrets of the installation."""
_STDERR = 300


class IssuedCredentials(BaseModel):
    """token, or certificate and key (PEM)."""

    token: str | None = None
    certificate: str | None = Field(default=None, alias="clientCertificateData")
    key: str = Field(default="", alias="clientKeyData")


class _ExecCredential(BaseModel):
    status: IssuedCredentials


async def run(config: ExecConfig, cluster: KubeconfigCluster) -> IssuedCredentials:
    """What the program issues. It ends with its children, however this ends. Raises: EngineUnavailable."""
    program = shutil.which(config.command)
    if program is None:
        raise _failed(config, "is not on this machine")
    starting = asyncio.create_task(
        asyncio.create_subprocess_exec(
            program,
            *config.args or (),
            env=_environment(config, cluster),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
    )
    try:
        process = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # Cancelled itself, it would wait for the end of the program's children, which go on.
        await _end(await starting)
        raise
    except (OSError, ValueError) as error:
        raise _failed(config, f"cannot be run: {error}") from error
    try:
        async with asyncio.timeout(_ANSWER_S):
            output, errors = await process.communicate()
    except TimeoutError:
        raise _failed(config, f"has not answered for {_ANSWER_S:.0f} seconds") from None
    finally:
        await _end(process)
    if process.returncode:
        reason = errors.decode(errors="replace").strip()[-_STDERR:]
        raise _failed(
            config, f"failed with {process.returncode}: {reason or 'it gives no reason'}".rstrip(".")
        )
    try:
        issued = _ExecCredential.model_validate_json(output).status
    except ValidationError as error:
        raise _failed(config, "does not print an ExecCredential") from error
    if not issued.token and not (issued.certificate and issued.key):
        raise _failed(config, "issues neither a token nor a certificate with its key")
    return issued


async def _end(process: Process) -> None:
    """Kill what is left of its process group, and read what it printed: wait() does not return while a full pipe is not
    read. A process that has left the group may keep the pipe.
    """
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(TimeoutError):
        async with asyncio.timeout(_END_S):
            await process.communicate()


def _environment(config: ExecConfig, cluster: KubeconfigCluster) -> Mapping[str, str]:
    ours = (*_KEPT, *_PROXIES, *(one.lower() for one in _PROXIES))
    spec: dict[str, object] = {"interactive": False}
    if config.with_cluster:
        spec["cluster"] = {
            "server": cluster.server,
            "certificate-authority-data": b64encode(cluster.authority).decode(),
            "insecure-skip-tls-verify": cluster.insecure,
            **({"tls-server-name": cluster.server_name} if cluster.server_name else {}),
            **({"proxy-url": cluster.proxy} if cluster.proxy else {}),
        }
    info = {"apiVersion": config.version, "kind": "ExecCredential", "spec": spec}
    return {
        **{name: os.environ[name] for name in ours if name in os.environ},
        **{one.name: one.value for one in config.env or ()},
        "KUBERNETES_EXEC_INFO": json.dumps(info),
    }


def _failed(config: ExecConfig, why: str) -> EngineUnavailable:
    return EngineUnavailable(
        f"The credentials of the cluster cannot be used: the program {config.command} {why}."
    )
