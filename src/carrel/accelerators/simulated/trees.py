"""The tree of a simulated machine: PCI functions, plain files for device nodes, recorded output of tools."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid5

from carrel.accelerators.hardware import PROGRAM, recording

_NAMESPACE = UUID("6f1f3c8e-0f0b-4d3c-9a51-0c2b1f5f7a11")


@dataclass(frozen=True, slots=True)
class PlannedCard:
    """A card that a tree is to have. number: within its model. key: of the simulation, for ids that stay the same."""

    number: int
    key: str
    address: str
    numa: int

    @property
    def uuid(self) -> str:
        return str(uuid5(_NAMESPACE, self.key))


@dataclass(frozen=True)
class MachineTree:
    """Writes below its root; a text ends with a line feed as in sysfs."""

    root: Path

    def text(self, path: str, text: object) -> None:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    def node(self, *paths: str) -> None:
        for path in paths:
            self.text(path, "simulated")

    def link(self, path: str, target: str) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)

    def pci(self, card: PlannedCard, ids: str, pci_class: str, *, switch: str = "") -> str:
        """Add a PCI function; returns its directory. ids: vendor:device. switch: address of the one above it."""
        place = f"sys/bus/pci/devices/{card.address}"
        if switch:
            port = f"{switch[:-4]}{card.number % 16 + 1:02x}.0"
            behind = f"devices/pci0000:00/{switch}/{port}/{card.address}"
            (self.root / "sys" / behind).mkdir(parents=True)
            self.link(place, f"../../../{behind}")
        vendor, _, device = ids.partition(":")
        for name, value in {
            "vendor": f"0x{vendor}",
            "device": f"0x{device}",
            "class": f"0x{pci_class}",
            "numa_node": card.numa,
        }.items():
            self.text(f"{place}/{name}", value)
        return place

    def tool(self, name: str, arguments: Sequence[str], lines: Iterable[str]) -> None:
        """Record the output of a tool with these arguments."""
        self.text(f"tools/{name}/{recording(arguments)}", "\n".join(lines))

    def program(self, name: str, script: str) -> None:
        """What stands for a tool where nothing is recorded."""
        path = f"tools/{name}/{PROGRAM}"
        self.text(path, script.rstrip("\n"))
        (self.root / path).chmod(0o755)
