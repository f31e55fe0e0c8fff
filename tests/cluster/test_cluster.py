"""The test cluster is a real one: what its tests rest on."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import cluster_images
from cluster_node import Node
from own_cluster import Cluster
from people import wait_until

_PODS = "/api/v1/namespaces/default/pods"
_WITHIN_S = 60.0
_LISTENS = "nc -ll -p 7000 -e hostname"


def pod(cluster: Cluster, name: str, node: Node, script: str) -> Any:
    """A running pod on that node."""
    container = {"name": "main", "image": cluster_images.tiny("work"), "command": ["sh", "-c", script]}
    spec = {"nodeName": node.name, "containers": [container], "terminationGracePeriodSeconds": 1}
    body = {"metadata": {"name": name}, "spec": spec}
    cluster.call("POST", _PODS, body)
    return wait_until(lambda: running(cluster, name), within_s=_WITHIN_S)


def running(cluster: Cluster, name: str) -> Any:
    """The pod if it runs."""
    seen = cluster.call("GET", f"{_PODS}/{name}")
    return seen if seen["status"].get("phase") == "Running" else None


def delete(cluster: Cluster, *names: str) -> None:
    for name in names:
        cluster.call("DELETE", f"{_PODS}/{name}")
    for name in names:
        wait_until(lambda name=name: cluster.call("GET", f"{_PODS}/{name}") is None, within_s=_WITHIN_S)  # type: ignore[misc]


def test_a_pod_runs_on_the_chosen_node_with_logs(cluster: Cluster) -> None:
    for node in cluster.nodes:
        made = pod(cluster, f"on-{node.name}", node, "echo here; sleep 1000")
        assert made["spec"]["nodeName"] == node.name
        assert made["status"]["podIP"].startswith(node.pods.removesuffix("0/24"))
        log = f"{_PODS}/on-{node.name}/log"
        assert wait_until(lambda log=log: cluster.call("GET", log), within_s=_WITHIN_S) == "here\n"  # type: ignore[misc]
    delete(cluster, *(f"on-{node.name}" for node in cluster.nodes))


def test_pods_reach_each_other_across_nodes_and_are_reached_from_here(cluster: Cluster) -> None:
    one, other = cluster.nodes
    pod(cluster, "listens", one, _LISTENS)
    address = running(cluster, "listens")["status"]["podIP"]
    pod(cluster, "asks", other, f"until nc -w 2 {address} 7000; do sleep 0.1; done; sleep 1000")
    wait_until(lambda: cluster.call("GET", f"{_PODS}/asks/log") == "listens\n", within_s=_WITHIN_S)
    here = subprocess.run(
        ["busybox", "nc", "-w", "5", address, "7000"], capture_output=True, stdin=subprocess.DEVNULL
    )
    assert here.stdout == b"listens\n"
    delete(cluster, "listens", "asks")


def test_a_node_that_is_cut_off_is_noticed_and_returns(cluster: Cluster) -> None:
    node = cluster.nodes[1]
    pod(cluster, "stays", node, "sleep 1000")
    node.disconnect()
    wait_until(lambda: not cluster.ready(node), within_s=_WITHIN_S)
    node.connect()
    wait_until(lambda: cluster.ready(node), within_s=_WITHIN_S)
    assert running(cluster, "stays")
    delete(cluster, "stays")


def test_a_kubelet_that_was_killed_finds_its_pods_again(cluster: Cluster) -> None:
    node = cluster.nodes[0]
    pod(cluster, "survives", node, "sleep 1000")
    node.leave()
    wait_until(lambda: not cluster.ready(node), within_s=_WITHIN_S)
    node.join()
    wait_until(lambda: cluster.ready(node), within_s=_WITHIN_S)
    [status] = running(cluster, "survives")["status"]["containerStatuses"]
    assert status["restartCount"] == 0
    delete(cluster, "survives")


def test_a_killed_test_leaves_nothing_once_the_next_cluster_starts(cluster: Cluster) -> None:
    """A small one: only its hub."""
    script = (
        "import sys; from cluster_place import *; folder, lock = open_folder(); make_groups(folder, 'x'); "
        "Place(folder, 'hub'); print(folder, flush=True); sys.stdin.read()"
    )
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    abandoned = subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {json.dumps(paths)}; {script}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert abandoned.stdout
    folder = Path(abandoned.stdout.readline().decode().strip())
    from cluster_place import _processes, sweep_abandoned

    sweep_abandoned()
    assert folder.exists()
    abandoned.kill()
    abandoned.wait()
    assert _processes(folder)
    sweep_abandoned()
    assert not folder.exists()
    assert not _processes(folder)
    assert not list(Path("/sys/fs/cgroup").glob(f"*/{folder.name}"))
