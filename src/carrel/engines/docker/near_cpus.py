"""The processors near accelerators: those of their NUMA nodes, which reach them without another socket."""

import re
from collections.abc import Collection
from pathlib import Path

_NODES = "sys/devices/system/node"
_CPU_MILLIS = 1000


def near(root: Path, numa: Collection[int], cpu_millis: int) -> str:
    """The processors of these NUMA nodes, as the kernel lists them: 0-15,32-47. root: of the machine's files.

    Empty if all processors are as near, if these are fewer than the container has, or if they are not known.
    """
    lists = [_text(root / _NODES / f"node{number}/cpulist") for number in sorted(numa)]
    online = parse(_text(root / "sys/devices/system/cpu/online"))
    chosen = parse(",".join(filter(None, lists)))
    if not all(lists) or not chosen < online or len(chosen) * _CPU_MILLIS < cpu_millis:
        return ""
    return ",".join(lists)


def parse(text: str) -> frozenset[int]:
    """The numbers in a list such as 0-3,8; empty if it is none."""
    numbers: set[int] = set()
    for part in filter(None, text.split(",")):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part, re.ASCII)
        if match is None:
            return frozenset()
        numbers.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return frozenset(numbers)


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
