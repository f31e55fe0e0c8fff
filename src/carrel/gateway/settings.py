"""What the gateway needs to know of its installation."""

from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit

from carrel.http.tls import Tls


@dataclass(frozen=True)
class GatewaySettings:
    """host, port: where to listen. apps_url: scheme, domain and port that people see. key: the installation's.

    public_url: the control plane's page, for the way back from an error. app_ports: to listen on besides, for apps
    that have a port of their own. connections_per_address: that a client may have open, 0: any number.
    unlimited_networks: where that does not hold. tls: what is spoken on all of these ports; None: plain HTTP.
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

    @cached_property
    def scheme(self) -> str:
        """As browsers see it: "http" or "https"."""
        return urlsplit(self.apps_url).scheme

    @cached_property
    def public_scheme(self) -> str:
        """Likewise, of apps that have a port of their own on the page's host."""
        return urlsplit(self.public_url).scheme

    @cached_property
    def apps_domain(self) -> str:
        """Without a port, in lower case."""
        return urlsplit(self.apps_url).hostname or "localhost"
