"""Carrel in a cluster, installed by its chart: a session runs, and an upgrade under load loses nothing."""

from collections.abc import Iterator

import cluster_images
import httpx2
import pytest
from chart_release import SESSIONS, Release, release
from control_plane_image import NEXT_REFERENCE
from own_cluster import Cluster
from people import wait_until
from upgrade_load import Load

_SMALL = {"cpu": 100, "mem": 32 << 20}


@pytest.fixture(scope="module")
def installed(cluster: Cluster) -> Iterator[Release]:
    with release(cluster) as installed:
        yield installed


def test_two_copies_of_each_role_are_ready(installed: Release) -> None:
    for role in ("api", "gateway", "controllers"):
        pods = installed.pods(role)
        assert len(pods) == 2
        assert len({pod["spec"]["nodeName"] for pod in pods}) == 2
        for pod in pods:
            [status] = pod["status"]["containerStatuses"]
            assert (status["ready"], status["restartCount"]) == (True, 0)
    for address in installed.ready("gateway"):
        assert httpx2.get(f"http://{address}/.carrel/health").status_code == 200


def test_a_session_runs_as_a_pod_of_the_same_cluster(installed: Release) -> None:
    body = {"image": cluster_images.tiny("work"), "slots": _SMALL}
    with installed.client() as client:
        nodes = wait_until(lambda: client.get("/nodes").raise_for_status().json()["items"])
        assert {node["name"] for node in nodes} == {node.name for node in installed.cluster.nodes}
        made = client.post("/sessions", json=body).raise_for_status()
    session = made.json()["id"]
    installed.until(session, "RUNNING")
    [pod] = installed.cluster.call("GET", f"/api/v1/namespaces/{SESSIONS}/pods")["items"]
    assert pod["status"]["phase"] == "Running"
    with installed.client() as client:
        client.delete(f"/sessions/{session}").raise_for_status()
    installed.until(session, "TERMINATED")
    assert installed.cluster.call("GET", f"/api/v1/namespaces/{SESSIONS}/pods")["items"] == []


def test_sessions_on_every_node_have_the_folders_of_the_api(installed: Release) -> None:
    with installed.client() as client:
        client.post("/vfolders", json={"name": "data"}).raise_for_status()
        client.put("/vfolders/data/content", params={"path": "note"}, content=b"here").raise_for_status()
        for node in installed.cluster.nodes:
            script = f"cat data/note && cat data/note >data/{node.name}"
            body = {
                "image": cluster_images.tiny("work"),
                "kind": "batch",
                "command": ["sh", "-c", script],
                "slots": _SMALL,
                "node": node.name,
                "mounts": [{"folder": "data"}],
            }
            session = client.post("/sessions", json=body).raise_for_status().json()["id"]
            [main] = installed.until(session, "TERMINATED")["containers"]
            assert main["exit_code"] == 0
            stored = client.get("/vfolders/data/content", params={"path": node.name}).raise_for_status()
            assert stored.content == b"here"
        image = {"image": cluster_images.tiny("work")}
        checked = client.post("/storage-hosts/local/locations/local/check", json=image).raise_for_status()
    places = [*(node.name for node in installed.cluster.nodes), "server"]
    assert checked.json() == {"ok": True, "steps": [{"place": one, "problem": ""} for one in places]}


def test_an_upgrade_under_load_loses_nothing(installed: Release) -> None:
    before = {pod["metadata"]["name"] for pod in installed.pods("api")}
    with Load(installed) as load:
        wait_until(lambda: load.requests > 20 and load.events)
        installed.upgrade(**{"image.tag": NEXT_REFERENCE.rsplit(":", 1)[1]})
        gone = lambda: before.isdisjoint(pod["metadata"]["name"] for pod in installed.pods("api"))  # noqa: E731
        wait_until(gone, within_s=120, every_s=1)
        served = load.requests
        wait_until(lambda: load.requests > served + 20)
    assert load.failures == []
    assert len(load.served_by) == 4
    # Every change arrived once and in order, by several streams.
    assert load.events == load.changes
    assert load.streams > 1
    assert load.digest_stored == load.digest_sent
