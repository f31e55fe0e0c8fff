"""The NVIDIA driver of this machine, from its kernel."""

import re
from collections.abc import Mapping
from pathlib import Path

from carrel.core.cuda import DRIVER_LABEL

_FILES = ("proc/driver/nvidia/version", "sys/module/nvidia/version")
# NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82.01  Wed Oct 27 21:21:55 UTC 2021
_VERSION = re.compile(r"(?<![0-9.])[0-9]{3}\.[0-9]+(?:\.[0-9]+)?(?![0-9.])")


def labels(root: Path) -> Mapping[str, str]:
    """The label of the node that has its version; none if there is no driver. root: of the machine's files."""
    for name in _FILES:
        try:
            text = (root / name).read_text(errors="replace")
        except OSError:
            continue
        if match := _VERSION.search(text.partition("\n")[0]):
            return {DRIVER_LABEL: match[0]}
    return {}
