"""Which devices share a PCI switch, from their places in sysfs. Pure.

    sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:18:00.0
                host bridge root port    upstream     downstream   device
                                         port of the switch

Source: kernel, Documentation/PCI/sysfs-pci: directories are nested as the bus is.
"""

from collections.abc import Mapping, Sequence

_ROOT_PORT = 4
"""Components of paths that have only the root port in common: whatever is below it is on different switches."""


def switches(paths: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Device -> the upstream port of the innermost switch that it shares with another one; without others.

    paths: of each device, as components; see `Machine.path_of`.
    """
    shared: dict[str, str] = {}
    for device, path in paths.items():
        common = max((_common(path, other) for one, other in paths.items() if one != device), default=0)
        if common > _ROOT_PORT:
            shared[device] = path[common - 1]
    return shared


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many directories at the start are the same, without the devices themselves."""
    count = 0
    for mine, theirs in zip(one[:-1], other[:-1], strict=False):
        if mine != theirs:
            break
        count += 1
    return count
