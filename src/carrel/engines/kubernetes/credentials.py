"""How an API server is reached, read anew: from a kubeconfig, an address with a token, or our own pod.

Everything stays in memory: certificates and keys are in no file.
"""

import base64
import os
from dataclasses import dataclass
from pathlib import Path

from carrel.engines.kubernetes import exec_plugin, kubeconfig
from carrel.engines.kubernetes.kubeconfig import Kubeconfig
from carrel.engines.port import EngineUnavailable

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where a pod has its own token and the authority of its cluster."""


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """kubeconfig: its content; context: of it, empty: its current one. url, token, authority (PEM): without kubeconfig;
    all empty: the identity of our own pod.
    """

    kubeconfig: str = ""
    context: str = ""
    url: str = ""
    token: str = ""
    authority: str = ""

    @property
    def may_change(self) -> bool:
        """True if reading it again may give other credentials: from a file, or by an exec plug-in."""
        return bool(self.kubeconfig) or not self.url


@dataclass(frozen=True, slots=True)
class ServerTls:
    """authority, certificate, key: PEM, empty: none. verified: False: any server is accepted. server_name: that the
    server's certificate is for, if it is not that of the address.
    """

    authority: bytes = b""
    certificate: bytes = b""
    key: bytes = b""
    verified: bool = True
    server_name: str | None = None


@dataclass(frozen=True, slots=True)
class Credentials:
    """authorization: a header, empty: none. proxy: its URL."""

    url: str
    authorization: str
    tls: ServerTls
    proxy: str | None = None

    @property
    def protected(self) -> bool:
        """True if nobody between us and the server can read or change anything."""
        return self.url.startswith("https://") and self.tls.verified


async def read(access: ClusterAccess) -> Credentials:
    """The credentials of this moment. Raises: EngineUnavailable with what is wrong."""
    if access.kubeconfig:
        return await _of_kubeconfig(kubeconfig.read(access.kubeconfig, access.context), access.authority)
    if access.url:
        tls = ServerTls(authority=access.authority.encode())
        return Credentials(access.url.rstrip("/"), _bearer(access.token), tls)
    return _of_pod(access.authority)


async def _of_kubeconfig(config: Kubeconfig, authority: str) -> Credentials:
    cluster, user = config.cluster, config.user
    certificate, key = user.certificate, user.key
    authorization = _bearer(user.token or "")
    if user.exec:
        issued = await exec_plugin.run(user.exec, config.cluster)
        authorization = _bearer(issued.token or "") or authorization
        if issued.certificate:
            certificate, key = issued.certificate.encode(), issued.key.encode()
    elif user.username and not user.token:
        both = f"{user.username}:{user.password or ''}"
        authorization = f"Basic {base64.b64encode(both.encode()).decode()}"
    tls = ServerTls(
        authority.encode() or cluster.authority,
        certificate,
        key,
        verified=not cluster.insecure,
        server_name=cluster.server_name,
    )
    return Credentials(cluster.server.rstrip("/"), authorization, tls, cluster.proxy)


def _of_pod(authority: str) -> Credentials:
    host, port = (os.environ.get(f"KUBERNETES_SERVICE_{part}", "") for part in ("HOST", "PORT"))
    if not host or not port:
        raise EngineUnavailable("Carrel is not in a cluster: give a kubeconfig, or an address and a token.")
    try:
        token = (SERVICE_ACCOUNT / "token").read_text().strip()
        own = authority.encode() or (SERVICE_ACCOUNT / "ca.crt").read_bytes()
    except (OSError, UnicodeDecodeError) as error:
        raise EngineUnavailable(f"Carrel's pod has no service account that can be read: {error}.") from error
    shown = f"[{host}]" if ":" in host else host
    return Credentials(f"https://{shown}:{port}", _bearer(token), ServerTls(authority=own))


def _bearer(token: str) -> str:
    return f"Bearer {token.strip()}" if token.strip() else ""
