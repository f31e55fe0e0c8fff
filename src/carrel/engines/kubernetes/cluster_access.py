"""How an API server is reached: a kubeconfig, an address with a token, or the identity of our own pod."""

import asyncio
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, TCPConnector

from carrel.engines.kubernetes import kubeconfig
from carrel.engines.port import EngineUnavailable
from carrel.engines.tcp_probes import probing

_READ_BYTES = 1 << 21
"""The largest line of a watch: an object of etcd's limit."""
_PLUGIN_S = 30.0
_PROBING = probing(after_s=30, every_s=10)
"""Terminals, and logs that are followed, may be silent for hours, and their readers busy."""


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
class _Tls:
    """Contents of files, which a library has written to temporary ones."""

    authority: bytes
    certificate: bytes
    key: bytes
    verified: bool


class ApiSession:
    """An open connection pool with its credentials."""

    def __init__(self, configuration: Any, client: ClientSession, tls: _Tls) -> None:
        self._configuration = configuration
        self.client = client
        self.tls = tls
        self.url = str(configuration.host).rstrip("/")

    async def headers(self) -> dict[str, str]:
        """The current credentials."""
        setting = (await self._configuration.auth_settings()).get("BearerToken")
        return {setting["key"]: setting["value"].strip()} if setting and setting["value"] else {}


async def open_session(access: ClusterAccess, former: ApiSession | None = None) -> ApiSession:
    """A session with the credentials of this moment. former: whose connections are used again if they can be.

    Raises: EngineUnavailable if the credentials cannot be read.
    """
    # Imports about a thousand modules, which installations without a cluster need not load.
    from kubernetes_asyncio.config import ConfigException

    try:
        async with asyncio.timeout(_PLUGIN_S):
            configuration = await _configuration(access)
        tls = _Tls(
            access.authority.encode() or _content(configuration.ssl_ca_cert),
            _content(configuration.cert_file),
            _content(configuration.key_file),
            configuration.verify_ssl,
        )
        if former and former.tls == tls:
            return ApiSession(configuration, former.client, tls)
        context = _context(configuration, tls)
    except ssl.SSLError as error:
        raise EngineUnavailable(
            "The certificates of the cluster's settings cannot be read: they must be in PEM format."
        ) from error
    # The library asserts what a kubeconfig has.
    except (ConfigException, OSError, ValueError, AssertionError) as error:
        raise EngineUnavailable(f"The credentials of the cluster cannot be used: {error}.") from error
    # Terminals and followed logs hold one connection each, so the pool must be unbounded.
    connector = TCPConnector(limit=0, ssl=context, socket_factory=_PROBING)
    client = ClientSession(connector=connector, read_bufsize=_READ_BYTES, trust_env=True)
    return ApiSession(configuration, client, tls)


async def _configuration(access: ClusterAccess) -> Any:
    from kubernetes_asyncio import config
    from kubernetes_asyncio.client.configuration import Configuration

    configuration = Configuration()
    if access.kubeconfig:
        await config.load_kube_config_from_dict(
            kubeconfig.read(access.kubeconfig, access.context),
            context=access.context or None,
            client_configuration=configuration,
        )
    elif access.url:
        configuration.host = access.url
        configuration.api_key = {"BearerToken": f"Bearer {access.token}"} if access.token else {}
    else:
        config.load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
    return configuration


def _context(configuration: Any, tls: _Tls) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=tls.authority.decode() or None)
    if tls.certificate:
        context.load_cert_chain(configuration.cert_file, keyfile=configuration.key_file)
    if not tls.verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _content(path: str | None) -> bytes:
    return Path(path).read_bytes() if path else b""
