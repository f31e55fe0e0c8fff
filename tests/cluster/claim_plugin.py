"""A driver of dynamic resource allocation that serves the accelerators of a driver of ours, as of a simulated machine.

    with ClaimPlugin(cluster, node, "gpu.example.com", driver) as plug_in:
        plug_in.publish()      # the driver has others now
        plug_in.prepared       # by uid of a claim, the names of its devices

Each device has its UUID and model as attributes, and its memory as capacity, as NVIDIA's driver publishes them. For a
prepared claim, it writes a specification (CDI) by which the node's containerd injects what the driver of ours attaches.

Source: k8s.io/kubelet/pkg/apis/dra/v1/api.proto and pluginregistration/v1/api.proto.
"""

import json
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

import grpc
from cluster_node import Node
from grpc_messages import field, fields, text
from own_cluster import Cluster
from people import wait_until

from carrel.accelerators.driver import AcceleratorDriver
from carrel.accelerators.port import Attachment, Device, MachinePath
from carrel.core.slots import WHOLE

_GROUP = "/apis/resource.k8s.io/v1"
_SLICES = f"{_GROUP}/resourceslices"
_CLASSES = f"{_GROUP}/deviceclasses"
_PREPARING = "k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin"
_REGISTERING = "pluginregistration.Registration"


class ClaimPlugin:
    """Registered with a node's kubelet until it is left, with a device class of the driver's name."""

    def __init__(
        self, cluster: Cluster, node: Node, name: str, driver: AcceleratorDriver, *, anonymous: bool = False
    ) -> None:
        self._cluster, self._node, self._name, self._driver = cluster, node, name, driver
        self._anonymous = anonymous
        self._slice = f"{node.name}-{name}"
        self._kind = f"{name}/device"
        self._generation = 0
        self._socket = node.plugins / f"{name}.sock"
        self._registered = False
        self.tainted: Mapping[str, str] = {}
        """Keys of taints, by name of a device."""
        self.prepared: dict[str, list[str]] = {}
        self._ids: dict[str, str] = {}
        """Of the devices of ours, by name."""
        self._server = grpc.server(ThreadPoolExecutor(4))
        for service, methods in ((_REGISTERING, self._registration()), (_PREPARING, self._preparation())):
            handlers: Any = {
                each: grpc.unary_unary_rpc_method_handler(method) for each, method in methods.items()
            }
            self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))

    def __enter__(self) -> "ClaimPlugin":
        self._server.add_insecure_port(f"unix:{self._socket}")
        self._server.start()
        wait_until(lambda: self._registered)
        expression = f'device.driver == "{self._name}" && device.attributes["{self._name}"].type == "gpu"'
        selected = {"selectors": [{"cel": {"expression": expression}}]}
        self._cluster.call("POST", _CLASSES, {"metadata": {"name": self._name}, "spec": selected})
        self.publish()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cluster.call("DELETE", f"{_SLICES}/{self._slice}")
        self._cluster.call("DELETE", f"{_CLASSES}/{self._name}")
        self._server.stop(None).wait()
        self._socket.unlink(missing_ok=True)

    def publish(self) -> None:
        """Replace the slice of the node's devices."""
        self._generation += 1
        healthy = [state.device for state in self._driver.states() if state.healthy]
        pool = {"name": self._node.name, "generation": self._generation, "resourceSliceCount": 1}
        spec = {
            "driver": self._name,
            "nodeName": self._node.name,
            "pool": pool,
            "devices": [self._described(number, one) for number, one in enumerate(healthy)],
        }
        self._cluster.call("DELETE", f"{_SLICES}/{self._slice}")
        self._cluster.call("POST", _SLICES, {"metadata": {"name": self._slice}, "spec": spec})

    def _described(self, number: int, device: Device) -> dict[str, object]:
        name = f"gpu-{number}"
        self._ids[name] = device.id
        identified = {} if self._anonymous else {"uuid": {"string": device.id}}
        taint = {"key": self.tainted.get(name), "effect": "NoSchedule"}
        return {
            "name": name,
            "attributes": {
                "type": {"string": "gpu"},
                "index": {"int": number},
                "driverVersion": {"version": "580.65.6"},
                "productName": {"string": device.model},
                **identified,
            },
            "capacity": {"memory": {"value": str(device.mem_bytes or 1 << 30)}},
            **({"taints": [taint]} if name in self.tainted else {}),
        }

    def _registration(self) -> Mapping[str, Any]:
        about = text(1, "DRAPlugin") + text(2, self._name) + text(3, str(self._socket))

        def notified(request: bytes, context: object) -> bytes:
            # RegistrationStatus.plugin_registered
            self._registered = request == b"\x08\x01"
            return b""

        return {
            "GetInfo": lambda request, context: about + text(4, "v1.DRAPlugin"),
            "NotifyRegistrationStatus": notified,
        }

    def _preparation(self) -> Mapping[str, Any]:
        return {
            "NodePrepareResources": lambda request, context: self._answer(request, self._prepare),
            "NodeUnprepareResources": lambda request, context: self._answer(request, self._unprepare),
        }

    def _answer(self, request: bytes, each: Any) -> bytes:
        """A map from the claims of a request to answers."""
        claims = [{number: value.decode() for number, value in fields(one)} for _, one in fields(request)]
        entries = (text(1, one[2]) + field(2, each(one[1], one[2], one[3])) for one in claims)
        return b"".join(field(1, entry) for entry in entries)

    def _prepare(self, namespace: str, uid: str, name: str) -> bytes:
        claim = self._cluster.call("GET", f"{_GROUP}/namespaces/{namespace}/resourceclaims/{name}")
        results = claim["status"]["allocation"]["devices"]["results"]
        mine = [one for one in results if one["driver"] == self._name]
        self.prepared[uid] = [one["device"] for one in mine]
        self._specification(uid).write_text(json.dumps(self._injected(self.prepared[uid])))
        return b"".join(field(1, self._device(one)) for one in mine)

    def _device(self, result: Mapping[str, str]) -> bytes:
        qualified = f"{self._kind}={result['device']}"
        return (
            text(1, result["request"])
            + text(2, result["pool"])
            + text(3, result["device"])
            + text(4, qualified)
        )

    def _unprepare(self, namespace: str, uid: str, name: str) -> bytes:
        self.prepared.pop(uid, None)
        self._specification(uid).unlink(missing_ok=True)
        return b""

    def _specification(self, uid: str) -> Path:
        folder = self._node.device_specifications
        folder.mkdir(exist_ok=True)
        return folder / f"{self._name}-{uid}.json"

    def _injected(self, names: Collection[str]) -> dict[str, object]:
        """The specification of a claim's devices: variables for all together, and the files of each."""
        variables = self._attached(*names).env
        devices = [
            {"name": name, "containerEdits": {"mounts": [_mount(one) for one in self._attached(name).paths]}}
            for name in names
        ]
        return {
            "cdiVersion": "0.6.0",
            "kind": self._kind,
            "devices": devices,
            "containerEdits": {"env": [f"{name}={value}" for name, value in variables.items()]},
        }

    def _attached(self, *names: str) -> Attachment:
        return self._driver.attach({self._ids[name]: WHOLE for name in names})


def _mount(file: MachinePath) -> dict[str, object]:
    return {"hostPath": file.source, "containerPath": file.target, "options": ["bind", "ro"]}


def claims(cluster: Cluster, namespace: str) -> list[Any]:
    """All of a namespace."""
    return list(cluster.call("GET", f"{_GROUP}/namespaces/{namespace}/resourceclaims")["items"])
