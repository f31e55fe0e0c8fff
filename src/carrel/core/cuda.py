"""Whether the NVIDIA driver of a node runs the CUDA of an image.

Sources, as of CUDA 13.3 (2026):
- which driver a CUDA came with: CUDA Toolkit release notes, table "CUDA Toolkit and Corresponding Driver Versions",
  https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html
- minor version compatibility, table 1, and forward compatibility: https://docs.nvidia.com/deploy/cuda-compatibility/
- branches with forward compatibility: NVIDIA_REQUIRE_CUDA of the images nvidia/cuda, 11.2, 12.4 and 13.0
- grammar of requirements: dsl.c of https://github.com/NVIDIA/libnvidia-container; which variables count: package image
  of https://github.com/NVIDIA/nvidia-container-toolkit
- labels: https://github.com/NVIDIA/k8s-device-plugin, GPU feature discovery
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

Version = tuple[int, ...]

FAMILY = "cuda."
"""Prefix of the slots of NVIDIA's devices."""
DRIVER_LABEL = "nvidia.com/cuda.driver-version.full"
CUDA_LABEL = "nvidia.com/cuda.runtime-version.full"
"""Labels of nodes, which GPU feature discovery sets on Kubernetes. The second is the newest CUDA of the driver."""

_SHIPPED: tuple[tuple[Version, Version], ...] = (
    ((13, 3), (610, 43, 2)),
    ((13, 2), (595, 45, 4)),
    ((13, 1), (590, 44, 1)),
    ((13, 0), (580, 65, 6)),
    ((12, 9), (575, 51, 3)),
    ((12, 8), (570, 26)),
    ((12, 6), (560, 28, 3)),
    ((12, 5), (555, 42, 2)),
    ((12, 4), (550, 54, 14)),
    ((12, 3), (545, 23, 6)),
    ((12, 2), (535, 54, 3)),
    ((12, 1), (530, 30, 2)),
    ((12, 0), (525, 60, 13)),
    ((11, 8), (520, 61, 5)),
    ((11, 7), (515, 43, 4)),
    ((11, 6), (510, 39, 1)),
    ((11, 5), (495, 29, 5)),
    ((11, 4), (470, 42, 1)),
    ((11, 3), (465, 19, 1)),
    ((11, 2), (460, 27, 3)),
    ((11, 1), (455, 23)),
    ((11, 0), (450, 36, 6)),
    ((10, 2), (440, 33)),
    ((10, 1), (418, 39)),
    ((10, 0), (410, 48)),
    ((9, 2), (396, 26)),
    ((9, 1), (390, 46)),
    ((9, 0), (384, 81)),
    ((8, 0), (367, 48)),
    ((7, 5), (352, 31)),
    ((7, 0), (346, 46)),
)
"""CUDA, and the first Linux driver that supports it; the newest first."""
_MINOR: Mapping[int, Version] = {13: (580,), 12: (525,), 11: (450, 80, 2)}
"""By CUDA major version, the first driver that runs all its minor versions."""
_FORWARD: Mapping[int, tuple[int, ...]] = {13: (535, 550, 570), 12: (470,), 11: (418,)}
"""By CUDA major version, older driver branches on which it runs with the package cuda-compat of the image."""

_OLD_LABELS = {
    DRIVER_LABEL: (
        "nvidia.com/cuda.driver.major",
        "nvidia.com/cuda.driver.minor",
        "nvidia.com/cuda.driver.rev",
    ),
    CUDA_LABEL: ("nvidia.com/cuda.runtime.major", "nvidia.com/cuda.runtime.minor"),
}
LABELS = (DRIVER_LABEL, CUDA_LABEL, *(name for names in _OLD_LABELS.values() for name in names))
"""All that `driver_of` reads."""
_VERSION = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6}){0,3}")
_COMPARISON = re.compile(
    r"(?P<name>[a-z]+)(?P<operator>=|!=|<|<=|>|>=)(?P<value>[A-Za-z0-9._-]+)", re.IGNORECASE
)
_MOST_LINES, _LONGEST = 8, 4000
_KNOWN = frozenset(["cuda", "driver", "arch", "brand"])

_REQUIRE, _JETPACK, _DISABLE = "NVIDIA_REQUIRE_", "NVIDIA_REQUIRE_JETPACK", "NVIDIA_DISABLE_REQUIRE"
_CUDA_VERSION, _COMPAT = "CUDA_VERSION", "NV_CUDA_COMPAT_PACKAGE"
_CUDA_LABEL_OF_IMAGES = "com.nvidia.cuda.version"
_TRUE = frozenset(["1", "t", "T", "TRUE", "true", "True"])


@dataclass(frozen=True, slots=True)
class Driver:
    """Of a node. version: of the driver; empty: unknown. cuda: the newest that it supports, major and minor."""

    version: Version
    cuda: Version

    def __str__(self) -> str:
        supported = f"supports CUDA {text_of(self.cuda)}"
        return f"driver {text_of(self.version)} {supported}" if self.version else supported


class Comparison(NamedTuple):
    """Such as cuda>=12.4 or brand=tesla."""

    name: str
    operator: str
    value: str

    def __str__(self) -> str:
        return f"{self.name}{self.operator}{self.value}"


Alternatives = tuple[tuple[Comparison, ...], ...]
"""One of them must hold: all its conditions."""


