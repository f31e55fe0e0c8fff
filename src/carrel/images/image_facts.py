"""What an image's labels and environment tell about it: our own labels, and those of Backend.AI."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from carrel.core.units import parse_cpu, parse_size
from carrel.images.versions import version_key

_OURS, _THEIRS, _OCI = "carrel.", "ai.backend.", "org.opencontainers.image."
_LEAST = {"cpu": 10, "mem": 16 << 20}
_MOST = 1 << 62
_VERSIONS = {
    "python": ("PYTHON_VERSION",),
    "cuda": ("CUDA_VERSION", "NV_CUDA_LIB_VERSION"),
    "rocm": ("ROCM_VERSION",),
    "pytorch": ("PYTORCH_VERSION", "NVIDIA_PYTORCH_VERSION"),
    "tensorflow": ("TENSORFLOW_VERSION", "NVIDIA_TENSORFLOW_VERSION", "TF_VERSION"),
    "jax": ("JAX_VERSION", "NVIDIA_JAX_VERSION"),
    "r": ("R_VERSION",),
    "julia": ("JULIA_VERSION",),
    "node": ("NODE_VERSION",),
    "go": ("GOLANG_VERSION",),
    "rust": ("RUST_VERSION",),
}
"""Environment variables that well-known images have, the first one wins."""
_CUDA_NEEDED = re.compile(r"cuda>=([0-9.]+)")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,40}")
_APP_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
_SLOT = re.compile(r"[a-z][a-z0-9_.-]{0,60}")
_KEPT = re.compile(r"(?:carrel|ai\.backend|org\.opencontainers\.image|com\.nvidia)\.")


@dataclass(frozen=True)
class ImageFacts:
    """Columns of an image. contents: see `Image`, and under service-ports the apps that it says it has."""

    family: str
    version: str
    title: str
    description: str
    min_slots: dict[str, int]
    apps: list[dict[str, Any]]
    contents: dict[str, str]
    accelerators: list[str]
    licenses: str
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def version_key(self) -> str:
        return version_key(self.version)


def facts_of(repository: str, tag: str, labels: Mapping[str, str], env: Mapping[str, str]) -> ImageFacts:
    """The facts of a tag. Labels that are wrong are ignored: whoever scans an image did not write them."""
    base = repository.rpartition("/")[2]
    return ImageFacts(
        family=(labels.get(f"{_OURS}family") or base)[:255],
        version=(labels.get(f"{_OURS}version") or tag)[:128],
        title=(labels.get(f"{_OURS}title") or labels.get(f"{_OCI}title") or f"{base} {tag}")[:120],
        description=(labels.get(f"{_OURS}description") or labels.get(f"{_OCI}description") or "")[:1000],
        min_slots=_min_slots(labels),
        apps=_apps(labels.get(f"{_OURS}apps", "")),
        contents=_contents(labels, env),
        accelerators=_words(labels.get(f"{_OURS}accelerators") or labels.get(f"{_THEIRS}accelerators", "")),
        licenses=labels.get(f"{_OCI}licenses", "")[:500],
        labels={name: text[:2000] for name, text in sorted(labels.items()) if _KEPT.match(name)},
    )


def _min_slots(labels: Mapping[str, str]) -> dict[str, int]:
    slots = dict(_LEAST)
    for name, text in labels.items():
        slot = name.removeprefix(f"{_OURS}min_").removeprefix(f"{_THEIRS}resource.min.")
        if slot == name or not _SLOT.fullmatch(slot):
            continue
        try:
            amount = _amount(slot, text)
        except ValueError:
            continue
        if 0 < amount < _MOST:
            slots[slot] = max(amount, slots.get(slot, 0))
    return slots


def _amount(slot: str, text: str) -> int:
    """The amount in the unit of the slot. Raises: ValueError."""
    if slot == "mem":
        return parse_size(text)
    if slot == "cpu" or slot.endswith(".shares"):
        return parse_cpu(text)
    return int(text)


def _apps(text: str) -> list[dict[str, Any]]:
    """The templates of our label that are complete."""
    try:
        apps = json.loads(text) if text else []
    except ValueError:
        return []
    return [app for app in apps if _is_app(app)] if isinstance(apps, list) else []


def _is_app(app: object) -> bool:
    if not isinstance(app, dict) or not all(
        isinstance(app.get(key), str) for key in ("name", "title", "protocol")
    ):
        return False
    port = app.get("port")
    return bool(_APP_NAME.fullmatch(app["name"])) and isinstance(port, int) and 0 < port < 65_536


def _contents(labels: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    known: dict[str, str] = {}
    for name, variables in _VERSIONS.items():
        values = [env[variable] for variable in variables if env.get(variable)]
        if values and _VERSION.fullmatch(values[0]):
            known[name] = values[0]
    if needed := _CUDA_NEEDED.search(env.get("NVIDIA_REQUIRE_CUDA", "")):
        known["cuda-driver"] = needed[1]
    for name, label in (
        ("distribution", "base-distro"),
        ("runtime", "runtime-type"),
        ("service-ports", "service-ports"),
    ):
        if text := labels.get(_THEIRS + label):
            known[name] = text[:500]
    return known


def _words(text: str) -> list[str]:
    return [word.strip()[:60] for word in text.split(",") if word.strip()][:20]
