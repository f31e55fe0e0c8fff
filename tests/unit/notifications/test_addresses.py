"""Which addresses webhooks may reach."""

import asyncio
import socket
from ipaddress import ip_address

import pytest
from aiohttp.abc import ResolveResult
from aiohttp.resolver import ThreadedResolver

from carrel.http import addresses
from carrel.http.addresses import CheckedResolver, ForbiddenAddress
from carrel.notifications import sending

PRIVATE = [
    "127.0.0.1",
    "127.8.9.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "::1",
    "fd00::1",
    "::ffff:10.1.2.3",
    "64:ff9b::a01:203",
    "2002:a01:203::1",
    "64:ff9b:1::a01:203",
    "::10.1.2.3",
    "fec0::1",
]
NEVER = [
    "169.254.169.254",
    "fe80::1",
    "0.0.0.0",
    "::",
    "224.0.0.1",
    "ff02::1",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "::169.254.169.254",
    "fd00:ec2::254",
    "100.100.100.200",
    "192.0.0.192",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_need_the_site_setting(address: str):
    with pytest.raises(ForbiddenAddress):
        addresses.check(ip_address(address), private=False)
    addresses.check(ip_address(address), private=True)


@pytest.mark.parametrize("address", NEVER)
@pytest.mark.parametrize("private", [False, True])
def test_link_local_and_multicast_are_never_permitted(address: str, private: bool):
    with pytest.raises(ForbiddenAddress):
        addresses.check(ip_address(address), private=private)


def test_public_addresses_are_permitted_unless_they_are_the_machines_own(monkeypatch: pytest.MonkeyPatch):
    public = ip_address("93.184.216.34")
    addresses.check(public, private=False)
    monkeypatch.setattr(addresses, "_is_own", lambda address: address == public)
    with pytest.raises(ForbiddenAddress):
        addresses.check(public, private=False)


def test_an_address_of_this_machine_is_recognized():
    assert addresses._is_own(ip_address("127.0.0.1"))
    assert not addresses._is_own(ip_address("93.184.216.34"))


async def test_a_name_with_any_forbidden_address_is_refused(monkeypatch: pytest.MonkeyPatch):
    async def resolve(self: object, host: str, *_: object) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host, host=one, port=80, family=socket.AF_INET, proto=0, flags=socket.AI_NUMERICHOST
            )
            for one in ("93.184.216.34", "10.0.0.1")
        ]

    monkeypatch.setattr(ThreadedResolver, "resolve", resolve)
    with pytest.raises(ForbiddenAddress):
        await CheckedResolver(private=False).resolve("rebinding.example.org", 80)
    assert len(await CheckedResolver(private=True).resolve("rebinding.example.org", 80)) == 2


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost"])
async def test_loopback_is_refused_before_a_connection(host: str):
    answer = await sending.post(f"http://{host}:9/", b"{}", {}, private=False)
    assert answer.status_code is None
    assert str(answer.error).endswith("is a private address or the installation's own.")


@pytest.mark.parametrize("host", ["2130706433", "127.1", "0x7f000001", "①②⑦.0.0.1", "[::127.0.0.1]"])
async def test_another_way_to_write_an_address_reaches_nothing(host: str):
    connected = asyncio.Event()
    server = await asyncio.start_server(lambda reader, writer: connected.set(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        answer = await sending.post(f"http://{host}:{port}/", b"{}", {}, private=False)
    assert answer.status_code is None
    assert answer.error
    assert not connected.is_set()
