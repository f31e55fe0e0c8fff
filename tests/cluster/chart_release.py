"""Carrel installed in a test cluster by its chart, with a PostgreSQL outside of the cluster.

The cluster has no service addresses and no ingress controller: clients of the tests choose among the pods that the
endpoint slices of a service list as ready, as every load balancer does.
"""

import json
import os
import secrets
import shutil
import subprocess
import tempfile
from base64 import b64decode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from chart import NAMESPACE, make_namespace, run
from control_plane_image import NEXT_REFERENCE, REFERENCE, control_plane_image
from crash.control_plane import free_port
from e2e.running import keypair
from own_cluster import Cluster
from people import wait_until

SESSIONS = f"{NAMESPACE}-sessions"
_WITHIN_S = 240


class Release:
    """The release `carrel` in a cluster. `http` is the administrator's client through `api`."""

    def __init__(self, cluster: Cluster, folder: Path, database_url: str) -> None:
        self.cluster = cluster
        self._folder = folder
        self._values = folder / "values.json"
        self._values.write_text(json.dumps(self._chosen(database_url)))
        self.auth: tuple[str, str] = ("", "")

    def install(self) -> None:
        """Returns when all pods are ready."""
        self._prepare()
        self._helm("install")
        self.sign_in()

    def upgrade(self, **values: str) -> None:
        """Returns when all pods of the former version have been replaced."""
        self._helm("upgrade", *(word for item in values.items() for word in ("--set-string", "=".join(item))))

    def uninstall(self) -> None:
        run("uninstall", "carrel", "--namespace", NAMESPACE, "--wait", *self._access())

    def ready(self, role: str) -> list[str]:
        """Addresses of the role's pods that its service sends requests to."""
        chosen = f"labelSelector=kubernetes.io/service-name%3Dcarrel-{role}"
        slices = self.cluster.call(
            "GET", f"/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices?{chosen}"
        )
        return sorted(
            f"{endpoint['addresses'][0]}:{one['ports'][0]['port']}"
            for one in slices["items"]
            for endpoint in one.get("endpoints") or ()
            if endpoint["conditions"]["ready"]
        )

    def pods(self, role: str) -> list[dict[str, Any]]:
        chosen = f"labelSelector=app.kubernetes.io/component%3D{role}"
        return self.cluster.call("GET", f"/api/v1/namespaces/{NAMESPACE}/pods?{chosen}")["items"]  # type: ignore[no-any-return]

    def sign_in(self) -> None:
        """As the first administrator, with the password from the Secret."""
        secret = self.cluster.call("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets/carrel")
        password = decoded(secret["data"]["admin-password"])
        made = keypair(f"http://{self.ready('api')[0]}", password)
        self.auth = (made["CARREL_ACCESS_KEY"], made["CARREL_SECRET_KEY"])

    def client(self, address: str = "") -> httpx2.Client:
        """A client of one pod of the API, which is any ready one without an address."""
        chosen = address or secrets.choice(self.ready("api"))
        return httpx2.Client(base_url=f"http://{chosen}/api/v1", auth=self.auth, timeout=60)

    def until(self, session: str, state: str) -> dict[str, Any]:
        """The session once it is in that state."""

        def reached() -> dict[str, Any] | None:
            with self.client() as client:
                shown = client.get(f"/sessions/{session}").raise_for_status().json()
            assert shown["state"] == state or shown["state"] not in ("TERMINATED", "CANCELLED", "ERROR"), (
                shown
            )
            return shown if shown["state"] == state else None

        return wait_until(reached, within_s=_WITHIN_S, every_s=0.5)  # type: ignore[return-value]

    def _chosen(self, database_url: str) -> dict[str, Any]:
        # Without kube-proxy, the API server has no service address.
        host, port = self.cluster.url.removeprefix("https://").split(":")
        reached = [
            {"name": "KUBERNETES_SERVICE_HOST", "value": host},
            {"name": "KUBERNETES_SERVICE_PORT", "value": port},
        ]
        repository, tag = REFERENCE.rsplit(":", 1)
        role = {"resources": {"requests": {"cpu": "10m", "memory": "64Mi"}}}
        return {
            "image": {"repository": repository, "tag": tag, "pullPolicy": "Never"},
            "publicUrl": "http://carrel.localhost",
            "appsUrl": "http://apps.localhost",
            "database": {"url": database_url},
            # A directory that all nodes of the tests share.
            "data": {"volume": {"hostPath": {"path": str(self._folder / "files"), "type": "Directory"}}},
            # The client is outside of the cluster, as a load balancer is.
            "networkPolicy": {"podNetworks": [node.pods for node in self.cluster.nodes]},
            "api": {**role, "env": reached},
            "controllers": {**role, "env": reached},
            "gateway": role,
        }

    def _prepare(self) -> None:
        """The images on the nodes, and the directory of the volume that all pods write."""
        archive = self._folder / "image.tar"
        subprocess.run(["docker", "save", "-o", str(archive), REFERENCE, NEXT_REFERENCE], check=True)
        with ThreadPoolExecutor() as beside:
            for loaded in [beside.submit(node.load, archive) for node in self.cluster.nodes]:
                loaded.result()
        archive.unlink()
        files = self._folder / "files"
        files.mkdir()
        os.chown(files, 1000, 1000)
        make_namespace(self.cluster, NAMESPACE, "restricted")

    def _helm(self, *words: str) -> None:
        command, *options = words
        done = run(
            command,
            "carrel",
            ".",
            "--namespace",
            NAMESPACE,
            "--values",
            str(self._values),
            "--wait",
            "--timeout",
            f"{_WITHIN_S}s",
            *self._access(),
            *options,
        )
        assert done.returncode == 0, f"{done.stderr}\n{self._state()}"

    def _access(self) -> tuple[str, ...]:
        return ("--kubeconfig", str(self.cluster.kubeconfig))

    def _state(self) -> str:
        """What the pods say about themselves, for a failed installation."""
        lines = []
        for role in ("api", "gateway", "controllers"):
            for pod in self.pods(role):
                status = pod["status"]
                states = [
                    one.get("state")
                    for kind in ("initContainerStatuses", "containerStatuses")
                    for one in status.get(kind, ())
                ]
                lines.append(
                    f"{pod['metadata']['name']}: {status.get('phase')} {states} {status.get('conditions')}"
                )
                path = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod['metadata']['name']}/log?tailLines=15"
                for container in ("migrate", role):
                    try:
                        lines.append(str(self.cluster.call("GET", f"{path}&container={container}")))
                    except RuntimeError as error:
                        lines.append(str(error))
        return "\n".join(lines)


