"""Conformance suite of accelerator plug-ins.

A test module subclasses `AcceleratorConformance` and provides a fixture `make`: a function that returns new
accelerators of a machine with at least two devices at each call; with one, if it has kinds of which only one is valid,
such as a whole machine. pytest collects the methods; this module does not
import it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from carrel.accelerators import visible_devices
from carrel.accelerators.port import (
    NOTHING,
    Accelerators,
    Attachment,
    Device,
    DeviceMetrics,
    Monitored,
    attach,
    slots_of,
)
from carrel.core.slots import WHOLE, SlotKind, SlotType

Make = Callable[[], Accelerators]

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CAPABILITY = re.compile(r"(?!CAP_)[A-Z][A-Z_]*")
_CDI = re.compile(r"[a-z0-9.-]+/[A-Za-z0-9._-]+=[A-Za-z0-9._:-]+")
_RESOURCE = re.compile(r"([a-z0-9.-]+/)?[A-Za-z0-9._-]+")
_PCI_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_CHOOSES_DEVICES = re.compile(r".*_VISIBLE_(DEVICES|MODULES)")
_STRANGER = "a device of somebody else"


class AcceleratorConformance:
    """The port's docstrings as tests."""

    # discover

    def test_devices_have_ids_of_their_own(self, make: Make) -> None:
        ids = [device.id for device in _devices(make())]
        assert all(ids)
        assert len(ids) == len(set(ids))

    def test_what_is_known_of_a_device_is_possible(self, make: Make) -> None:
        for device in _devices(make()):
            assert not device.pci or _PCI_ADDRESS.fullmatch(device.pci), device
            assert device.numa is None or device.numa >= 0, device
            assert device.mem_bytes is None or device.mem_bytes > 0, device

    def test_what_is_discovered_stays_the_same(self, make: Make) -> None:
        accelerators = make()
        first = list(accelerators.discover())
        assert list(accelerators.discover()) == first
        assert list(make().discover()) == first

    # states, of those that monitor their devices

    def test_healthy_devices_are_those_that_are_offered(self, make: Make) -> None:
        accelerators = make()
        if isinstance(accelerators, Monitored):
            offered = list(accelerators.discover())
            states = accelerators.states()
            assert [state.device for state in states if state.healthy] == offered
            assert len({state.device.id for state in states}) == len(states)
            assert all(state.healthy or state.problem for state in states)

    def test_measurements_are_possible(self, make: Make) -> None:
        accelerators = make()
        if isinstance(accelerators, Monitored):
            for state in accelerators.states():
                _require_possible(state.metrics)

    # kinds

    def test_kinds_stay_the_same_and_are_named_once(self, make: Make) -> None:
        kinds = list(make().kinds())
        assert list(make().kinds()) == kinds
        assert len({kind.name for kind in kinds}) == len(kinds)

    def test_each_device_can_be_asked_for(self, make: Make) -> None:
        accelerators = make()
        families = {kind.family for kind in accelerators.kinds()}
        assert {device.family for device in _devices(accelerators)} <= families

    def test_an_allowed_amount_can_be_had(self, make: Make) -> None:
        accelerators = make()
        slots = slots_of(accelerators.discover(), accelerators.kinds())
        for kind in accelerators.kinds():
            assert all(kind.allows(amount) for amount in kind.allowed), kind.name
            if kind.name in slots:
                assert _amounts(kind, slots[kind.name]), f"{kind.name}: no amount fits its devices"

    def test_blocks_are_those_of_whole_devices_and_have_room_for_their_members(self, make: Make) -> None:
        accelerators = make()
        devices = _devices(accelerators)
        shared = {kind.family for kind in accelerators.kinds() if kind.type is SlotType.SHARES}
        in_blocks = {device.family for device in devices if device.blocks}
        assert not in_blocks & shared
        assert all(device.blocks for device in devices if device.family in in_blocks)
        members = Counter((device.family, block) for device in devices for block in device.blocks)
        assert all(count <= block.size for (_, block), count in members.items())
        for device in devices:
            sizes = [block.size for block in device.blocks]
            assert sizes == sorted(sizes), device

    def test_shares_add_up_to_a_whole_device(self, make: Make) -> None:
        for kind in make().kinds():
            if kind.type is SlotType.SHARES:
                assert WHOLE % kind.quantum == 0, kind.name

    # attach

    def test_who_holds_nothing_gets_nothing(self, make: Make) -> None:
        accelerators = make()
        _devices(accelerators)
        assert accelerators.attach({}) == NOTHING
        assert accelerators.attach({_STRANGER: WHOLE}) == NOTHING

    def test_whatever_is_held_has_a_sound_attachment(self, make: Make) -> None:
        accelerators = make()
        for held in _combinations(accelerators):
            attachment = accelerators.attach(held)
            assert attachment != NOTHING, held
            _require_sound(attachment)
            assert attach([accelerators], held) == attachment

    def test_it_stays_the_same_and_changes_nothing(self, make: Make) -> None:
        accelerators = make()
        for held in _combinations(accelerators):
            requested = dict(held)
            first = accelerators.attach(requested)
            assert accelerators.attach(requested) == first
            assert make().attach(dict(reversed(held.items()))) == first
            assert requested == held

    def test_devices_of_others_are_passed_over(self, make: Make) -> None:
        accelerators = make()
        for held in _combinations(accelerators):
            assert accelerators.attach({_STRANGER: WHOLE, **held}) == accelerators.attach(held)

    def test_no_container_gets_what_another_holds(self, make: Make) -> None:
        accelerators = make()
        alone = {
            device.id: _parts(accelerators.attach({device.id: WHOLE})) for device in _devices(accelerators)
        }
        own = {
            one: parts - frozenset().union(*(alone[other] for other in alone if other != one))
            for one, parts in alone.items()
        }
        assert all(own.values()), "two devices are attached alike"
        for held in _combinations(accelerators):
            parts = _parts(accelerators.attach(held))
            assert all(own[device].isdisjoint(parts) for device in own.keys() - held.keys()), held

    def test_users_cannot_choose_devices_by_the_same_variables(self, make: Make) -> None:
        accelerators = make()
        for held in _combinations(accelerators):
            env = accelerators.attach(held).env
            chosen = {name: "all" for name in env if _CHOOSES_DEVICES.fullmatch(name)}
            assert visible_devices.environment(env, chosen) == visible_devices.environment(env, {}), held
            assert "all" not in [value.lower() for value in env.values()], held

    def test_each_device_comes_with_its_files(self, make: Make) -> None:
        accelerators = make()
        for held in _combinations(accelerators):
            together = accelerators.attach(held)
            for device, amount in held.items():
                one = accelerators.attach({device: amount})
                assert _files(one) <= _files(together)


