"""GroqCards, by their device files and tsp-ctl.

Without measurements: the memory of a card belongs to the program, and no public document has the output of `tsp-ctl
monitor`, which does not end by itself.

Sources: pci.ids (August 2026); Argonne Leadership Computing Facility, "AI Testbed: Groq" (health-check: a line of text,
then JSON with Summary.tsp_status, "Up"); Oak Ridge, "ExCL: Groq" (where tsp-ctl is).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from carrel.accelerators.driver import AcceleratorDriver, Card, MachineSettings
from carrel.accelerators.hardware import Machine, ToolError
from carrel.accelerators.pci import ConfiguredCards, PciProfile
from carrel.accelerators.port import Attachment, Device
from carrel.accelerators.tool_output import record, run, word
from carrel.core.slots import SlotKind
from carrel.plugins import Plugin

FAMILY = "groq"
CTL = "tsp-ctl"
RUNTIME = "/opt/groq/runtime"
PROFILE = PciProfile(
    title="GroqCard", vendor="1de0", devices=("0000",), nodes=("/dev/groqA{index}",), paths=(RUNTIME,)
)
PRODUCTS: Mapping[str, str] = {"c005": "GC1-010B", "c006": "GC1-0109", "c007": "GC1-0100"}
"""By PCI subsystem."""
_UP = "up"
_FILE = re.compile(r"\bgroqA(\d{1,3})\b")


class Groq:
    """Slot: groq.device. One chip for each card; a container has the libraries of the machine's runtime."""

    def __init__(self) -> None:
        self._cards = ConfiguredCards({FAMILY: PROFILE})

    def read(self, machine: Machine) -> Sequence[Card]:
        cards = self._cards.read(machine)
        if not cards:
            return ()
        failed = "" if machine.names(RUNTIME.lstrip("/")) else f"{RUNTIME} is missing."
        try:
            states = list(_states(machine))
        except ToolError as error:
            states, failed = [], failed or str(error)
        return [
            replace(
                card,
                device=replace(card.device, model=_model(card.device, machine)),
                problem=card.problem or failed or _problem(_state_of(card, place, states, len(cards))),
            )
            for place, card in enumerate(cards)
        ]

    def kinds(self, devices: Iterable[Device]) -> Sequence[SlotKind]:
        return self._cards.kinds(devices)

    def attach(self, cards: Sequence[Card], machine: Machine) -> Attachment:
        return self._cards.attach(cards, machine)


def _model(device: Device, machine: Machine) -> str:
    subsystem = machine.text(f"sys/bus/pci/devices/{device.pci}/subsystem_device") or ""
    return " ".join(filter(None, (PROFILE.title, PRODUCTS.get(subsystem.removeprefix("0x").lower()))))


def _states(machine: Machine) -> Iterator[tuple[str, str]]:
    """Of each card that the tool lists: the number of its device file, empty if there is none, and its state."""
    answer = run(machine, CTL, "health-check")
    entries = enumerate(answer) if isinstance(answer, list) else record(answer).items()
    for name, value in entries:
        entry = record(value)
        if summary := record(entry.get("Summary")):
            texts = (name, *entry.values(), *summary.values())
            numbers = (match[1] for one in texts if (match := _FILE.search(word(one))))
            yield next(numbers, ""), word(summary.get("tsp_status"))


def _state_of(card: Card, place: int, states: Sequence[tuple[str, str]], cards: int) -> str | None:
    """By the number of its device file; where the tool names none, by its place in the order of PCI addresses."""
    if not any(number for number, _ in states):
        return states[place][1] if len(states) == cards else None
    return next((state for number, state in states if number == card.handle), None)


def _problem(state: str | None) -> str:
    if state is None:
        return f"{CTL} does not list it."
    return "" if state.lower() == _UP else f"Its state is: {state[:60] or 'unknown'}."


PLUGIN = Plugin(MachineSettings, lambda settings: AcceleratorDriver(Groq(), settings.machine()), "GroqCards")
