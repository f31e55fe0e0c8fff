"""Addresses that requests to URLs of users may reach: of webhooks and of registries. Without these rules such a URL
would be a way into the server's own network.

A host name is resolved once for each attempt, and each of its addresses is checked. The address of every connection is
checked as well, hence it does not matter how a URL writes an address.
"""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

Address = IPv4Address | IPv6Address

_NAT64 = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
_CREDENTIALS = frozenset(map(ip_address, ("fd00:ec2::254", "100.100.100.200", "192.0.0.192")))
"""Where clouds keep credentials, besides link-local addresses."""
_COMPATIBLE, _SITE_LOCAL = ip_network("::/96"), ip_network("fec0::/10")
_ANY_PORT = 9


class ForbiddenAddress(OSError):
    """The address is not permitted; the text says why."""


def check(address: Address, *, private: bool) -> None:
    """Raises: ForbiddenAddress. private: addresses of private networks, of this machine and loopback are permitted;
    link-local ones, where clouds keep credentials, never are.
    """
    for one in (address, *_inner(address)):
        if one.is_link_local or one.is_multicast or one.is_unspecified or one in _CREDENTIALS:
            raise ForbiddenAddress(f"{address} is not the address of a server.")
        if not private and (not one.is_global or one in _SITE_LOCAL or _is_own(one)):
            raise ForbiddenAddress(f"{address} is a private address or the installation's own.")


def checked_socket(info: AddrInfoType, *, private: bool) -> socket.socket:
    """A socket to connect to this address with. Raises: ForbiddenAddress."""
    family, kind, protocol, _, address = info
    try:
        check(ip_address(str(address[0]).partition("%")[0]), private=private)
    except ValueError:
        raise ForbiddenAddress(f"{address[0]} is not an address.") from None
    return socket.socket(family, kind, protocol)


class CheckedResolver(AbstractResolver):
    """Resolves names to permitted addresses only."""

    def __init__(self, *, private: bool) -> None:
        self._private = private
        self._resolver = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Raises: ForbiddenAddress if any address is not permitted; OSError."""
        resolved = await self._resolver.resolve(host, port, family)
        for one in resolved:
            check(ip_address(one["host"].partition("%")[0]), private=self._private)
        return resolved

    async def close(self) -> None:
        await self._resolver.close()


def _inner(address: Address) -> list[Address]:
    """IPv4 addresses that an IPv6 address stands for."""
    if isinstance(address, IPv4Address):
        return []
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in (*_NAT64, _COMPATIBLE)):
        inner.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return [one for one in inner if one is not None]


def _is_own(address: Address) -> bool:
    """True for an address of this machine: the system would use it to reach itself. Nothing is sent."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), _ANY_PORT))
            return ip_address(probe.getsockname()[0].partition("%")[0]) == address
    except OSError:
        return False