def _devices(accelerators: Accelerators) -> list[Device]:
    devices = list(accelerators.discover())
    least = 1 if all(kind.allowed == (1,) for kind in accelerators.kinds()) else 2
    assert len(devices) >= least, "the suite needs two devices at least"
    return devices


def _amounts(kind: SlotKind, there: int) -> list[int]:
    """Valid amounts of a kind for a container, given the available amount: minimum, maximum, whole devices."""
    some = {kind.quantum, 1, 2, WHOLE - kind.quantum, WHOLE, WHOLE + kind.quantum, there, *kind.allowed}
    return sorted(amount for amount in some if 0 < amount <= there and kind.allows(amount))


def _combinations(accelerators: Accelerators) -> Iterator[dict[str, int]]:
    """Possible holdings of containers: amounts of each kind, starting at each device with enough capacity after it."""
    devices = _devices(accelerators)
    for kind in accelerators.kinds():
        ids = [device.id for device in devices if device.family == kind.family]
        for amount in _amounts(kind, len(ids) * WHOLE // kind.thousandths):
            whole, part = divmod(amount * kind.thousandths, WHOLE)
            for start in range(len(ids) - whole - bool(part) + 1):
                held = dict.fromkeys(ids[start : start + whole], WHOLE)
                yield held | ({ids[start + whole]: part} if part else {})


def _parts(attachment: Attachment) -> frozenset[object]:
    """The parts of an attachment; lists in environment variables are split."""
    return frozenset(
        [
            *((name, one) for name, value in attachment.env.items() for one in value.split(",")),
            *_files(attachment),
            *attachment.groups,
            *attachment.resources.items(),
        ]
    )


def _files(attachment: Attachment) -> frozenset[object]:
    """The files of the machine that a container gets; in it they may have other names, beside others."""
    return frozenset(
        [
            *(node.machine_path for node in attachment.nodes),
            *(path.source for path in attachment.paths),
            *attachment.cdi,
        ]
    )


def _require_sound(attachment: Attachment) -> None:
    """Check that engines can apply the attachment, with CDI and without."""
    if attachment.without_cdi:
        assert not attachment.without_cdi.cdi, attachment
        assert not attachment.without_cdi.without_cdi, attachment
        _require_sound(attachment.without_cdi)
    _require_env(attachment.env)
    for node in attachment.nodes:
        assert node.path.startswith("/dev/"), node
        assert node.machine_path.startswith("/dev/"), node
        assert node.permissions, node
        assert set(node.permissions) <= set("rwm"), node
    for path in attachment.paths:
        assert path.source.startswith("/"), path
        assert path.target.startswith("/"), path
        assert path.target.strip("/"), path
    assert all(type(group) is int and group >= 0 for group in attachment.groups), attachment.groups
    assert all(_CAPABILITY.fullmatch(one) for one in attachment.capabilities), attachment.capabilities
    for limit in attachment.limits:
        assert limit.name.islower(), limit
        assert limit.hard == -1 or -1 < limit.soft <= limit.hard, limit
    assert all(_CDI.fullmatch(name) for name in attachment.cdi), attachment.cdi
    for name, amount in attachment.resources.items():
        assert _RESOURCE.fullmatch(name), name
        assert amount > 0, name
    for many in (
        attachment.nodes,
        attachment.paths,
        attachment.groups,
        attachment.capabilities,
        attachment.cdi,
    ):
        assert len(set(many)) == len(many), many


def _require_possible(metrics: DeviceMetrics) -> None:
    assert metrics.utilization_percent is None or 0 <= metrics.utilization_percent <= 100, metrics
    assert metrics.temperature_c is None or -60 < metrics.temperature_c < 200, metrics
    assert metrics.power_w is None or 0 <= metrics.power_w < 10_000, metrics
    used, total = metrics.mem_used_bytes, metrics.mem_total_bytes
    assert total is None or total > 0, metrics
    assert used is None or 0 <= used <= (total or used), metrics
    assert metrics.uncorrected_errors is None or metrics.uncorrected_errors >= 0, metrics


def _require_env(env: Mapping[str, str]) -> None:
    for name, value in env.items():
        assert _VARIABLE.fullmatch(name), name
        assert "\0" not in value, name
