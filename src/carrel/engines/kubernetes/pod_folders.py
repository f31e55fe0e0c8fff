"""The folders of a session in its pod: volumes, and which part of them is mounted.

A claim or a CSI volume has the folders of everybody, so only the directory of one folder is ever mounted from it
(`subPath`). The kubelet follows symbolic links in a `subPath` within the volume, so no name in it comes from a session;
and it creates a missing directory, which `preparation` notices by its owner.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from carrel.engines.port import WORK_HOME, ContainerSpec, Mount, MountUnusable, Volume
from carrel.engines.volumes import VolumeKind

MISSING = 78
"""Exit code of `prepare` if a directory was not in its volume."""
PLACES = PurePosixPath("/run/carrel/folders")
_HOME = PurePosixPath(WORK_HOME)
_WHOLE = frozenset({VolumeKind.VOLUME, VolumeKind.CSI})
"""Kinds of volumes that have the directories of many mounts."""


def require_mountable(spec: ContainerSpec) -> None:
    """Raises: MountUnusable for a part of a folder that could lead to other folders of its volume."""
    for mount in spec.mounts:
        if mount.volume and mount.subpath and not is_linked(mount):
            raise MountUnusable(
                f"A part of a folder cannot be mounted at {mount.target}: its storage is a volume of the cluster. "
                f"Choose a path below {WORK_HOME}, or mount the whole folder.",
                retriable=False,
            )


def is_linked(mount: Mount) -> bool:
    """In the home, a part of a directory and a target below the first level are links that resolve inside only."""
    parents = PurePosixPath(mount.target).parents
    return _HOME in parents and (bool(mount.subpath) or parents[0] != _HOME)


def volumes(mounts: Sequence[Mount]) -> Iterator[Mapping[str, object]]:
    """The volumes of the pod; each claim once, because a pod cannot have one twice."""
    named = {_volume(mounts, number): mount for number, mount in reversed([*enumerate(mounts)])}
    return ({"name": name, **_source(mount)} for name, mount in named.items())


def mounted(mounts: Sequence[Mount]) -> Iterator[Mapping[str, object]]:
    """The mounts of the main container."""
    for number, mount in enumerate(mounts):
        linked = is_linked(mount)
        target = PLACES / str(number) if linked else PurePosixPath(mount.target)
        yield _mounted(mounts, number, target, part="" if linked else mount.subpath)


def checked(mounts: Sequence[Mount]) -> Iterator[Mapping[str, object]]:
    """The mounts of `prepare`, for `preparation`."""
    return (_mounted(mounts, number, PLACES / str(number), part="") for number in _created(mounts))


def preparation(mounts: Sequence[Mount]) -> Sequence[str]:
    """Lines of the script of `prepare`: a directory that belongs to root was created by the kubelet."""
    return [
        f"if owner=$(ls -nd {shlex.quote(str(PLACES / str(number)))} 2>/dev/null); then"
        f' set -- $owner; if [ "$3" = 0 ]; then exit {MISSING}; fi; fi'
        for number in _created(mounts)
    ]


def missing(mounts: Sequence[Mount]) -> MountUnusable:
    """The error of a directory that was not in its volume."""
    sources = " or ".join(mounts[number].source for number in _created(mounts))
    return MountUnusable(
        f"The directory {sources}, which is to be mounted, is not in the volume.", retriable=True
    )


def _created(mounts: Sequence[Mount]) -> list[int]:
    """Those whose directory the kubelet creates if it is missing."""
    return [number for number, mount in enumerate(mounts) if mount.volume and mount.volume.kind in _WHOLE]


def _volume(mounts: Sequence[Mount], number: int) -> str:
    """The name of a mount's volume in the pod."""
    volume = mounts[number].volume
    if volume and volume.kind in _WHOLE:
        number = next(first for first, mount in enumerate(mounts) if mount.volume == volume)
    return f"folder-{number}"


def _source(mount: Mount) -> Mapping[str, object]:
    match mount.volume:
        case Volume(VolumeKind.VOLUME, name):
            return {"persistentVolumeClaim": {"claimName": name}}
        case Volume(VolumeKind.NFS, name):
            return {"nfs": {"server": name, "path": mount.source}}
        case Volume(VolumeKind.CSI, name, attributes):
            return {"csi": {"driver": name, "volumeAttributes": dict(attributes)}}
    # An existing directory only: a missing one is an error, and is never created.
    return {"hostPath": {"path": mount.source, "type": "Directory"}}


def _mounted(
    mounts: Sequence[Mount], number: int, target: PurePosixPath, *, part: str
) -> Mapping[str, object]:
    mount = mounts[number]
    source = mount.source.strip("/") if mount.volume and mount.volume.kind in _WHOLE else ""
    subpath = "/".join(name for name in (source, part) if name)
    return {
        "name": _volume(mounts, number),
        "mountPath": str(target),
        **({"subPath": subpath} if subpath else {}),
        **({"readOnly": True} if mount.read_only else {}),
    }
