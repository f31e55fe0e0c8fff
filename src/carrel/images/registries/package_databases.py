"""The package databases of an image's file system, as far as the catalogue shows what they have.

    dpkg      var/lib/dpkg/status, and var/lib/dpkg/status.d/* of distroless images
    apk       lib/apk/db/installed
    conda     conda-meta/NAME-VERSION-BUILD.json, in any directory
    python    *.dist-info/METADATA, in any directory

RPM's databases are not read.
"""

import re
from collections.abc import Iterator, Mapping
from email.parser import HeaderParser
from functools import partial
from itertools import chain, islice
from typing import IO

from carrel.images.versions import version_key

_CONTENTS = {
    "dpkg": {
        "python3": "python",
        "r-base-core": "r",
        "julia": "julia",
        "nodejs": "node",
        "golang-go": "go",
        "rustc": "rust",
        "rocm-core": "rocm",
        "libnccl2": "nccl",
    },
    "apk": {
        "python3": "python",
        "R": "r",
        "julia": "julia",
        "nodejs": "node",
        "go": "go",
        "rust": "rust",
    },
    "conda": {
        "python": "python",
        "cuda-version": "cuda",
        "cudatoolkit": "cuda",
        "cudnn": "cudnn",
        "nccl": "nccl",
        "pytorch": "pytorch",
        "tensorflow": "tensorflow",
        "jax": "jax",
        "r-base": "r",
        "julia": "julia",
        "nodejs": "node",
        "go": "go",
        "rust": "rust",
        "jupyterlab": "jupyterlab",
    },
    "python": {
        "nvidia-cuda-runtime": "cuda",
        "nvidia-cudnn": "cudnn",
        "nvidia-nccl": "nccl",
        "torch": "pytorch",
        "tensorflow": "tensorflow",
        "tensorflow-cpu": "tensorflow",
        "jax": "jax",
        "jupyterlab": "jupyterlab",
        "transformers": "transformers",
        "vllm": "vllm",
    },
}
"""Names in the catalogue by those of packages."""
SOURCES = ("conda", "python", "dpkg", "apk")
"""Where several have the same, the first one counts: what people install themselves goes before the system's."""
_FAMILIES = (
    (re.compile(r"cuda-cudart-\d+-\d+"), "cuda"),
    (re.compile(r"libcudnn\d+(?:-cuda-\d+)?"), "cudnn"),
)
_OF_CUDA = re.compile(r"-cu\d+$")
_KINDS = (
    ("dpkg", re.compile(r"var/lib/dpkg/status(?:\.d/[^/]+)?")),
    ("apk", re.compile(r"(?:usr/)?lib/apk/db/installed")),
    ("conda", re.compile(r"(?:.*/)?conda-meta/[^/]+\.json")),
    ("python", re.compile(r"(?:.*/)?[^/]+\.dist-info/METADATA")),
)
_UPSTREAM = re.compile(r"(?:\d+:)?(\d+(?:\.\d+)*)")
_SHOWN = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,40}")
_HEADERS = 64 << 10
_LONGEST_LINE, _MOST_LINES = 64 << 10, 1_000_000

Packages = dict[str, str]
"""Versions by name in the catalogue."""


def kind_of(path: str) -> str | None:
    """The kind of the database that has this path; None if it is none."""
    return next((kind for kind, pattern in _KINDS if pattern.fullmatch(path)), None)


def packages_of(kind: str, path: str, content: IO[bytes]) -> Packages:
    """What the catalogue shows of a database, which is read as far as it is needed, line by line: it may be large."""
    packages: Packages = {}
    for name, version in _READERS[kind](path, content):
        shown = _name(kind, name)
        if shown and _SHOWN.fullmatch(version) and _newer(version, packages.get(shown)):
            packages[shown] = version
    return packages


def contents_of(databases: Mapping[str, Packages]) -> dict[str, tuple[str, str]]:
    """Version and source by name, of databases by path."""
    contents: dict[str, tuple[str, str]] = {}
    for source in SOURCES:
        newest: Packages = {}
        for path, packages in databases.items():
            if kind_of(path) == source:
                newest |= {name: text for name, text in packages.items() if _newer(text, newest.get(name))}
        contents = {name: (version, source) for name, version in newest.items()} | contents
    return contents


def _dpkg(path: str, content: IO[bytes]) -> Iterator[tuple[str, str]]:
    for fields in _stanzas(content, ": ", ("Package", "Status", "Version")):
        # Those of status.d have no status.
        if fields.get("Status", "install ok installed").endswith(" installed"):
            yield fields.get("Package", ""), _upstream(fields.get("Version", ""))


def _apk(path: str, content: IO[bytes]) -> Iterator[tuple[str, str]]:
    for fields in _stanzas(content, ":", ("P", "V")):
        yield fields.get("P", ""), _upstream(fields.get("V", ""))


def _stanzas(content: IO[bytes], separator: str, names: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """These fields of each stanza."""
    fields: dict[str, str] = {}
    for line in islice(iter(partial(content.readline, _LONGEST_LINE), b""), _MOST_LINES):
        name, separated, value = line.decode(errors="replace").rstrip("\r\n").partition(separator)
        if separated and name in names:
            fields[name] = value
        elif not separated and not name:
            yield fields
            fields = {}
    yield fields


def _conda(path: str, content: IO[bytes]) -> Iterator[tuple[str, str]]:
    parts = path.rpartition("/")[2].removesuffix(".json").rsplit("-", 2)
    if len(parts) == 3:
        yield parts[0], parts[1]


def _python(path: str, content: IO[bytes]) -> Iterator[tuple[str, str]]:
    headers = HeaderParser().parsestr(content.read(_HEADERS).decode(errors="replace"))
    name, version = str(headers.get("Name", "")), str(headers.get("Version", ""))
    yield re.sub(r"[-_.]+", "-", name).lower(), version.strip()


_READERS = {"dpkg": _dpkg, "apk": _apk, "conda": _conda, "python": _python}


def _name(kind: str, package: str) -> str | None:
    if kind == "python":
        package = _OF_CUDA.sub("", package)
    families = (shown for pattern, shown in _FAMILIES if kind == "dpkg" and pattern.fullmatch(package))
    return next(chain(families, [_CONTENTS[kind].get(package)]), None)


def _upstream(version: str) -> str:
    """Without the revisions of the distribution."""
    match = _UPSTREAM.match(version)
    return match[1] if match else ""


def _newer(version: str, than: str | None) -> bool:
    return than is None or version_key(version) > version_key(than)
