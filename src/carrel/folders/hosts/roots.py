"""Where the root of a storage host may be: what else is kept on the machine must not become somebody's files."""

from collections.abc import Iterable
from pathlib import Path

from carrel.core.errors import Conflict, Invalid

FOLDERS = "folders"
"""The directory of the installation's own folders, in its data directory."""

NOT_COPIED = "not-copied"
"""Where a copy of an installation looks for the storage hosts that were outside of the data directory."""

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
    """Return when a storage host may keep folders there. root, data_dir: without symlinks. others: name -> root.

    Raises: Invalid; Conflict when another host is there.
    """
    if root in _SHARED or any(root.is_relative_to(each) for each in _SYSTEM):
        raise _refused(f"{root} belongs to the system.", "Use a directory that is dedicated to folders.")
    if data_dir.is_relative_to(root) or (root.is_relative_to(data_dir) and root != data_dir / FOLDERS):
        raise _refused(
            f"{root} holds, or is in, the data directory of this installation.",
            f"Use another directory, or {data_dir / FOLDERS}.",
        )
    for name, other in others:
        if root.is_relative_to(other) or other.is_relative_to(root):
            raise Conflict(
                "storage_host.root_taken",
                f"{root} is, holds or is in the root of the storage host {name}, {other}.",
                hint="Use a separate directory for each storage host.",
                field="root",
                details={"host": name},
            )


def _refused(message: str, hint: str) -> Invalid:
    return Invalid("storage_host.root_refused", message, hint=hint, field="root")
