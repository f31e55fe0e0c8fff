"""Drivers on simulated machines, for tests."""

from pathlib import Path

from carrel.accelerators.driver import AcceleratorDriver, Vendor
from carrel.accelerators.hardware import Machine
from carrel.accelerators.simulated import machine


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def tree(directory: Path, description: str) -> Path:
    """The root of a simulated machine."""
    return machine.write(machine.parse(description), directory)


def driver(vendor: Vendor, root: Path) -> AcceleratorDriver:
    """A driver that takes a sample whenever it is asked."""
    return eager(vendor, Machine(root, simulated=True))


def eager(vendor: Vendor, machine: Machine) -> AcceleratorDriver:
    return AcceleratorDriver(vendor, machine, sample_s=0, background=lambda sample: sample())
