"""Devices that drivers of a cluster publish, without a cluster."""

from collections.abc import Sequence
from typing import Any

import pytest

from carrel.accelerators.port import Device
from carrel.core.slots import SlotType
from carrel.engines.kubernetes import device_classes
from carrel.engines.kubernetes.device_classes import ClassDevice, Place
from carrel.engines.kubernetes.settings import KubernetesSettings

_DRIVER = "gpu.nvidia.com"
_CLASS = f'device.driver == "{_DRIVER}" && device.attributes["{_DRIVER}"].type == "gpu"'


def published(name: str, **more: Any) -> dict[str, Any]:
    attributes = {"type": {"string": "gpu"}, "uuid": {"string": f"GPU-{name}"}, **more.pop("attributes", {})}
    return {"name": name, "attributes": attributes, "capacity": {"memory": {"value": "80Gi"}}, **more}


def slice_of(*devices: Any, pool: str = "a", generation: int = 1, count: int = 1, **more: Any) -> Any:
    described = {"name": pool, "generation": generation, "resourceSliceCount": count}
    where = more or {"nodeName": "a"}
    return {"spec": {"driver": _DRIVER, "pool": described, "devices": list(devices), **where}}


def class_of(expression: str, name: str = _DRIVER) -> Any:
    return {
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}] if expression else []},
    }


def there(
    *slices: Any, expression: str = _CLASS, slots: Sequence[str] = (f"{_DRIVER}=cuda.device",)
) -> Sequence[ClassDevice]:
    devices = device_classes.complete(map(device_classes.slice_kept, slices))
    classes = [device_classes.class_kept(class_of(expression))]
    return device_classes.of_nodes(classes, devices, device_classes.parsed(slots)).get("a", ())


def ids(*slices: Any, **more: Any) -> list[str]:
    return [one.device.id for one in there(*slices, **more)]


def test_a_device_has_what_its_driver_publishes() -> None:
    attributes = {
        "productName": {"string": "NVIDIA H100"},
        "resource.kubernetes.io/pciBusID": {"string": "0000:18:00.0"},
        "resource.kubernetes.io/pcieRoot": {"string": "pci0000:15"},
        "numa": {"int": 1},
        "driverVersion": {"version": "580.65.6"},
        "unheard": {"strings": ["of"]},
    }
    other = {"resource.kubernetes.io/pcieRoot": {"string": "pci0000:07"}}
    [one, another] = there(
        slice_of(published("gpu-0", attributes=attributes), published("gpu-1", attributes=other))
    )
    expected = f"{_DRIVER}/GPU-gpu-0", "cuda", "NVIDIA H100", 1, "0000:18:00.0", 1
    assert one.device == Device(*expected, mem_bytes=80 << 30)
    assert another.device.set == 0


@pytest.mark.parametrize(
    ("expression", "selected"),
    [
        ("", True),
        (f"device.driver == '{_DRIVER}'", True),
        (f'device.driver=="{_DRIVER}"&&device.attributes["{_DRIVER}"].index == 3', True),
        (f'device.attributes["{_DRIVER}"].index == "3"', False),
        (f'device.attributes["{_DRIVER}"].coherent == true', False),
        ('device.driver == "others"', False),
        # Of other forms: nothing is offered, rather than what is not of the class.
        (f'device.driver != "{_DRIVER}"', False),
        (f'device.driver == "{_DRIVER}" || true', False),
        (f'device.driver == "{_DRIVER}" &&', False),
        (f'!(device.driver == "{_DRIVER}")', False),
    ],
)
def test_a_class_selects_by_its_driver_and_attributes(expression: str, selected: bool) -> None:
    device = published("gpu-0", attributes={"index": {"int": 3}, "coherent": {"bool": False}})
    assert bool(ids(slice_of(device), expression=expression)) is selected


def test_only_the_latest_complete_generation_of_a_pool_counts() -> None:
    old = slice_of(published("gpu-0"), generation=1, count=1)
    half = slice_of(published("gpu-1"), generation=2, count=2)
    assert ids(old, half) == []
    assert ids(old, half, slice_of(published("gpu-2"), generation=2, count=2)) == [
        f"{_DRIVER}/GPU-gpu-1",
        f"{_DRIVER}/GPU-gpu-2",
    ]


