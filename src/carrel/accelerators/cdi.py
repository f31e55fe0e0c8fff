"""The Container Device Interface: which devices the specifications of a machine name.

Source: the CDI specification, "CDI JSON Specification": kind, devices[].name; directories as in the CDI of container
engines.
"""

import re

from carrel.accelerators.hardware import Machine

_DIRECTORIES = ("etc/cdi", "var/run/cdi", "run/cdi")
_NAME = re.compile(r'\bname"?:\s*["\']?([A-Za-z0-9][A-Za-z0-9_.:-]*)')


def names(machine: Machine, kind: str) -> frozenset[str]:
    """The devices of a kind, such as nvidia.com/gpu, in the specifications that its vendor's tool has generated."""
    texts = [
        text
        for directory in _DIRECTORIES
        for name in machine.names(directory)
        if name.endswith((".yaml", ".json"))
        if kind in (text := machine.text(f"{directory}/{name}") or "")
    ]
    return frozenset(name for text in texts for name in _NAME.findall(text))
