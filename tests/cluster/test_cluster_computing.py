"""Cluster sessions over several nodes: placed by topology, computing together, and losing one of their nodes."""

import asyncio
from pathlib import Path

import cluster_images
import pytest
from cluster_image import ALL_REDUCE, ensure_cluster_image
from cluster_installation import Installation, Pods
from cluster_node import Node
from own_cluster import Cluster

from carrel.core.ids import SessionId
from carrel.engines.conformance_kit import Ran, run
from carrel.engines.kubernetes import KubernetesEngine
from carrel.sessions.spec import ClusterRole
from carrel.tables.session_states import ClusterPlacement, OnFailure
from carrel.tables.session_states import SessionState as S

_LEVEL = "kubernetes.io/hostname"


@pytest.fixture(scope="module")
def image(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An image with Open MPI on every node."""
    reference = asyncio.run(ensure_cluster_image())
    folder: Path = tmp_path_factory.mktemp("images")
    cluster_images.save_as_layer(reference, folder, without=["opt", "var/cache", "var/lib/apt"])
    (archive,) = folder.iterdir()
    for node in cluster.nodes:
        node.load(archive)
    archive.unlink()
    return reference


@pytest.fixture
async def apart(installation: Installation) -> Installation:
    """The nodes are domains of a topology; without it, containers would share one."""
    installation.set_group(topology=[_LEVEL], placement="concentrated")
    return installation


async def test_an_mpi_program_reduces_over_two_nodes(
    apart: Installation, engine: KubernetesEngine, image: str
) -> None:
    session = await apart.create(image=image, cpu=300, mem=256 << 20, containers=2)
    await apart.until(session, S.RUNNING)
    assert {*apart.nodes_of(session).values()} == {"node-a", "node-b"}

    async def on(host: str, *command: str) -> Ran:
        return await run(engine, apart.containers_of(session)[host], *command)

    names = "for h in main1 sub1; do ssh $h 'hostname; echo $NODE_RANK $MASTER_ADDR'; done"
    for host in ("main1", "sub1"):
        assert await on(host, "sh", "-c", names) == Ran(0, b"main1\n0 main1\nsub1\n1 main1\n")
        assert (await on(host, "sh", "-c", f"cat > sum.py <<'END'\n{ALL_REDUCE}END")).exit_code == 0
    ran = await on("main1", "mpirun", "/usr/bin/python3", "sum.py")
    assert sorted(ran.stdout.decode().splitlines()) == ["0 2 main1 3", "1 2 sub1 3"], ran.stderr


async def test_together_is_one_node_and_spread_is_several(apart: Installation) -> None:
    spread = await apart.create(containers=2)
    together = await apart.create(containers=2, placement=ClusterPlacement.TOGETHER)
    required = await apart.create(containers=2, topology=_LEVEL)
    for session in (spread, together, required):
        await apart.until(session, S.RUNNING)
    assert {*apart.nodes_of(spread).values()} == {"node-a", "node-b"}
    assert len({*apart.nodes_of(together).values()}) == len({*apart.nodes_of(required).values()}) == 1


async def _lost(installation: Installation, cluster: Cluster, node: Node) -> None:
    node.leave()
    cluster.call("DELETE", f"/api/v1/nodes/{node.name}")
    for _ in range(2):
        await installation.pass_time(130)


async def _over_both(installation: Installation, on_failure: OnFailure = OnFailure.END) -> SessionId:
    roles = (ClusterRole(name="sub"),)
    session = await installation.create(roles=roles, on_failure=on_failure)
    await installation.until(session, S.RUNNING)
    assert {*installation.nodes_of(session).values()} == {"node-a", "node-b"}
    return session


async def test_the_loss_of_one_of_its_nodes_ends_a_session_with_all_its_containers(
    apart: Installation, cluster: Cluster, pods: Pods, node: Node
) -> None:
    apart.set_group(on_node_loss="end")
    session = await _over_both(apart)
    await _lost(apart, cluster, node)
    await apart.until(session, S.ERROR)
    assert apart.reason(session) == "Its node is lost."
    await apart.rests()
    assert pods.nodes() == []


async def test_the_loss_of_one_of_its_nodes_starts_all_containers_of_a_session_elsewhere(
    apart: Installation, cluster: Cluster, pods: Pods, node: Node
) -> None:
    apart.set_group(on_node_loss="reschedule")
    session = await _over_both(apart)
    await _lost(apart, cluster, node)
    await apart.until_cause(session, "node_lost")
    await apart.until(session, S.RUNNING)
    assert apart.nodes_of(session) == {"main1": "node-a", "sub1": "node-a"}
    await apart.rests()
    assert pods.nodes() == ["node-a", "node-a"]