def test_devices_that_are_shared_or_of_no_node_are_not_offered() -> None:
    shared = published("gpu-0", allowMultipleAllocations=True)
    part = published("gpu-1", consumesCounters=[{"counterSet": "gpu"}])
    assert ids(slice_of(shared, part)) == []
    assert ids(slice_of(published("gpu-2"), allNodes=True)) == []
    assert ids(slice_of(published("gpu-3", nodeName="a"), perDeviceNodeSelection=True)) != []


def test_a_claim_requests_the_very_devices_by_what_tells_them_apart() -> None:
    devices = there(slice_of(*(published(f"gpu-{number}") for number in range(3))))
    [request] = device_classes.requests([f"{_DRIVER}/GPU-gpu-2", f"{_DRIVER}/GPU-gpu-0"], devices)
    expression = (
        f'device.driver == "{_DRIVER}" && device.attributes["{_DRIVER}"].uuid in ["GPU-gpu-0", "GPU-gpu-2"]'
    )
    assert request["exactly"] == {
        "deviceClassName": _DRIVER,
        "allocationMode": "ExactCount",
        "count": 2,
        "selectors": [{"cel": {"expression": expression}}],
    }
    with pytest.raises(KeyError):
        device_classes.requests([f"{_DRIVER}/GPU-9"], devices)


@pytest.mark.parametrize("value", ["1", "GPU 1", 'x"] || true || "" in ["', "a/b"])
def test_attributes_that_are_no_identity_make_units(value: str) -> None:
    odd = published("gpu-0", attributes={"uuid": {"string": value}})
    devices = there(slice_of(odd, published("gpu-1")))
    assert [one.device.id for one in devices] == [f"{_DRIVER}/0", f"{_DRIVER}/1"]
    [request] = device_classes.requests([f"{_DRIVER}/1"], devices)
    assert request["exactly"] == {
        "deviceClassName": _DRIVER,
        "allocationMode": "ExactCount",
        "count": 1,
    }


def test_units_that_ours_hold_stay_beside_those_that_are_left() -> None:
    same = {"uuid": {"string": "GPU-0"}}
    devices = there(slice_of(*(published(f"gpu-{number}", attributes=same) for number in range(3))))
    places = [Place(_DRIVER, "a", f"gpu-{number}") for number in range(3)]

    def offered(foreign: Sequence[Place], *held: str) -> list[str]:
        return [one.id for one in device_classes.offered(devices, foreign, held).devices]

    assert offered(places[:1], f"{_DRIVER}/2") == [f"{_DRIVER}/2", f"{_DRIVER}/0"]
    assert offered(places, f"{_DRIVER}/2") == [f"{_DRIVER}/2"]
    assert len(device_classes.offered(devices, places, ()).states) == 3


def test_administrators_look_at_devices_without_having_them() -> None:
    result = {"driver": _DRIVER, "pool": "a", "device": "gpu-0"}
    status = {"allocation": {"devices": {"results": [{**result, "adminAccess": True}, result]}}}
    assert device_classes.allocated({"status": status}) == {Place(_DRIVER, "a", "gpu-0")}
    assert device_classes.allocated({"status": {}}) == frozenset()


def test_classes_have_the_slots_of_machines() -> None:
    kinds = device_classes.parsed(
        ["mig=cuda.mig-1g.10gb", "gaudi.intel.com=gaudi.device", "x.org=npu.device"]
    )
    assert kinds["mig"].type is SlotType.UNIQUE
    assert kinds["gaudi.intel.com"].allowed == (1, 2, 4, 8)
    assert (kinds["x.org"].family, kinds["x.org"].title) == ("npu", "x.org")
    for wrong in (["x=cuda.shares"], ["x=a.device", "x=b.device"], ["x"], ["X/y=a.device"]):
        with pytest.raises(ValueError, match="device_classes"):
            KubernetesSettings(device_classes=wrong)
