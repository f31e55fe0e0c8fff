"""The part of all drivers: ids, health, measurements. A vendor's own part is a `Vendor`, a small module each.

A sample is taken at most every few seconds and kept: discovery, attachment and measurements use the same one.
"""

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock, Thread
from typing import Protocol

import structlog
from pydantic import BaseModel, ConfigDict, Field

from carrel.accelerators.hardware import Machine, printable
from carrel.accelerators.pci_switches import switches
from carrel.accelerators.port import (
    NOTHING,
    UNKNOWN,
    Attachment,
    Device,
    DeviceMetrics,
    DeviceNode,
    DeviceState,
    MachinePath,
)
from carrel.core.slots import SlotKind

log = structlog.get_logger()

SAMPLE_S = 5.0
BAD_READINGS = 3
GOOD_READINGS = 3
FORGOTTEN_READINGS = 720
"""A device that is missing in so many in succession, an hour, is taken for removed."""
_LONGEST_MODEL = 100
_LONGEST_PROBLEM = 300
_FIRST_S = 30.0
"""How long others wait for the first sample."""


class MachineSettings(BaseModel):
    """Where a driver looks for its devices."""

    model_config = ConfigDict(frozen=True)

    root: Path = Field(
        default=Path("/"), description="Where the files of the machine are: its /sys, /proc and /dev."
    )
    simulated: bool = Field(
        default=False,
        description="The root is a simulated machine: plain files instead of device files, recorded output of tools.",
    )

    def machine(self) -> Machine:
        return Machine(self.root, self.simulated)


@dataclass(frozen=True, slots=True)
class Card:
    """A device as a driver reads it. handle: its name in the variables and CDI names of the vendor.

    nodes: device files that belong to it. groups: which may use them, by GID. problem: why it should not be used.
    """

    device: Device
    handle: str = ""
    nodes: tuple[str, ...] = ()
    groups: tuple[int, ...] = ()
    metrics: DeviceMetrics = UNKNOWN
    problem: str = ""


class Vendor(Protocol):
    """What differs between vendors."""

    def read(self, machine: Machine) -> Sequence[Card]:
        """The cards of the machine now, in a stable order; blocking calls have time-outs."""
        ...

    def kinds(self, devices: Iterable[Device]) -> Sequence[SlotKind]:
        """How containers may request them."""
        ...

    def attach(self, cards: Sequence[Card], machine: Machine) -> Attachment:
        """What a container with these cards needs; without I/O, and for a simulated machine only `env` and `nodes`."""
        ...


@dataclass(slots=True)
class _Watched:
    """The condition of a card. readings: how many in succession contradict it. missing: in how many it is."""

    card: Card
    healthy: bool
    problem: str = ""
    readings: int = 0
    missing: int = 0

    def observe(self, problem: str) -> None:
        self.problem = problem
        self.readings = self.readings + 1 if self.healthy == bool(problem) else 0
        if self.readings >= (BAD_READINGS if self.healthy else GOOD_READINGS):
            self.healthy, self.readings = not self.healthy, 0
            self.report()

    def report(self) -> None:
        device = self.card.device
        if self.healthy:
            log.info("accelerator.healthy", device=device.id, pci=device.pci)
        else:
            log.warning("accelerator.unhealthy", device=device.id, pci=device.pci, problem=self.problem)


def _in_thread(function: Callable[[], None]) -> None:
    Thread(target=function, name="accelerators", daemon=True).start()


