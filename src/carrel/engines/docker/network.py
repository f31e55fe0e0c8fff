"""Networks of sessions: one shared bridge without traffic between containers, or one network each.

    outside  <-- masquerade --  [ bridge crlXXXXXXXX ]  <-- dials -- gateway (on this machine)
                                   |      x      |            x: dropped (icc off)
                                session        session

The shared bridge has no cost per session. If the kernel does not filter bridged traffic, or the daemon does not support
the option, each session gets a small separate network, created and deleted with it. The containers of a
`PrivateNetwork` get one for all of them, with traffic between them; it is deleted with the last one, or, if that was
interrupted, by `sweep`.
"""

import asyncio
import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv4Network, ip_network
from pathlib import Path
from typing import Any

import aiodocker

from carrel.engines.docker.api import DockerApi, filters
from carrel.engines.docker.container_config import LABEL_ID, LABEL_INSTALLATION, LABEL_NETWORK, Names
from carrel.engines.port import EngineError, PrivateNetwork

DEFAULT_RANGE = IPv4Network("10.213.0.0/16")
_SHARED_PREFIX = 20
_OWN_PREFIX = 28
_ATTEMPTS = 8
_OPTION_ICC = "com.docker.network.bridge.enable_icc"
_OPTION_NAME = "com.docker.network.bridge.name"
_TAKEN = re.compile(r"overlap|same bridge name", re.IGNORECASE)


class Networks:
    """Networks of this installation in one daemon."""

    def __init__(self, api: DockerApi, names: Names, addresses: IPv4Network = DEFAULT_RANGE) -> None:
        self._api = api
        self._names = names
        self._addresses = addresses
        self._making = asyncio.Lock()
        self._shared: bool | None = None
        self._ready = False
        self._joining: Counter[str] = Counter()
        """Private networks of containers that are being created, by id."""
        self._made: set[str] = set()
        """Those of them that were looked up or made meanwhile: nothing of ours deletes them now."""

    async def shared(self) -> bool:
        """True if all sessions can share one bridge; then creates the bridge."""
        async with self._making:
            if not self._ready:
                if self._shared is None:
                    self._shared = bool((await self._api.call("GET", "info")).get("BridgeNfIptables"))
                if self._shared:
                    self._shared = await self._make_shared()
                self._ready = True
        return bool(self._shared)

    async def join(self, container: str, private: PrivateNetwork | None = None) -> str:
        """The network for a new container; it exists on return."""
        if private is not None:
            return await self._join_private(private)
        if await self.shared():
            return self._names.network
        name = self._names.container(container)
        async with self._making:
            await self._make(name, _OWN_PREFIX, {LABEL_ID: container})
        return name

    async def _join_private(self, private: PrivateNetwork) -> str:
        name = self._names.private_network(private.id)
        # The daemon itself takes the network's own, the gateway's and the broadcast address.
        prefix = 32 - (len(private.hosts) + 2).bit_length()
        async with self._making:
            if private.id not in self._made:
                await self._make(name, prefix, {LABEL_NETWORK: private.id})
            if self._joining[private.id]:
                self._made.add(private.id)
        return name

    async def rejoin(self, container: str, private: PrivateNetwork | None) -> None:
        """Connect an existing container to the network that has replaced its own."""
        if private:
            self._made.discard(private.id)
        path = f"networks/{await self.join(container, private)}"
        name = self._names.container(container)
        await self._api.call("POST", f"{path}/disconnect", body={"Container": name, "Force": True})
        endpoint = {"Aliases": [private.host]} if private else {}
        await self._api.call("POST", f"{path}/connect", body={"Container": name, "EndpointConfig": endpoint})

    @contextmanager
    def joining(self, private: PrivateNetwork | None) -> Iterator[None]:
        """While a container is created and started: its private network has no containers yet, but is needed."""
        if private is None:
            yield
            return
        self._joining[private.id] += 1
        try:
            yield
        finally:
            self._joining[private.id] -= 1
            self._joining += Counter()
            if private.id not in self._joining:
                self._made.discard(private.id)

    async def leave(self, container: str, private: str | None) -> None:
        """Delete the container's separate network, once the container is deleted; a private one with the last."""
        if private is not None:
            await self._sweep_one(private)
        elif not self._shared:
            await self._delete(self._names.container(container))

    async def sweep(self) -> None:
        """Delete private networks without containers."""
        chosen = filters(label=[self._names.label, LABEL_NETWORK])
        for network in await self._api.call("GET", "networks", params=chosen):
            await self._sweep_one(network["Labels"][LABEL_NETWORK])

    async def _sweep_one(self, private: str) -> None:
        async with self._making:
            if self._joining[private]:
                return
            chosen = filters(label=[self._names.label, f"{LABEL_NETWORK}={private}"])
            if not await self._api.call("GET", "containers/json", params={**chosen, "all": "true"}):
                await self._delete(self._names.private_network(private))

    def forget(self) -> None:
        """Drop the cached state: the network may have been deleted externally."""
        self._ready = False

    async def purge(self) -> None:
        """Delete every network of this installation."""
        for network in await self._api.call("GET", "networks", params=filters(label=[self._names.label])):
            await self._delete(network["Id"])
        self.forget()

    async def _make_shared(self) -> bool:
        options = {_OPTION_ICC: "false", _OPTION_NAME: self._names.bridge}
        try:
            made = await self._make(self._names.network, _SHARED_PREFIX, {}, options)
        except aiodocker.DockerError as error:
            if "option" in error.message:
                return False
            raise
        return (made.get("Options") or {}).get(_OPTION_ICC) == "false"

    async def _make(
        self, name: str, prefix: int, labels: dict[str, str], options: dict[str, str] | None = None
    ) -> Any:
        """Create a network and return its inspection. Twice: the same one. options: by default its own bridge."""
        refused: list[IPv4Network] = []
        attempt = 0
        while True:
            try:
                return await self._api.call("GET", f"networks/{name}")
            except aiodocker.DockerError as error:
                if error.status != 404:
                    raise
            subnet = free_subnet(
                self._addresses, prefix, [*await self._taken(), *refused], self._names.installation
            )
            body = {
                "Name": name,
                "CheckDuplicate": True,
                "Driver": "bridge",
                "IPAM": {"Config": [{"Subnet": str(subnet)}]},
                "Options": options or {_OPTION_NAME: own_bridge(self._names, name, attempt)},
                "Labels": {LABEL_INSTALLATION: self._names.installation, **labels},
            }
            try:
                await self._api.call("POST", "networks/create", body=body)
            except aiodocker.DockerError as error:
                # 409: created concurrently by another control plane. Overlap: the addresses were taken meanwhile. In
                # use: the name of the bridge is that of another network.
                if (error.status != 409 and not _TAKEN.search(error.message)) or attempt >= _ATTEMPTS:
                    raise
                attempt += 1
                if "same bridge name" not in error.message:
                    refused.append(subnet)

    async def _taken(self) -> list[IPv4Network]:
        networks = await self._api.call("GET", "networks")
        configured = (config for network in networks for config in (network["IPAM"].get("Config") or ()))
        subnets = [ip_network(config["Subnet"]) for config in configured if config.get("Subnet")]
        routes = routed_here() if self._api.is_local else []
        return [*(subnet for subnet in subnets if isinstance(subnet, IPv4Network)), *routes]

    async def _delete(self, name: str) -> None:
        try:
            await self._api.call("DELETE", f"networks/{name}")
        except aiodocker.DockerError as error:
            if error.status != 404:
                raise


