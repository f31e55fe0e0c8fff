"""Validate and normalise mount paths. Pure."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from carrel.core.errors import CarrelError, Conflict, Invalid
from carrel.engines.port import WORK_HOME

_HOME = PurePosixPath(WORK_HOME)
_LONGEST = 512
_LONGEST_NAME = 255
_SYSTEM_TREES = frozenset(
    {
        "bin",
        "boot",
        "dev",
        "etc",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "proc",
        "run",
        "sbin",
        "sys",
        "usr",
        "var",
    }
)
"""Root directories that every image needs for itself."""
_THEMSELVES = frozenset({"/", "/home", "/media", "/mnt", "/opt", "/root", "/srv", "/tmp", WORK_HOME})
"""Directories that cannot be replaced but may contain mounts."""


def place(chosen: str | None, name: str, *, field: str) -> str:
    """The absolute mount path. A relative path is resolved below the home; None: the home plus the folder's name.

    Raises: Invalid.
    """
    path = _HOME / (chosen or name)
    if any(part in (".", "..") or len(part) > _LONGEST_NAME for part in (chosen or "").split("/")):
        raise _refused(
            f"{chosen} is not a valid mount path.",
            field,
            "Do not use . or .. or names longer than 255 characters.",
        )
    if len(str(path)) > _LONGEST:
        raise _refused(f"The path is longer than {_LONGEST} characters.", field, "Choose a shorter path.")
    if str(path) in _THEMSELVES or path.parts[1] in _SYSTEM_TREES:
        raise _refused(
            f"{path} is a system path of the session.",
            field,
            f"Choose a path below {WORK_HOME}, or one like /data.",
        )
    return str(path)


def _refused(message: str, field: str, hint: str) -> Invalid:
    return Invalid("mount.path", message, hint=hint, field=field)


def part(path: str, *, field: str) -> str:
    """The directory inside a folder, relative to it; "" for the whole folder. Raises: Invalid."""
    names = path.strip("/").split("/") if path.strip("/") else []
    if any(name in ("", ".", "..") or len(name.encode()) > _LONGEST_NAME for name in names):
        raise Invalid(
            "mount.subpath",
            f"{path} is not a valid directory of a folder.",
            hint="Separate directory names with a single / and do not use . or ..",
            field=field,
        )
    return "/".join(names)


def require_apart(paths: Sequence[tuple[str, str]]) -> None:
    """Check that no two paths are equal or nested. paths: each with its field. Raises: Conflict for the later one."""
    for number, (path, field) in enumerate(paths):
        for other, _ in paths[:number]:
            if overlap(path, other):
                raise _overlapping(path, other, field)


def overlap(path: str, other: str) -> bool:
    """True if the paths are equal or nested."""
    return PurePosixPath(path).is_relative_to(other) or PurePosixPath(other).is_relative_to(path)


def _overlapping(path: str, other: str, field: str) -> CarrelError:
    message = (
        f"Two folders would be mounted at {path}."
        if path == other
        else f"{path} and {other} would be nested in each other."
    )
    return Conflict("mount.overlap", message, hint="Choose another path for one of them.", field=field)