def version(text: str) -> Version:
    """Of "470.82.01"; empty if it is none."""
    return tuple(int(part) for part in text.split(".")) if _VERSION.fullmatch(text) else ()


def text_of(version: Version) -> str:
    """As NVIDIA writes it: the third number of a driver has two digits."""
    return ".".join([*map(str, version[:2]), *(f"{part:02}" for part in version[2:])])


def driver_of(labels: Mapping[str, str]) -> Driver | None:
    """What labels of a node say about its driver; None: unknown. Its CUDA follows from the driver's version, unless a
    label says it.
    """
    return _driver(_labelled(labels, DRIVER_LABEL), _labelled(labels, CUDA_LABEL))


def uses_cuda(slots: Mapping[str, int]) -> bool:
    """True if a container with these slots has a device of NVIDIA."""
    return any(amount and slot.startswith(FAMILY) for slot, amount in slots.items())


def is_requirement(variable: str) -> bool:
    """True for variables of images that `requirement_of` reads."""
    return variable.startswith(_REQUIRE) or variable in (_DISABLE, _CUDA_VERSION, _COMPAT)


def requirement_of(env: Mapping[str, str], labels: Mapping[str, str]) -> str:
    """What an image with these variables and labels requires, in NVIDIA's grammar; each line must hold. Empty: nothing.

    An image that says only which CUDA it has requires that, with the alternatives that its package cuda-compat gives.
    """
    if env.get(_DISABLE, "") in _TRUE:
        return ""
    lines = {
        name: text
        for name, text in sorted(env.items())
        if name.startswith(_REQUIRE) and not name.startswith(_JETPACK) and parse(text)
    }
    contained = version(env.get(_CUDA_VERSION) or labels.get(_CUDA_LABEL_OF_IMAGES, ""))[:2]
    if f"{_REQUIRE}CUDA" not in lines and contained:
        branches = _FORWARD.get(contained[0], ()) if env.get(_COMPAT) else ()
        words = [f"cuda>={text_of(contained)}", *(f"driver>={one},driver<{one + 1}" for one in branches)]
        lines[_CUDA_VERSION] = " ".join(words)
    kept = [" ".join(line.split()) for line in lines.values()]
    # What is longer is no requirement of NVIDIA's, and cut it would be another one.
    return "\n".join(kept) if len(kept) <= _MOST_LINES and sum(map(len, kept)) <= _LONGEST else ""


@lru_cache(maxsize=512)
def parse(requirement: str) -> Alternatives:
    """One line of a requirement; empty if it is none, or cannot be understood: such an image is not refused."""
    alternatives = []
    for words in requirement.split():
        conditions = []
        for word in filter(None, words.split(",")):
            match = _COMPARISON.fullmatch(word)
            if match is None or match["name"].lower() not in _KNOWN:
                return ()
            conditions.append(Comparison(match["name"].lower(), match["operator"], match["value"]))
        if conditions:
            alternatives.append(tuple(conditions))
    return tuple(alternatives)


@lru_cache(maxsize=65536)
def mismatch(requirement: str, driver: Driver) -> str:
    """Why an image with this requirement does not run with the driver, as a clause; empty if it does.

    Brand and architecture of the devices are not known: conditions on them hold.
    """
    for line in requirement.splitlines():
        alternatives = parse(line)
        if alternatives and not any(all(_holds(one, driver) for one in each) for each in alternatives):
            return _clause(alternatives, driver)
    return ""


@lru_cache(maxsize=1024)
def _driver(installed: str, supported: str) -> Driver | None:
    driver, cuda = version(installed), version(supported)[:2]
    cuda = cuda or next((cuda for cuda, least in _SHIPPED if driver >= least), ())
    return Driver(driver, cuda) if cuda else None


def _labelled(labels: Mapping[str, str], label: str) -> str:
    if labels.get(label):
        return labels[label]
    parts = [labels.get(name, "") for name in _OLD_LABELS[label]]
    return ".".join(part for part in parts if part) if all(parts[:2]) else ""


def _holds(one: Comparison, driver: Driver) -> bool:
    present = {"cuda": driver.cuda, "driver": driver.version}.get(one.name, ())
    required = version(one.value)
    if not present or not required:
        return True
    if one.name == "cuda" and one.operator == ">=" and _has_minor_version(required, driver):
        return True
    length = max(len(present), len(required))
    present, required = (side + (0,) * (length - len(side)) for side in (present, required))
    equal = present == required
    match one.operator:
        case "=":
            return equal
        case "!=":
            return not equal
        case "<" | "<=":
            return present < required or (equal and one.operator == "<=")
        case _:
            return present > required or (equal and one.operator == ">=")


def _has_minor_version(required: Version, driver: Driver) -> bool:
    """True if the driver runs all of the required major version."""
    first = _MINOR.get(required[0])
    if first is None:
        return False
    return driver.version >= first if driver.version else driver.cuda[0] >= required[0]


def _clause(alternatives: Alternatives, driver: Driver) -> str:
    conditions = [one for each in alternatives for one in each]
    cuda = next((one.value for one in conditions if one.name == "cuda" and one.operator == ">="), "")
    needed = f"CUDA {cuda}" if cuda else ",".join(map(str, alternatives[0]))
    return f"{driver}, the image needs {needed}"
