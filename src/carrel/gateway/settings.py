"""Settings of the gateway."""

from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit

from carrel.http.tls import Tls


@dataclass(frozen=True)
class GatewaySettings:
    """host, port: listen address. apps_url: public scheme, domain and port. key: the installation's. public_url: the
    control plane's page, linked from errors. app_ports: additional ports for apps without a host name.
    connections_per_address: limit per client address, 0: unlimited. unlimited_networks: exempt networks. tls: for all
    ports but SSH; None: plain HTTP. ssh_port: None: no SSH. ssh_port_forwarding: clients may forward ports.
    ssh_agent_forwarding: clients may forward their agent.
    """

    host: str
    port: int
    apps_url: str
    public_url: str
    key: bytes
    app_ports: range = range(0)
    connections_per_address: int = 0
    unlimited_networks: tuple[str, ...] = ()
    tls: Tls | None = None
    ssh_port: int | None = None
    ssh_port_forwarding: bool = True
    ssh_agent_forwarding: bool = True

    @cached_property
    def scheme(self) -> str:
        """The scheme of app URLs in browsers: "http" or "https"."""
        return urlsplit(self.apps_url).scheme

    @cached_property
    def public_scheme(self) -> str:
        """The scheme of apps that use a port of the page's host."""
        return urlsplit(self.public_url).scheme

    @cached_property
    def apps_domain(self) -> str:
        """Without a port, in lower case."""
        return urlsplit(self.apps_url).hostname or "localhost"
