"""A device plug-in of Kubernetes that serves the accelerators of a driver, such as those of a simulated machine.

    with DevicePlugin("nvidia.com/gpu", driver, node.device_plugins) as plug_in:
        plug_in.changed()      # the driver offers others now

Source: k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1/api.proto.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

import grpc
from grpc_messages import field, fields, text

from carrel.accelerators.driver import AcceleratorDriver
from carrel.core.slots import WHOLE

_VERSION = "v1beta1"
_SERVICE = f"{_VERSION}.DevicePlugin"
_ANSWER_S = 10.0


class DevicePlugin:
    """Registered with a kubelet until it is left. folder: where the kubelet has its socket."""

    def __init__(self, resource: str, driver: AcceleratorDriver, folder: Path) -> None:
        self._resource, self._driver, self._folder = resource, driver, folder
        self._changed = threading.Condition()
        self._over = False
        self._socket = f"{resource.replace('/', '-')}.sock"
        self._server = grpc.server(ThreadPoolExecutor(4))
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(_SERVICE, self._methods()),)
        )

    def __enter__(self) -> "DevicePlugin":
        self._server.add_insecure_port(f"unix:{self._folder / self._socket}")
        self._server.start()
        with grpc.insecure_channel(f"unix:{self._folder / 'kubelet.sock'}") as kubelet:
            register = kubelet.unary_unary(f"/{_VERSION}.Registration/Register")
            request = text(1, _VERSION) + text(2, self._socket) + text(3, self._resource)
            register(request, timeout=_ANSWER_S, wait_for_ready=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over = True
        self.changed()
        self._server.stop(None).wait()

    def changed(self) -> None:
        """Tell the kubelet which devices there are now."""
        with self._changed:
            self._changed.notify_all()

    def _methods(self) -> Mapping[str, Any]:
        return {
            "GetDevicePluginOptions": grpc.unary_unary_rpc_method_handler(lambda request, context: b""),
            "ListAndWatch": grpc.unary_stream_rpc_method_handler(self._watched),
            "Allocate": grpc.unary_unary_rpc_method_handler(self._allocated),
        }

    def _watched(self, request: bytes, context: object) -> Iterator[bytes]:
        while not self._over:
            with self._changed:
                healthy = ((state.device.id, state.healthy) for state in self._driver.states())
                yield b"".join(
                    field(1, text(1, device) + text(2, "Healthy" if well else "Unhealthy"))
                    for device, well in healthy
                )
                self._changed.wait()

    def _allocated(self, request: bytes, context: object) -> bytes:
        containers = [[device.decode() for _, device in fields(one)] for _, one in fields(request)]
        return b"".join(field(1, self._attached(devices)) for devices in containers)

    def _attached(self, devices: Iterable[str]) -> bytes:
        """ContainerAllocateResponse: what the container gets."""
        attachment = self._driver.attach(dict.fromkeys(devices, WHOLE))
        variables = (field(1, text(1, name) + text(2, value)) for name, value in attachment.env.items())
        mounts = (
            field(2, text(1, one.target) + text(2, one.source) + b"\x18\x01") for one in attachment.paths
        )
        return b"".join([*variables, *mounts])
