"""What an image's labels and environment tell about it: our own labels, and those of Backend.AI."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

from carrel.core.cuda import is_requirement, requirement_of
from carrel.images.labels import ImageLabels, parse
from carrel.images.versions import version_key

_LEAST = {"cpu": 10, "mem": 16 << 20}
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
_VARIABLES = frozenset(chain.from_iterable(_VERSIONS.values()))
LABELS = re.compile(r"(?:carrel|ai\.backend|org\.opencontainers\.image|com\.nvidia)\.")


@dataclass(frozen=True)
class ImageFacts:
    """Columns of an image, see `Image`. contents: also, under services, the names of apps that it can run."""

    family: str
    version: str
    title: str
    description: str
    min_slots: dict[str, int]
    apps: list[dict[str, Any]]
    contents: dict[str, str]
    requires_cuda: str
    accelerators: list[str]
    licenses: str
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def version_key(self) -> str:
        return version_key(self.version)


def is_read(variable: str) -> bool:
    """True for variables of an image that tell something about it."""
    return variable in _VARIABLES or is_requirement(variable)


def facts_of(repository: str, tag: str, labels: Mapping[str, str], env: Mapping[str, str]) -> ImageFacts:
    """The facts of a tag. Labels that are wrong are ignored: whoever scans an image did not write them."""
    base = repository.rpartition("/")[2]
    declared = parse(labels)
    return ImageFacts(
        family=(labels.get("carrel.family") or base)[:255],
        version=(labels.get("carrel.version") or tag)[:128],
        title=(declared.title or f"{base} {tag}")[:120],
        description=declared.description[:1000],
        min_slots=_LEAST
        | {slot: max(least, _LEAST.get(slot, 0)) for slot, least in declared.min_slots.items()},
        apps=[asdict(app) for app in declared.apps],
        contents=_contents(declared, env),
        requires_cuda=requirement_of(env, labels),
        accelerators=[word[:60] for word in declared.accelerators[:20]],
        licenses=labels.get("org.opencontainers.image.licenses", "")[:500],
        labels={name: text[:2000] for name, text in sorted(labels.items()) if LABELS.match(name)},
    )


def _contents(declared: ImageLabels, env: Mapping[str, str]) -> dict[str, str]:
    known: dict[str, str] = {}
    for name, variables in _VERSIONS.items():
        values = [env[variable] for variable in variables if env.get(variable)]
        if values and _VERSION.fullmatch(values[0]):
            known[name] = values[0]
    if needed := _CUDA_NEEDED.search(env.get("NVIDIA_REQUIRE_CUDA", "")):
        known["cuda-driver"] = needed[1]
    further = {
        "distribution": declared.distribution,
        "runtime": declared.runtime,
        "services": ", ".join(declared.services),
    }
    return known | {name: text[:500] for name, text in further.items() if text}