def decoded(text: str) -> str:
    return b64decode(text).decode()


@contextmanager
def outside_database(address: str) -> Iterator[str]:
    """The URL of a PostgreSQL at this address of the machine, from the image of the control plane."""
    name, port, password = f"carrel-cluster-database-{os.getpid()}", free_port(), secrets.token_hex(8)
    folder = Path(tempfile.mkdtemp(prefix="carrel-database-", dir="/tmp"))
    folder.chmod(0o755)
    (folder / "password").write_text(password)
    options = [
        f"--name={name}",
        "--network=host",
        "--read-only",
        "--tmpfs=/tmp",
        "--shm-size=256m",
        f"--volume={folder}/password:/run/secrets/password:ro",
        "--tmpfs=/data:uid=1000,gid=1000,mode=0700",
        "--env=PGDATA=/data/postgres",
        f"--env=PGPORT={port}",
        "--env=POSTGRES_PASSWORD_FILE=/run/secrets/password",
        "--entrypoint=carrel-postgres",
    ]
    try:
        subprocess.run(
            ["docker", "run", "--detach", *options, control_plane_image()], check=True, capture_output=True
        )
        yield f"postgresql://carrel:{password}@{address}:{port}/carrel"
    finally:
        subprocess.run(["docker", "rm", "--force", "--volumes", name], check=False, capture_output=True)
        shutil.rmtree(folder)


@contextmanager
def release(cluster: Cluster) -> Iterator[Release]:
    """The chart, installed until the block ends."""
    control_plane_image()
    folder = Path(tempfile.mkdtemp(prefix="carrel-release-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        with outside_database(cluster.address) as url:
            made = Release(cluster, folder, url)
            made.install()
            yield made
            made.uninstall()
    finally:
        shutil.rmtree(folder)
