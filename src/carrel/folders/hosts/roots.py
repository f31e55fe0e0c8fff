"""Valid locations of a storage host's root: other files of the machine must not become users' files."""

from collections.abc import Iterable
from pathlib import Path

from carrel.core.errors import Conflict, Invalid

FOLDERS = "folders"
"""Directory of the installation's own folders, in its data directory."""

NOT_COPIED = "not-copied"
"""Where a copy of an installation looks for storage hosts that were outside the data directory."""

_SYSTEM = tuple(
    Path(each)
    for each in (
        "/bin",
        "/boot",
        "/dev",
        "/etc",
        "/lib",
        "/lib32",
        "/lib64",
        "/libx32",
        "/proc",
        "/run",
        "/sbin",
        "/sys",
        "/usr",
        "/var/cache",
        "/var/lib/containerd",
        "/var/lib/containers",
        "/var/lib/dpkg",
        "/var/log",
        "/var/run",
        "/var/spool",
    )
)
_SHARED = frozenset(map(Path, ("/", "/home", "/opt", "/root", "/tmp", "/var", "/var/lib", "/var/tmp")))


def require_fit(root: Path, *, data_dir: Path, others: Iterable[tuple[str, Path]]) -> None:
    """Check that a storage host may keep folders in this root. root, data_dir: without symlinks. others: name -> root.

    Raises: Invalid; Conflict when another host's root overlaps.
    """
    if root in _SHARED or any(root.is_relative_to(each) for each in _SYSTEM):
        raise _refused(f"{root} is a system directory.", "Use a directory that is dedicated to folders.")
    if data_dir.is_relative_to(root) or (root.is_relative_to(data_dir) and root != data_dir / FOLDERS):
        raise _refused(
            f"{root} overlaps the data directory of this installation.",
            f"Use another directory, or {data_dir / FOLDERS}.",
        )
    for name, other in others:
        if root.is_relative_to(other) or other.is_relative_to(root):
            raise Conflict(
                "storage_host.root_taken",
                f"{root} overlaps the root of the storage host {name}, {other}.",
                hint="Use a separate directory for each storage host.",
                field="root",
                details={"host": name},
            )


def _refused(message: str, hint: str) -> Invalid:
    return Invalid("storage_host.root_refused", message, hint=hint, field="root")
