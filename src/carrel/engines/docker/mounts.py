"""Directories of the machine mounted into a container.

A whole directory is bound to its target. A subpath must not be: a session can place a symbolic link on the way to it,
even at the last moment, and the daemon would follow it on the machine. So the whole directory is bound to a place that
sessions cannot change, and the target is a symbolic link to the subpath, which resolves only inside the container. The
same applies to a target deeper in the home, whose parent directories could be replaced before the container starts
again.

    /home/work/data                  bound
    /home/work/runs/mine  -->  /run/carrel/folders/1
    /home/work/some       -->  /run/carrel/folders/2/part/of/it
"""

import io
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from carrel.engines.port import WORK_HOME, WORK_UID, Mount
from carrel.engines.volumes import require_directories

_PLACES = PurePosixPath("/run/carrel/folders")
_HOME = PurePosixPath(WORK_HOME)


def binds(mounts: Sequence[Mount]) -> list[dict[str, object]]:
    """The daemon's mounts: without submounts, and never creating a missing source. Raises: MountUnusable."""
    require_directories(mounts)
    return [
        {
            "Type": "bind",
            "Source": mount.source,
            "Target": str(_place(number)) if _is_linked(mount) else mount.target,
            "ReadOnly": mount.read_only,
            "BindOptions": {"Propagation": "rprivate", "NonRecursive": True},
        }
        for number, mount in enumerate(mounts)
    ]


def links_archive(mounts: Sequence[Mount], *, made_at: float) -> bytes | None:
    """A tar for the root of a new container: the links with their parent directories; None if there are no links.

    made_at: their modification time, in seconds since 1970.
    """
    links = {
        PurePosixPath(mount.target): _place(n) / mount.subpath
        for n, mount in enumerate(mounts)
        if _is_linked(mount)
    }
    if not links:
        return None
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        # Including existing directories: in an image with a world-writable /run, the places could be moved away.
        for directory in (_PLACES.parent.parent, _PLACES.parent, _PLACES):
            tar.addfile(_entry(directory, 0, made_at))
        for directory in sorted({each for target in links for each in _below_home(target)}):
            tar.addfile(_entry(directory, WORK_UID, made_at))
        for target, place in links.items():
            tar.addfile(_entry(target, WORK_UID, made_at, link=str(place)))
    return out.getvalue()


def _is_linked(mount: Mount) -> bool:
    return bool(mount.subpath) or any(_below_home(PurePosixPath(mount.target)))


def _place(number: int) -> PurePosixPath:
    return _PLACES / str(number)


def _below_home(target: PurePosixPath) -> Iterator[PurePosixPath]:
    """The directories between the home and the target."""
    return (parent for parent in target.parents if _HOME in parent.parents)


def _entry(path: PurePosixPath, owner: int, made_at: float, *, link: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(str(path.relative_to("/")))
    entry.type, entry.linkname = (tarfile.SYMTYPE, link) if link else (tarfile.DIRTYPE, "")
    entry.mode, entry.uid, entry.gid, entry.mtime = 0o755, owner, owner, int(made_at)
    return entry
