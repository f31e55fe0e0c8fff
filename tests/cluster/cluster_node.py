"""A node of a test cluster: containerd, a kubelet and the agent of network policies in a place of their own."""

import json
import os
import signal
from pathlib import Path

import cluster_images
from cluster_place import Place, Running, make_groups


class Node:
    """One machine of the cluster. number: 1 and up, which gives its addresses. runtime: the directory of its containerd
    with the shim; None: Debian's.
    """

    def __init__(
        self,
        folder: Path,
        network: str,
        number: int,
        programs: tuple[Path, Path],
        hub: Place,
        runtime: Path | None = None,
    ) -> None:
        self.name = f"node-{'abcdefgh'[number - 1]}"
        self.address = f"{network}.0.{10 + number}"
        self.pods = f"{network}.{number}.0/24"
        self.link = f"n{number}"
        self._folder = folder
        self._network = network
        self._kubernetes, self._enforcement = programs
        self._home = folder / self.name
        self._group = make_groups(folder, self.name)
        self._hub = hub
        self._runtime = runtime
        self._place: Place
        self._kubelet: Running
        self._containerd: Running
        self._policies: Running

    def boot(self) -> None:
        """Power it on: its network, containerd, the images, and the agent of network policies. The kubelet waits for
        `join`.
        """
        for part in ("run", "var/lib/cni", "var/log", "var/tmp", "root"):
            (self._home / part).mkdir(parents=True, exist_ok=True)
        if not (self._home / "var/run").exists():
            (self._home / "var/run").symlink_to("/run")
        setup = f"mount --bind {self._home}/run /run; mount --bind {self._home}/var /var"
        self._place = Place(self._folder, self.name, within=self._hub, setup=setup)
        self._hub.run(
            f"ip link add {self.link} type veth peer name eth0 netns {self._inside_hub()}\n"
            f"ip link set {self.link} master hub up"
        )
        self._place.run(
            f"ip addr add {self.address}/24 dev eth0; ip link set eth0 up\n"
            f"ip route add default via {self._network}.0.1\n"
            "echo 1 > /proc/sys/net/ipv4/ip_forward\n"
            # Otherwise rules do not apply between pods of one node.
            "echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables"
        )
        self._start_containerd()
        self.enforce()

    def route(self, others: "list[Node]") -> None:
        """Reach the pods of the other nodes."""
        rows = [f"ip route replace {one.pods} via {one.address}" for one in others if one is not self]
        self._place.run("\n".join(rows) or "true")

    def join(self, *, lacks: str = "") -> None:
        """Start the kubelet. lacks: what it finds too little of, such as "memory.available", so that it evicts pods."""
        settings = self._home / "kubelet.json"
        settings.write_text(json.dumps(self._kubelet_settings(lacks)))
        self._kubelet = self._place.start(
            f"{self.name}-kubelet",
            str(self._kubernetes),
            "kubelet",
            f"--config={settings}",
            f"--kubeconfig={self._folder}/{self.name}.kubeconfig",
            f"--hostname-override={self.name}",
            f"--node-ip={self.address}",
            f"--root-dir={self._home}/kubelet",
            f"--cert-dir={self._home}/pki",
        )

    def enforce(self) -> None:
        """Start the agent of network policies."""
        self._policies = self._place.start(
            f"{self.name}-policies",
            str(self._enforcement),
            "policies",
            f"{self._folder}/admin.kubeconfig",
            self.name,
        )

    def stop_enforcing(self) -> None:
        """End the agent, and let everything pass."""
        self._policies.end(signal.SIGKILL)
        self._place.run("iptables -F INPUT; iptables -F OUTPUT; iptables -F FORWARD")

    def leave(self, how: signal.Signals = signal.SIGKILL) -> None:
        """Stop the kubelet; its containers run on."""
        self._kubelet.end(how)

    def disconnect(self) -> None:
        """Cut its network."""
        self._hub.run(f"ip link set {self.link} down")

    def connect(self) -> None:
        self._hub.run(f"ip link set {self.link} up")

    def cut_power(self) -> None:
        """Everything on it ends at once; its disk stays. `boot`, `route` and `join` start it again."""
        self._place.kill()

    def load(self, archive: Path) -> None:
        """Import an image archive."""
        self._place.run(f"ctr -a {self._socket} -n k8s.io images import {archive} >/dev/null")

    def trust(self, registry: str) -> None:
        """Pull from this registry without TLS."""
        folder = self._home / "registries" / registry
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "hosts.toml").write_text(f'server = "http://{registry}"\n[host."http://{registry}"]\n')

    def check(self) -> None:
        """Raises: RuntimeError if one of its programs has ended."""
        for part in (self._containerd, self._kubelet, self._policies):
            part.check()

    def times_second_ran(self) -> int:
        """How often the handler `second` of its containerd, which is runc, was called."""
        calls = self._home / "second-calls"
        return len(calls.read_text().splitlines()) if calls.exists() else 0

    @property
    def device_plugins(self) -> Path:
        """Where its kubelet has the sockets of device plug-ins, as this machine sees it."""
        return self._home / "var/lib/kubelet/device-plugins"

    @property
    def plugins(self) -> Path:
        """Where its kubelet finds the sockets of other plug-ins."""
        return self._home / "kubelet/plugins_registry"

    @property
    def device_specifications(self) -> Path:
        """Where its containerd finds specifications of devices (CDI), as this machine sees it."""
        return self._home / "run/cdi"

    def start(self, name: str, *command: str) -> Running:
        """Start a program on it."""
        return self._place.start(f"{self.name}-{name}", *command)

    @property
    def _socket(self) -> Path:
        return self._home / "run/containerd.sock"

    def _inside_hub(self) -> int:
        """The process id of its keeper as the hub sees it."""
        status = Path(f"/proc/{self._place.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("NSpid:"))
        return int(line.split()[2])

    def _start_containerd(self) -> None:
        self._socket.unlink(missing_ok=True)
        (self._home / "cni").mkdir(exist_ok=True)
        (self._home / "cni/10-pods.conflist").write_text(json.dumps(self._cni()))
        settings = self._home / "containerd.toml"
        second = self._home / "second"
        second.write_text(f'#!/bin/sh\necho "$@" >>{second}-calls\nexec runc "$@"\n')
        second.chmod(0o755)
        settings.write_text(
            _CONTAINERD.format(
                pause=cluster_images.PAUSE, cni=self._home / "cni", home=self._home, second=second
            )
        )
        options = [
            f"--config={settings}",
            f"--root={self._home}/root",
            f"--state={self._home}/run/containerd",
        ]
        path = os.environ["PATH"] if self._runtime is None else f"{self._runtime}:{os.environ['PATH']}"
        self._containerd = self._place.start(
            f"{self.name}-containerd",
            *("env", f"PATH={path}", "containerd", *options, f"--address={self._socket}"),
        )
        self._containerd.until(self._socket)

    def _cni(self) -> dict[str, object]:
        ranges = {"type": "host-local", "ranges": [[{"subnet": self.pods}]], "routes": [{"dst": "0.0.0.0/0"}]}
        bridge = {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipam": ranges}
        return {"cniVersion": "0.4.0", "name": "pods", "plugins": [bridge]}

    def _kubelet_settings(self, lacks: str) -> dict[str, object]:
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": f"{self._folder}/ca.pem"},
            },
            "authorization": {"mode": "Webhook"},
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": self._group,
            "clusterDNS": [f"{self._network}.0.1"],
            "clusterDomain": "cluster.local",
            "containerRuntimeEndpoint": f"unix://{self._socket}",
            "enforceNodeAllocatable": [],
            "evictionHard": {"memory.available": "1Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
            # Not at once, or the kubelet would refuse the pods that are there when it starts.
            "evictionSoft": {lacks: "99%"} if lacks else {},
            "evictionSoftGracePeriod": {lacks: "1s"} if lacks else {},
            "failCgroupV1": False,
            "failSwapOn": False,
            "imageGCHighThresholdPercent": 100,
            "nodeStatusUpdateFrequency": "2s",
            "readOnlyPort": 0,
            "resolvConf": "",
            "volumePluginDir": f"{self._home}/plugins",
            # By default, the size of a new volume is known after a minute.
            "volumeStatsAggPeriod": "1s",
        }


_CONTAINERD = """\
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.second]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.second.options]
      BinaryName = "{second}"
      SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{cni}"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "{home}/registries"
"""
