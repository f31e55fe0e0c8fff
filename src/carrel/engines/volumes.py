"""Where a directory is for the containers of an engine: on its nodes, or in a volume that the engine mounts itself.

As text, which administrators write:

    /mnt/folders                          a directory of each node
    volume://NAME/PREFIX                  a volume that the engine has, by its name; Kubernetes: a PersistentVolumeClaim
    nfs://SERVER/EXPORT                   an export of an NFS server
    csi://DRIVER/PREFIX?ATTRIBUTE=VALUE   a volume that a CSI driver makes for each container from these attributes
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Protocol
from urllib.parse import parse_qsl, urlsplit

from carrel.engines.port import Mount, MountUnusable, Volume


class VolumeKind(StrEnum):
    VOLUME = "volume"
    NFS = "nfs"
    CSI = "csi"


_NAMES: Mapping[str, re.Pattern[str]] = {
    VolumeKind.VOLUME: re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?"),
    VolumeKind.NFS: re.compile(r"[A-Za-z0-9][-A-Za-z0-9.]{0,252}|\[[0-9a-fA-F:]+\]"),
    VolumeKind.CSI: re.compile(r"[A-Za-z0-9]([-A-Za-z0-9.]{0,61}[A-Za-z0-9])?"),
}


class MountsVolumes(Protocol):
    """An engine that mounts directories of volumes; the class has the attribute."""

    volume_kinds: frozenset[VolumeKind]


@dataclass(frozen=True, slots=True)
class Location:
    """A directory: of each node without a volume, otherwise of the volume. path: absolute."""

    path: PurePosixPath
    volume: Volume | None = None

    def mount(self, part: PurePosixPath, target: str, *, subpath: str, read_only: bool) -> Mount:
        """A mount of a directory in it. part: relative to it."""
        return Mount(str(self.path / part), target, subpath, read_only, self.volume)


def parse(text: str) -> Location:
    """The location that the text describes. Raises: ValueError with a sentence."""
    if ".." in re.split("[/?#]", text) or not text.isprintable():
        raise ValueError("A location has no .. and no control characters in it.")
    if text.startswith("/"):
        return Location(PurePosixPath(text))
    try:
        parts = urlsplit(text)
    except ValueError:
        raise ValueError(f"{text} is not a location.") from None
    if parts.scheme not in _NAMES or parts.fragment:
        raise ValueError(f"{text} is neither an absolute path nor one of volume://, nfs:// and csi://.")
    if not _NAMES[parts.scheme].fullmatch(parts.netloc):
        raise ValueError(f"{parts.netloc or 'Nothing'} is not a name after {parts.scheme}://.")
    if parts.scheme == VolumeKind.NFS and not parts.path:
        raise ValueError("An NFS location names the export, such as nfs://filer/export.")
    if parts.query and parts.scheme != VolumeKind.CSI:
        raise ValueError("Only a CSI location has attributes.")
    attributes = tuple(sorted(parse_qsl(parts.query, keep_blank_values=True)))
    path = PurePosixPath("/" + parts.path.strip("/"))
    return Location(path, Volume(parts.scheme, parts.netloc, attributes))


def require_directories(mounts: Sequence[Mount]) -> None:
    """Check that all are directories of the node, for an engine that mounts nothing else. Raises: MountUnusable."""
    for mount in mounts:
        if mount.volume:
            raise MountUnusable(
                f"This engine does not mount {mount.volume.kind} volumes, only directories of its nodes.",
                retriable=False,
            )
