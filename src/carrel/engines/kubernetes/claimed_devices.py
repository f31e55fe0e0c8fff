"""Devices of drivers of dynamic resource allocation: which there are, and the claim of a pod that holds some of them.

A pod names its claim, which is created after it, and is its owner: so the cluster deletes the claim with the pod, and
whatever was interrupted leaves a pod behind its gate, which is adopted or removed as any other.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import structlog

from carrel.core.slots import SlotKind
from carrel.engines.kubernetes import device_classes
from carrel.engines.kubernetes.device_classes import ClassDevice, DeviceClass, DeviceOffer, Place, Slice
from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi
from carrel.engines.kubernetes.pods import LABEL_INSTALLATION, PodNames, claim_of
from carrel.engines.kubernetes.watched_list import WatchedList
from carrel.engines.port import ContainerSpec, EngineError

log = structlog.get_logger()
T = TypeVar("T")

_GROUP = "apis/resource.k8s.io/v1"


class _Claim(NamedTuple):
    """ours: of this installation."""

    ours: bool
    places: frozenset[Place]


class ClaimedDevices:
    """kinds: slot kinds by class, of the classes whose devices are offered; without any, no request is made."""

    def __init__(self, api: KubernetesApi, names: PodNames, kinds: Mapping[str, SlotKind]) -> None:
        self._api, self._names, self._kinds = api, names, kinds
        self._slices: WatchedList[Slice] = WatchedList(
            api, f"{_GROUP}/resourceslices", {}, device_classes.slice_kept
        )
        self._classes: WatchedList[DeviceClass] = WatchedList(
            api, f"{_GROUP}/deviceclasses", {}, device_classes.class_kept
        )
        self._claims: WatchedList[_Claim] = WatchedList(api, f"{_GROUP}/resourceclaims", {}, self._kept)
        self._reported: frozenset[str] = frozenset()

    @property
    def lists(self) -> Sequence[WatchedList[Any]]:
        """What to watch."""
        return (self._slices, self._classes, self._claims) if self._kinds else ()

    @property
    def kinds(self) -> Collection[SlotKind]:
        """Of all classes."""
        return self._kinds.values()

    async def offered(self, held: Mapping[str, Collection[str]]) -> Mapping[str, DeviceOffer]:
        """The devices of each node without those that claims of others have. held: by containers of ours, by node.

        Raises: ApiError, EngineUnavailable.
        """
        if not self._kinds:
            return {}
        nodes = await self._of_nodes()
        claims = await _read(self._claims)
        foreign = {place for claim in claims if not claim.ours for place in claim.places}
        return {
            node: device_classes.offered(there, foreign, held.get(node, ())) for node, there in nodes.items()
        }

    async def claim(self, spec: ContainerSpec, pod: Mapping[str, Any]) -> None:
        """Create the claim that its pod names. Twice: no-op.

        Raises: EngineError if a device is not there, ApiError, EngineUnavailable.
        """
        held = [device for device in spec.devices if device_classes.is_claimed(device)]
        if not held:
            return
        there = (await self._of_nodes()).get(spec.node, ())
        try:
            requests = device_classes.requests(held, there)
        except KeyError as error:
            message = f"The accelerator {error.args[0]} is not there."
            raise EngineError(message, retriable=True, code="accelerator_missing") from error
        try:
            body = claim_of(spec, self._names, pod, requests)
            await self._api.call("POST", self._names.claims, body=body)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise

    def _kept(self, item: Mapping[str, Any]) -> _Claim:
        metadata = item["metadata"]
        installation = (metadata.get("labels") or {}).get(LABEL_INSTALLATION)
        ours = metadata["namespace"] == self._names.namespace and installation == self._names.installation
        return _Claim(ours, device_classes.allocated(item))

    async def _of_nodes(self) -> Mapping[str, Sequence[ClassDevice]]:
        classes = await _read(self._classes)
        self._report(classes)
        devices = device_classes.complete(await _read(self._slices))
        return device_classes.of_nodes(classes, devices, self._kinds)

    def _report(self, classes: Iterable[DeviceClass]) -> None:
        """Log once which classes offer nothing, whatever there is."""
        usable = {one.name for one in classes if one.terms is not None}
        useless = frozenset(self._kinds.keys() - usable)
        if useless - self._reported:
            log.warning("kubernetes.device_classes_not_usable", classes=sorted(useless))
        self._reported = useless


async def _read(one: WatchedList[T]) -> Collection[T]:
    """Nothing without the right, or from a cluster that does not have the API."""
    try:
        return await one.read()
    except ApiError as error:
        if error.status not in (403, 404):
            raise
        return ()
