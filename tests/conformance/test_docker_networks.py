"""Private networks of the Docker engine: small, filtered like the shared one, and gone with the last container."""

import socket
from collections.abc import Awaitable, Callable
from ipaddress import ip_network

import aiodocker
import pytest
from tiny_image import docker_url, ensure_tiny_image

from carrel.core.ids import new_id
from carrel.engines.conformance_kit import ProgressLog, run
from carrel.engines.conformance_networks import LISTENS
from carrel.engines.docker import DockerEngine
from carrel.engines.docker import network as networks
from carrel.engines.port import ContainerSpec, PrivateNetwork

Member = Callable[..., Awaitable[ContainerSpec]]


@pytest.fixture
def member(docker_engine: DockerEngine) -> Member:
    async def start(network: str, host: str, *, of: int = 2) -> ContainerSpec:
        hosts = ("main1", *(f"sub{number}" for number in range(1, of)))
        spec = ContainerSpec(
            new_id(),
            await ensure_tiny_image(),
            {"cpu": 500, "mem": 64 << 20},
            network=PrivateNetwork(network, host, hosts),
            hostname=f"{host}-of-{network}",
            command=LISTENS,
        )
        await docker_engine.ensure(spec, ProgressLog())
        return spec

    return start


async def private(docker: aiodocker.Docker, installation: str) -> list[dict[str, object]]:
    chosen = {"label": [f"carrel.installation={installation}", "carrel.network"]}
    return await docker.networks.list(filters=chosen)


async def test_a_network_is_as_small_as_its_session_and_goes_with_the_last_container(
    docker_engine: DockerEngine, docker: aiodocker.Docker, installation: str, member: Member
) -> None:
    main, sub = await member("a", "main1"), await member("a", "sub1")
    large = await member("b", "main1", of=16)
    subnets = {
        one["Labels"]["carrel.network"]: ip_network(one["IPAM"]["Config"][0]["Subnet"])  # type: ignore[index]
        for one in await private(docker, installation)
    }
    assert {name: subnet.prefixlen for name, subnet in subnets.items()} == {"a": 29, "b": 27}
    await docker_engine.remove(main.id, grace_s=0)
    assert len(await private(docker, installation)) == 2
    await docker_engine.remove(sub.id, grace_s=0)
    await docker_engine.remove(large.id, grace_s=0)
    assert await private(docker, installation) == []


async def test_networks_that_an_interrupted_removal_left_are_swept(
    docker_engine: DockerEngine, docker: aiodocker.Docker, installation: str, member: Member
) -> None:
    lost, kept = await member("lost", "main1"), await member("kept", "main1")
    await docker.containers.container(f"carrel-{installation}-{lost.id}").delete(force=True)
    other = DockerEngine(docker_url(), installation)
    await other.nodes()
    await other.close()
    (left,) = await private(docker, installation)
    assert left["Labels"]["carrel.network"] == "kept"  # type: ignore[index]
    await docker_engine.remove(kept.id, grace_s=0)


async def test_bridges_with_the_same_name_get_out_of_each_others_way(
    docker_engine: DockerEngine,
    docker: aiodocker.Docker,
    installation: str,
    member: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = networks.own_bridge
    monkeypatch.setattr(
        networks, "own_bridge", lambda names, network, attempt=0: original(names, "same", attempt)
    )
    for name in ("a", "b", "c"):
        await member(name, "main1")
    assert len(await private(docker, installation)) == 3


async def test_a_private_network_deleted_behind_our_back_is_made_again(
    docker_engine: DockerEngine, docker: aiodocker.Docker, installation: str, member: Member
) -> None:
    main = await member("a", "main1")
    name = f"carrel-{installation}-{main.id}"
    await docker.containers.container(name).kill()
    await docker.containers.container(name).wait()
    await (await docker.networks.get(f"carrel-{installation}-network-a")).delete()
    assert (await docker_engine.ensure(main, ProgressLog())).address
    sub = await member("a", "sub1")
    ran = await run(docker_engine, sub.id, "sh", "-c", "until nc -w 2 main1 7000; do :; done")
    assert ran.stdout == b"main1-of-a\n"


async def test_members_do_not_reach_services_of_their_host(
    docker_engine: DockerEngine, docker: aiodocker.Docker, installation: str, member: Member
) -> None:
    main = await member("a", "main1")
    (network,) = await private(docker, installation)
    gateway = str(next(ip_network(network["IPAM"]["Config"][0]["Subnet"]).hosts()))  # type: ignore[index]
    with socket.create_server(("0.0.0.0", 0)) as service:
        port = str(service.getsockname()[1])
        ran = await run(docker_engine, main.id, "nc", "-w", "2", gateway, port)
        assert ran.exit_code != 0
        service.settimeout(0.1)
        with pytest.raises(TimeoutError):
            service.accept()
