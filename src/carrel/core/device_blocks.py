"""Blocks of devices that work together, such as the pairs and quads of modules of a Gaudi machine, as data."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Block:
    """A block of devices of one family on a node. size: how many belong to it, also those that are out of order.
    whole: a container gets all of it, or devices of one narrower block.
    """

    name: str
    size: int
    whole: bool = False


Blocks = tuple[Block, ...]
"""Those of one device, from the narrowest to the widest; empty: its container may get any others with it."""


def blocks_of(stored: Iterable[Mapping[str, Any]]) -> Blocks:
    """As stored with a device."""
    return tuple([Block(one["name"], one["size"], one["whole"]) for one in stored])
