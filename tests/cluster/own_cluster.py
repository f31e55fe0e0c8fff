"""A Kubernetes cluster of the test's own: a real control plane and real kubelets on real containerd.

    with Cluster() as cluster:
        cluster.call("GET", "/api/v1/nodes")  # or any client, with cluster.kubeconfig
        cluster.nodes[1].disconnect()      # also: leave, join, cut_power, boot

Needs root, Debian's etcd-server, containerd, runc, containernetworking-plugins and ipset, and Go
(`kubernetes_programs`). Network policies are enforced, and services have names, but no addresses of their own.
It runs in namespaces of its own, so several clusters may run at once, and in one folder in /tmp. Pods and the API
server are reached from this machine by their addresses. The first node has a containerd that injects devices (CDI), the
others Debian's, which does not.

    this machine ── hub (etcd, API server, controllers, scheduler, DNS)
    10.S.0.254       10.S.0.1
                      ├── node-a 10.S.0.11, pods 10.S.1.0/24
                      └── node-b 10.S.0.12, pods 10.S.2.0/24
"""

import contextlib
import http.client
import json
import secrets
import shutil
import signal
import ssl
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import cluster_images
from cluster_certificates import Authority
from cluster_node import Node
from cluster_place import Place, Running, open_folder, sweep, sweep_abandoned
from go_programs import containerd
from kubernetes_programs import kubernetes, network
from people import wait_until

_READY_S = 120.0
_ANSWER_S = 30.0
_EVERY_S = 0.05
_PORT = 6443
_API_SERVER = "kube-apiserver"
_UNLIMITED = ("--kube-api-qps=1000", "--kube-api-burst=1000")
"""By default, they send 20 and 50 requests in a second."""
_COREFILE = """\
. {{
    errors
    kubernetes cluster.local {{
        kubeconfig {kubeconfig}
    }}
}}
"""
_PROGRAMS = ("etcd", "containerd", "runc", "ip", "ipset")


