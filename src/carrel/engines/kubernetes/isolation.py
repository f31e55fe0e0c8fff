"""What sessions reach and who reaches them: a network policy for all pods of the installation.

    the internet, DNS  <--  [ session ]  <--  gateway           everything else is refused, in both directions
                              |     ^
                           its private network (`private_networks`)

Addresses of the cluster are refused by range, since the API server does not tell the ranges of pods and services: all
private ranges, the link-local one with the metadata service of clouds, the nodes and their pods, and the API server.
The cluster's network plug-in enforces policies, or does not: `self_test` finds out.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from typing import Any

import structlog

from carrel.engines.kubernetes.kubernetes_api import METADATA, ApiError, KubernetesApi
from carrel.engines.kubernetes.pods import PodNames

log = structlog.get_logger()

Network = IPv4Network | IPv6Network

CONNECTING: dict[str, object] = {
    "matchLabels": {"app.kubernetes.io/name": "carrel"},
    "matchExpressions": [
        {"key": "app.kubernetes.io/component", "operator": "In", "values": ["api", "gateway"]}
    ],
}
"""Selects the pods that connect to apps: the gateway's, and those of the API, which waits for an app to respond."""
PRIVATE = tuple(
    ip_network(one)
    for one in (
        "10.0.0.0/8",
        "100.64.0.0/10",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "fc00::/7",
        "fe80::/10",
    )
)
_MANAGER = "carrel"
_ENFORCED = "carrel.dev/enforced"
_KIND = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy"}


@dataclass(frozen=True, slots=True)
class Reachability:
    """gateway_networks: from which gateway and API connect, if they are no pods of the cluster. gateway_namespace: of
    their pods, which `CONNECTING` selects; empty: that of the sessions. reachable: private networks that sessions may
    reach.
    """

    gateway_networks: tuple[Network, ...] = ()
    gateway_namespace: str = ""
    reachable: tuple[Network, ...] = ()


ONLY_INTERNET = Reachability()
"""For a gateway in the namespace of the sessions."""


class Isolation:
    """The policy of an installation in its namespace."""

    def __init__(self, api: KubernetesApi, names: PodNames, reachability: Reachability) -> None:
        self._api = api
        self._names = names
        self._reachability = reachability
        self._path = names.policy(f"carrel-{names.installation}")
        self._servers: list[str] = []
        self._warned = False
        self._refused: tuple[Network, ...] = ()
        self._generation: int | None = None
        """Of the policy as it was applied last."""
        self.applied = False
        """True once this process has applied the policy."""
        self.enforced = False
        """True if the last self-test found that the cluster enforces it."""

    async def apply(self, machines: Collection[Mapping[str, Any]]) -> None:
        """Create the policy, or undo changes of others to it. machines: the cluster's. Twice: no-op.

        Without the right to do so, sessions run without it. Raises: ApiError, EngineUnavailable.
        """
        self._servers = self._servers or [host for host, _ in await self._api.servers()]
        refused = refused_networks(machines, self._servers)
        if refused == self._refused and await self._is_as_applied():
            return
        try:
            applied = await self._put(policy(self._names, self._reachability, refused))
        except ApiError as error:
            if error.status != 403:
                raise
            if not self._warned:
                log.warning("network_policy.not_applied", error=error.message)
            self._warned, applied = True, {"metadata": {}}
        self.applied = True
        self._refused, self._generation = refused, applied["metadata"].get("generation")
        self.enforced = _is_enforced(applied)

    async def _is_as_applied(self) -> bool:
        """True if nobody has changed the policy since. Its addresses are many, so only its metadata are read."""
        if self._generation is None:
            return False
        try:
            there = await self._api.call("GET", self._path, accept=METADATA)
        except ApiError as error:
            if error.status not in (403, 404):
                raise
            return False
        self.enforced = _is_enforced(there)
        return bool(there["metadata"].get("generation") == self._generation)

    async def _put(self, body: Mapping[str, object]) -> Any:
        try:
            return await self._api.apply(self._path, body, manager=_MANAGER)
        except ApiError as error:
            if error.status != 404:
                raise
        await self._api.create_namespace(self._names.namespace)
        return await self._api.apply(self._path, body, manager=_MANAGER)

    async def record(self, *, enforced: bool) -> None:
        """Note the result of a self-test at the policy, for all processes. Raises: ApiError, EngineUnavailable."""
        note = {**_KIND, "metadata": {"annotations": {_ENFORCED: str(enforced).lower()}}}
        await self._api.apply(self._path, note, manager=f"{_MANAGER}-check")
        self.enforced = enforced

    async def purge(self) -> None:
        """Delete the policy. Twice: no-op. Raises: ApiError, EngineUnavailable."""
        self.applied = self.enforced = False
        self._generation = None
        try:
            await self._api.call("DELETE", self._path)
        except ApiError as error:
            if error.status not in (403, 404):
                raise


def _is_enforced(stored: Any) -> bool:
    return bool((stored["metadata"].get("annotations") or {}).get(_ENFORCED) == "true")


def refused_networks(machines: Iterable[Mapping[str, Any]], servers: Iterable[str]) -> tuple[Network, ...]:
    """The networks of the cluster, none of them in another. servers: addresses or names of API servers."""
    networks = list(PRIVATE)
    for machine in machines:
        addresses = machine["status"].get("addresses") or ()
        networks += [one for address in addresses for one in _networks(address["address"])]
        networks += [ip_network(one) for one in machine["spec"].get("podCIDRs") or ()]
    networks += [one for server in servers for one in _networks(server)]
    return (
        *collapse_addresses(one for one in networks if isinstance(one, IPv4Network)),
        *collapse_addresses(one for one in networks if isinstance(one, IPv6Network)),
    )


def policy(names: PodNames, reachability: Reachability, refused: Iterable[Network]) -> dict[str, object]:
    """The network policy of all pods of the installation."""
    gateway: dict[str, object] = {"podSelector": CONNECTING}
    if reachability.gateway_namespace:
        space = {"kubernetes.io/metadata.name": reachability.gateway_namespace}
        gateway["namespaceSelector"] = {"matchLabels": space}
    outside = [
        {"ipBlock": {"cidr": whole, "except": [str(one) for one in refused if one.version == version]}}
        for version, whole in ((4, "0.0.0.0/0"), (6, "::/0"))
    ]
    return {
        **_KIND,
        "metadata": {"labels": names.labels},
        "spec": {
            "podSelector": {"matchLabels": names.labels},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": [gateway, *_blocks(reachability.gateway_networks)]}],
            "egress": [
                {"to": [*outside, *_blocks(reachability.reachable)]},
                # Name servers have private addresses nearly everywhere.
                {"ports": [{"port": 53, "protocol": protocol} for protocol in ("UDP", "TCP")]},
            ],
        },
    }


def _blocks(networks: Iterable[Network]) -> list[dict[str, object]]:
    return [{"ipBlock": {"cidr": str(one)}} for one in networks]


def _networks(text: str) -> list[Network]:
    """The network of this address only; none of a name."""
    try:
        return [ip_network(text)]
    except ValueError:
        return []
