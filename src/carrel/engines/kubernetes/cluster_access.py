"""How an API server is reached: a kubeconfig, an address with a token, or the identity of our own pod."""

import ssl
from dataclasses import dataclass
from typing import Any

import yaml
from aiohttp import ClientSession, TCPConnector

from carrel.engines.port import EngineUnavailable

_READ_BYTES = 1 << 21
"""The largest line of a watch: an object of etcd's limit."""


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


class ApiSession:
    """An open connection pool with its credentials."""

    def __init__(self, configuration: Any, client: ClientSession) -> None:
        self._configuration = configuration
        self.client = client
        self.url = str(configuration.host).rstrip("/")

    async def headers(self) -> dict[str, str]:
        """The current credentials, refreshed if they expire."""
        setting = (await self._configuration.auth_settings()).get("BearerToken")
        return {setting["key"]: setting["value"]} if setting and setting["value"] else {}


async def open_session(access: ClusterAccess) -> ApiSession:
    """Raises: EngineUnavailable if the credentials cannot be read."""
    # Imports about a thousand modules, which installations without a cluster need not load.
    from kubernetes_asyncio import config
    from kubernetes_asyncio.client.configuration import Configuration

    configuration = Configuration()
    try:
        if access.kubeconfig:
            await config.load_kube_config_from_dict(
                yaml.safe_load(access.kubeconfig),
                context=access.context or None,
                client_configuration=configuration,
            )
        elif access.url:
            configuration.host = access.url
            configuration.api_key = {"BearerToken": f"Bearer {access.token}"} if access.token else {}
        else:
            config.load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
        context = ssl.create_default_context(
            cafile=configuration.ssl_ca_cert, cadata=access.authority or None
        )
        if configuration.cert_file:
            context.load_cert_chain(configuration.cert_file, keyfile=configuration.key_file)
        if not configuration.verify_ssl:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
    except (config.ConfigException, yaml.YAMLError, OSError) as error:
        raise EngineUnavailable(f"The credentials of the cluster cannot be used: {error}.") from error
    # Terminals and followed logs hold one connection each, so the pool must be unbounded.
    client = ClientSession(
        connector=TCPConnector(limit=0, ssl=context), read_bufsize=_READ_BYTES, trust_env=True
    )
    return ApiSession(configuration, client)