class Cluster:
    """Two nodes by default. loss_s: after this time without news, a node is not ready. images: of this machine's Docker
    that the nodes have besides the tiny ones (`cluster_images.tiny`).
    """

    def __init__(self, *, nodes: int = 2, loss_s: int = 10, images: tuple[str, ...] = ()) -> None:
        self._count = nodes
        self._loss_s = loss_s
        self._images = images
        self._lock: IO[str] | None = None
        self._parts: dict[str, Running] = {}
        self.folder = Path()
        self.nodes: list[Node] = []
        self.address = ""
        """This machine's address in the cluster's network."""
        self.url = ""
        self.kubeconfig = Path()
        """Of an administrator."""

    def __enter__(self) -> "Cluster":
        missing = [program for program in _PROGRAMS if not shutil.which(program)]
        if missing or not Path("/usr/lib/cni/bridge").exists():
            raise RuntimeError(
                f"Programs of the cluster are missing ({missing}): run ./carrel test --only cluster"
            )
        self._programs = kubernetes(), network()
        self._runtime = containerd() if self._count else None
        sweep_abandoned()
        self.folder, self._lock = open_folder()
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End it and remove all of it. Twice: no-op."""
        if self._lock is not None:
            sweep(self.folder)
            self._lock.close()
            self._lock = None

    @property
    def hub(self) -> Place:
        """Where the control plane runs, which is the router of the nodes."""
        return self._hub

    def call(self, method: str, path: str, body: object = None) -> Any:
        """A request to the API server as an administrator: the decoded answer, None for 404.

        Raises: RuntimeError for refusals, OSError.
        """
        context = ssl.create_default_context(cafile=str(self.folder / "ca.pem"))
        context.load_cert_chain(self.folder / "admin.pem", self.folder / "admin.key")
        connection = http.client.HTTPSConnection(
            self._network + ".0.1", _PORT, context=context, timeout=_ANSWER_S
        )
        with contextlib.closing(connection):
            kind = "merge-patch+json" if method == "PATCH" else "json"
            content = None if body is None else json.dumps(body)
            connection.request(method, path, content, {"Content-Type": f"application/{kind}"})
            answer = connection.getresponse()
            text = answer.read()
        if answer.status == 404:
            return None
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {text.decode(errors='replace')}")
        return json.loads(text) if text.startswith(b"{") else text.decode()

    @property
    def audit_log(self) -> Path:
        """Requests of service accounts: an event in JSON on each line."""
        return self.folder / "audit.log"

    def stop_api_server(self) -> None:
        """Kill it. Twice: no-op."""
        if part := self._parts.pop(_API_SERVER, None):
            part.end(signal.SIGKILL)

    def start_api_server(self) -> None:
        """Start it again, and wait until it answers."""
        self._start_api_server()
        self._until(self._answers)

    def save(self) -> None:
        """Keep a copy of the storage, as it is now, for `restore`."""
        self._parts.pop("etcd").end()
        shutil.copytree(self.folder / "etcd", self.folder / "saved", dirs_exist_ok=True)
        self._start_etcd()
        self._until(self._answers)

    def restore(self) -> None:
        """Replace the storage by its copy, and start everything that depends on it again, as Kubernetes advises."""
        for name in ("kube-scheduler", "kube-controller-manager", _API_SERVER, "etcd"):
            self._parts.pop(name).end(signal.SIGKILL)
        shutil.rmtree(self.folder / "etcd")
        (self.folder / "saved").rename(self.folder / "etcd")
        self._start_storage()
        self._until(self._answers)
        self._start_controllers()
        for node in self.nodes:
            node.leave()
            node.join()

    def ready(self, node: Node) -> bool:
        """True if the node is there, ready, and takes pods."""
        seen = self.call("GET", f"/api/v1/nodes/{node.name}") or {"spec": {}, "status": {}}
        conditions = {one["type"]: one["status"] for one in seen["status"].get("conditions", ())}
        return conditions.get("Ready") == "True" and not seen["spec"].get("taints")

    def _start(self) -> None:
        second = _free_network()
        self._network = f"10.{second}"
        self.address, self.url = f"{self._network}.0.254", f"https://{self._network}.0.1:{_PORT}"
        # 1. The hub, with the names of the nodes and their certificates.
        self._hub = Place(self.folder, "hub")
        self.nodes = [
            Node(
                *(self.folder, self._network, number + 1, self._programs, self._hub),
                runtime=None if number else self._runtime,
            )
            for number in range(self._count)
        ]
        self._connect_hub(second)
        self._certify()
        # 2. The control plane, and beside it the nodes up to their images.
        with ThreadPoolExecutor() as beside:
            archives = beside.submit(self._write_images)
            booted = [beside.submit(node.boot) for node in self.nodes]
            self._start_storage()
            for one in booted:
                one.result()
            self._until(self._answers)
            self._start_controllers()
            self._start_names()
            # 3. The kubelets, once there is somebody to register with.
            archives.result()
            loaded = [beside.submit(self._join, node) for node in self.nodes]
            for each in loaded:
                each.result()
        self._until(lambda: all(self.ready(node) for node in self.nodes))
        for path in ("serviceaccounts/default", "configmaps/kube-root-ca.crt"):
            self._until(lambda path=path: self.call("GET", f"/api/v1/namespaces/default/{path}"))  # type: ignore[misc]

    def _join(self, node: Node) -> None:
        node.route(self.nodes)
        node.join()
        for archive in sorted((self.folder / "images").glob("*.tar")):
            node.load(archive)

    def _write_images(self) -> None:
        images = self.folder / "images"
        images.mkdir()
        cluster_images.write_archives(images)
        for reference in self._images:
            cluster_images.save(reference, images)

    def _connect_hub(self, second: int) -> None:
        link = f"ccl{second}"
        pods = [
            f"{self._network}.{number + 1}.0/24 via {self._network}.0.{11 + number}"
            for number in range(self._count)
        ]
        self._hub.run(
            "ip link add hub type bridge; ip link set hub up\n"
            f"ip addr add {self._network}.0.1/24 dev hub; echo 1 > /proc/sys/net/ipv4/ip_forward\n"
            + "\n".join(f"ip route add {one}" for one in pods)
        )
        commands = [
            f"ip link add {link} type veth peer name host netns {self._hub.pid}",
            f"ip addr add {self.address}/24 dev {link}",
            f"ip link set {link} up",
        ]
        for command in commands:
            subprocess.run(command.split(), check=True, capture_output=True)
        self._hub.run("ip link set host master hub up")
        for one in pods:
            subprocess.run(f"ip route add {one}".split(), check=True, capture_output=True)

    def _certify(self) -> None:
        authority = Authority(self.folder)
        hub = f"{self._network}.0.1"
        authority.server("apiserver", "kubernetes.default.svc", "127.0.0.1", hub, f"{self._network}.96.1")
        authority.key_pair("accounts")
        authority.client("kubelet-client", "kube-apiserver-kubelet-client", "system:masters")
        clients = {
            "admin": ("admin", "system:masters"),
            "controllers": ("system:kube-controller-manager", ""),
            "scheduler": ("system:kube-scheduler", ""),
            **{node.name: (f"system:node:{node.name}", "system:nodes") for node in self.nodes},
        }
        for name, (user, group) in clients.items():
            authority.client(name, user, group)
            authority.kubeconfig(name, self.url)
        self.kubeconfig = self.folder / "admin.kubeconfig"

    def _start_storage(self) -> None:
        self._start_etcd()
        self._start_api_server()

    def _start_etcd(self) -> None:
        self._parts["etcd"] = self._hub.start(
            "etcd",
            "etcd",
            f"--data-dir={self.folder}/etcd",
            "--unsafe-no-fsync",
            "--listen-client-urls=http://127.0.0.1:2379",
            "--advertise-client-urls=http://127.0.0.1:2379",
            "--listen-peer-urls=http://127.0.0.1:2380",
        )

    def _start_api_server(self) -> None:
        folder, hub = self.folder, f"{self._network}.0.1"
        self._kubernetes(
            _API_SERVER,
            f"--advertise-address={hub}",
            "--allow-privileged=true",
            f"--audit-log-path={self.audit_log}",
            f"--audit-policy-file={self._audit_policy()}",
            "--authorization-mode=Node,RBAC",
            f"--cert-dir={folder}",
            f"--client-ca-file={folder}/ca.pem",
            "--enable-admission-plugins=NodeRestriction",
            "--etcd-servers=http://127.0.0.1:2379",
            # Needs what Debian's etcd does not have, and watches from version 0 fail instead.
            "--feature-gates=WatchList=false",
            f"--kubelet-client-certificate={folder}/kubelet-client.pem",
            f"--kubelet-client-key={folder}/kubelet-client.key",
            "--kubelet-preferred-address-types=InternalIP",
            f"--secure-port={_PORT}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={folder}/accounts.pub",
            f"--service-account-signing-key-file={folder}/accounts.key",
            f"--service-cluster-ip-range={self._network}.96.0/24",
            f"--tls-cert-file={folder}/apiserver.pem",
            f"--tls-private-key-file={folder}/apiserver.key",
        )

    def _audit_policy(self) -> Path:
        """A file: everything of service accounts but those of Kubernetes itself."""
        path = self.folder / "audit.json"
        own = {"level": "None", "userGroups": ["system:serviceaccounts:kube-system"]}
        others = {"level": "Metadata", "userGroups": ["system:serviceaccounts"]}
        rules = [own, others, {"level": "None"}]
        kind = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy"}
        path.write_text(json.dumps({**kind, "omitStages": ["RequestReceived"], "rules": rules}))
        return path

    def _start_controllers(self) -> None:
        folder = self.folder
        self._kubernetes(
            "kube-controller-manager",
            f"--flex-volume-plugin-dir={folder}/plugins",
            *_UNLIMITED,
            f"--kubeconfig={folder}/controllers.kubeconfig",
            "--leader-elect=false",
            f"--node-monitor-grace-period={self._loss_s}s",
            "--node-monitor-period=1s",
            f"--root-ca-file={folder}/ca.pem",
            f"--service-account-private-key-file={folder}/accounts.key",
            "--use-service-account-credentials=true",
        )
        self._kubernetes(
            "kube-scheduler",
            *_UNLIMITED,
            f"--kubeconfig={folder}/scheduler.kubeconfig",
            "--leader-elect=false",
        )

    def _start_names(self) -> None:
        corefile = self.folder / "Corefile"
        corefile.write_text(_COREFILE.format(kubeconfig=self.kubeconfig))
        self._parts["dns"] = self._hub.start("dns", str(self._programs[1]), "dns", "-conf", str(corefile))

    def _kubernetes(self, name: str, *options: str) -> None:
        self._parts[name] = self._hub.start(name, str(self._programs[0]), name, *options)

    def _answers(self) -> bool:
        with contextlib.suppress(OSError, RuntimeError):
            return bool(self.call("GET", "/readyz") == "ok")
        return False

    def _until(self, claim: Callable[[], Any]) -> None:
        """Wait while all programs run. Raises: RuntimeError, AssertionError."""

        def holds() -> bool:
            for part in self._parts.values():
                part.check()
            return bool(claim())

        wait_until(holds, within_s=_READY_S, every_s=_EVERY_S)


def _free_network() -> int:
    """The second part of addresses that this machine does not use."""
    rows = subprocess.run(["ip", "route"], capture_output=True, text=True, check=True).stdout
    free = [second for second in range(220, 250) if f"10.{second}." not in rows]
    return secrets.choice(free)
