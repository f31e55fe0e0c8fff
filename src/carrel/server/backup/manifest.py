"""The content of a backup, and its verification."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from carrel.core.errors import Conflict, NotFound

FILE = "manifest.json"
FORMAT = 1
_PIECE = 1 << 20

Progress = Callable[[str, int], None]
"""Called often: current file, and number of bytes written or read since the last call."""


@dataclass(frozen=True)
class StoredFile:
    bytes: int
    sha256: str


@dataclass(frozen=True)
class StoredHost:
    """A storage host. root: original location of its folders. in_data_dir: the root was below the data directory."""

    name: str
    backend: str
    root: str
    in_data_dir: bool


@dataclass(frozen=True)
class Manifest:
    """schema: database revision. folders: "snapshot", "copy" or "none".

    changed: folders that changed while they were read. missing: folders in the database without a directory.
    """

    created_at: str
    version: str
    schema: str
    machine: str
    data_dir: str
    folders: str
    hosts: list[StoredHost]
    files: dict[str, StoredFile]
    changed: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files.values())

    def write(self, backup: Path) -> None:
        content = {"format": FORMAT, **asdict(self)}
        (backup / FILE).write_text(json.dumps(content, indent=1) + "\n")


def read(backup: Path) -> Manifest:
    """Read the manifest. Raises: NotFound if there is no complete backup; Conflict if it is damaged or has a newer
    format.
    """
    try:
        content: dict[str, Any] = json.loads((backup / FILE).read_text())
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(
            "backup.not_found",
            f"There is no complete backup in {backup}.",
            hint="Specify the directory that `carrel backup` created; it has a manifest.json.",
        ) from None
    except ValueError:
        raise damaged(backup, "its manifest cannot be read") from None
    if content.get("format") != FORMAT:
        raise Conflict(
            "backup.newer",
            f"The backup in {backup} has format {content.get('format')}, and this version of Carrel reads {FORMAT}.",
            hint="Restore it with the version that made it, or with a newer one.",
        )
    try:
        del content["format"]
        content["hosts"] = [StoredHost(**host) for host in content["hosts"]]
        content["files"] = {name: StoredFile(**file) for name, file in content["files"].items()}
        return Manifest(**content)
    except (KeyError, TypeError, AttributeError):
        raise damaged(backup, "its manifest cannot be read") from None


def verify(backup: Path, progress: Progress) -> Manifest:
    """Verify that the backup matches its manifest. Raises: NotFound, Conflict naming the difference."""
    manifest = read(backup)
    for name, expected in sorted(manifest.files.items()):
        path = backup / name
        if not path.is_file():
            raise damaged(backup, f"{name} is missing")
        if path.stat().st_size != expected.bytes:
            raise damaged(backup, f"{name} has {path.stat().st_size} bytes instead of {expected.bytes}")
        if _checksum(path, name, progress) != expected.sha256:
            raise damaged(backup, f"the content of {name} is not what was written")
    return manifest


def _checksum(path: Path, name: str, progress: Progress) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            progress(name, len(piece))
    return digest.hexdigest()


def damaged(backup: Path, what: str) -> Conflict:
    """The error for a damaged backup."""
    return Conflict(
        "backup.damaged",
        f"The backup in {backup} is damaged: {what}.",
        hint="Use another backup. Nothing was restored from this one.",
    )