def own_bridge(names: Names, network: str, attempt: int = 0) -> str:
    """Device name of a session's network, with the prefix of the shared one, so that one firewall rule covers both.

    attempt: another name for each, since four characters may be those of another network.
    """
    digest = hashlib.sha256(f"{network} {attempt or ''}".strip().encode()).digest()
    return names.bridge + base64.b32encode(digest).decode().lower()[:4]


def free_subnet(within: IPv4Network, prefix: int, taken: Iterable[IPv4Network], seed: str) -> IPv4Network:
    """A free subnet of this size; `seed` spreads installations over the range.

    Raises: EngineError if the range is full.
    """
    occupied = [network for network in taken if network.overlaps(within)]
    count = 1 << (prefix - within.prefixlen)
    size = 1 << (32 - prefix)
    first = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big")
    for turn in range(count):
        base = int(within.network_address) + (first + turn) % count * size
        candidate = IPv4Network((base, prefix))
        if not any(candidate.overlaps(network) for network in occupied):
            return candidate
    raise EngineError(
        f"{within} has no free addresses for session networks; configure another range.",
        retriable=True,
        code="addresses_exhausted",
    )


def routed_here(table: Path = Path("/proc/net/route")) -> list[IPv4Network]:
    """Networks with a route on this machine, except for the default route."""
    if not table.exists():
        return []
    rows = [line.split() for line in table.read_text().splitlines()[1:]]
    routes = [IPv4Network((_address(row[1]), str(_address(row[7]))), strict=False) for row in rows]
    return [route for route in routes if route.prefixlen > 0]


def _address(little_endian_hex: str) -> IPv4Address:
    return IPv4Address(bytes.fromhex(little_endian_hex)[::-1])
