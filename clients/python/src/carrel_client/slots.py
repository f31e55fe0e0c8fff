"""Slots as people write them, and back: "cpu=64", "mem=512g", "cuda.device=2", "cuda.shares=0.5"."""

from __future__ import annotations

from carrel_client.units import format_cpu, format_size, parse_cpu, parse_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def parse_slot(text: str) -> tuple[str, int]:
    """Name and amount in the slot's unit: millicores, bytes, devices, or thousandths of a device for shares.

    Raises: ValueError naming the text.
    """
    slot, equals, amount = text.partition("=")
    if not equals or not slot:
        raise ValueError(f"{text!r} is not SLOT=AMOUNT, as cpu=64, mem=512g or cuda.shares=0.5")
    return slot, parse_amount(slot, amount)


def parse_amount(slot: str, text: str) -> int:
    """The amount of this slot. Raises: ValueError naming the text."""
    if slot == "cpu":
        return parse_cpu(text)
    if slot == "mem":
        return parse_size(text)
    try:
        amount = round(float(text) * 1000) if slot.endswith(".shares") else int(text)
    except (ValueError, OverflowError):
        amount = -1
    if amount < 0:
        kind = "a part of a device, such as 0.5" if slot.endswith(".shares") else "a whole number"
        raise ValueError(f"{text!r} is not an amount of {slot}; write {kind}")
    return amount


def format_amount(slot: str, amount: int) -> str:
    """ "64", "512 GiB", "2", "0.5"."""
    if slot == "mem":
        return format_size(amount)
    return format_cpu(amount) if slot == "cpu" or slot.endswith(".shares") else str(amount)


def slots_text(slots: Mapping[str, int]) -> str:
    """ "cpu 64, mem 512 GiB"; empty when there are none."""
    return ", ".join(f"{slot} {format_amount(slot, amount)}" for slot, amount in sorted(slots.items()))