class AcceleratorDriver:
    """Accelerators of a vendor on a machine.

    A device that is missing, or has a problem, in BAD_READINGS samples in succession is not offered, until it has none
    in GOOD_READINGS. One that has a problem when it is seen first is not offered at once.
    """

    def __init__(
        self,
        vendor: Vendor,
        machine: Machine,
        *,
        sample_s: float = SAMPLE_S,
        clock: Callable[[], float] = time.monotonic,
        background: Callable[[Callable[[], None]], None] = _in_thread,
    ) -> None:
        self._vendor, self._machine = vendor, machine
        self._sample_s, self._clock, self._background = sample_s, clock, background
        self._sampling = Lock()
        self._sampled_at: float | None = None
        self._watched: dict[str, _Watched] = {}
        self._current: Sequence[DeviceState] = ()
        self._cards: Mapping[str, Card] = {}
        self._kinds: Sequence[SlotKind] = ()

    def discover(self) -> Sequence[Device]:
        return [state.device for state in self.states() if state.healthy]

    def kinds(self) -> Sequence[SlotKind]:
        self.states()
        return self._kinds

    def states(self) -> Sequence[DeviceState]:
        # Only the first sample is waited for: afterwards a tool that hangs delays nobody.
        if self._sampled_at is None:
            self._sample_if_due(wait_s=_FIRST_S)
        elif self._is_due():
            self._background(self._sample_if_due)
        return self._current

    def attach(self, held: Mapping[str, int]) -> Attachment:
        if self._sampled_at is None:
            self.states()
        cards = [card for id, card in self._cards.items() if id in held]
        if not cards:
            return NOTHING
        attachment = self._vendor.attach(cards, self._machine)
        return _of_files(attachment, self._machine.root) if self._machine.simulated else attachment

    def _is_due(self) -> bool:
        return self._sampled_at is None or self._clock() - self._sampled_at >= self._sample_s

    def _sample_if_due(self, *, wait_s: float = 0) -> None:
        if not self._sampling.acquire(timeout=wait_s):
            return
        try:
            if self._is_due():
                try:
                    self._sample()
                finally:
                    # The next one is due as much later even if it failed.
                    self._sampled_at = self._clock()
        finally:
            self._sampling.release()

    def _sample(self) -> None:
        cards = {card.device.id: card for card in self._identified(self._vendor.read(self._machine))}
        for id, card in cards.items():
            if id in self._watched:
                self._watched[id].card = card
                self._watched[id].missing = 0
                self._watched[id].observe(card.problem)
            else:
                self._watched[id] = _Watched(card, not card.problem, card.problem)
                self._watched[id].report()
        named = {(card.device.pci, card.device.family) for card in cards.values()}
        for id in self._watched.keys() - cards.keys():
            gone = self._watched[id]
            if id == gone.card.device.pci and (id, gone.card.device.family) in named:
                # It has a better id since its tool answers.
                del self._watched[id]
                continue
            gone.card = replace(gone.card, metrics=UNKNOWN)
            gone.observe("The device is missing.")
            gone.missing += 1
            if gone.missing >= FORGOTTEN_READINGS:
                del self._watched[id]
        self._cards = {id: one.card for id, one in self._watched.items()}
        self._current = [
            DeviceState(one.card.device, one.healthy, one.problem, one.card.metrics)
            for one in self._watched.values()
        ]
        self._kinds = self._vendor.kinds(state.device for state in self._current)

    def _identified(self, cards: Sequence[Card]) -> Sequence[Card]:
        """With their PCI switch and ids of their own: test cards have a common UUID, or zeros; a card without an answer
        has its last id.
        """
        seen = Counter(card.device.id for card in cards)
        addresses = {card.device.pci for card in cards if card.device.pci}
        shared = switches({one: self._machine.path_of(f"sys/bus/pci/devices/{one}") for one in addresses})
        known = {
            (one.card.device.pci, one.card.device.family): id
            for id, one in self._watched.items()
            if id != one.card.device.pci
        }
        return [
            replace(
                card,
                device=replace(
                    card.device,
                    id=_id_of(card.device, seen, known),
                    model=printable(card.device.model, most=_LONGEST_MODEL),
                    switch=shared.get(card.device.pci, ""),
                ),
                problem=printable(card.problem, most=_LONGEST_PROBLEM),
            )
            for card in cards
        ]


def _id_of(device: Device, seen: Mapping[str, int], known: Mapping[tuple[str, str], str]) -> str:
    usable = seen[device.id] == 1 and device.id.strip("0- ") and device.id != device.pci
    return device.id if usable or not device.pci else known.get((device.pci, device.family), device.pci)


def device_nodes(cards: Iterable[Card], *shared: str) -> tuple[DeviceNode, ...]:
    """The device files of these cards, and those that all cards need."""
    return tuple(
        DeviceNode(path) for path in dict.fromkeys([*shared, *(one for card in cards for one in card.nodes)])
    )


def renumbered(paths: Iterable[str], prefix: str) -> tuple[DeviceNode, ...]:
    """These device files, numbered from zero in the container: prefix0, prefix1, ..."""
    return tuple(DeviceNode(f"{prefix}{number}", source=path) for number, path in enumerate(paths))


def resources(cards: Iterable[Card], names: Mapping[str, str]) -> Mapping[str, int]:
    """What a container with these cards requests in Kubernetes. names: of resources, by family."""
    families = (card.device.family for card in cards)
    return dict(Counter(names[family] for family in families if family in names))


def groups_of(cards: Iterable[Card]) -> tuple[int, ...]:
    """The groups that may use these cards."""
    return tuple(dict.fromkeys(group for card in cards for group in card.groups))


def numbers(keys: Iterable[Hashable]) -> Mapping[Hashable, int]:
    """A number of each of these keys, for `Device.set`."""
    return {key: number for number, key in enumerate(sorted(set(keys), key=repr))}


def missing_node(paths: Iterable[str], machine: Machine) -> str:
    """The problem of a card of which a device file is missing; empty if none is."""
    paths = list(paths)
    missing = next((path for path in paths if not machine.has_node(path)), None)
    if paths and missing is None:
        return ""
    return f"Its device file {missing} is missing." if missing else "It has no device file."


def _of_files(attachment: Attachment, root: Path) -> Attachment:
    """For a real container: plain files are mounted, read-only since the machine's disk is below them."""
    files = tuple(
        MachinePath(str(root / node.machine_path.lstrip("/")), node.path) for node in attachment.nodes
    )
    return Attachment(env=attachment.env, paths=files)
