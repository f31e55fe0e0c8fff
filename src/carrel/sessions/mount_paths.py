"""Where in a session a folder may be. Pure."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from carrel.core.errors import CarrelError, Conflict, Invalid
from carrel.engines.port import WORK_HOME

_HOME = PurePosixPath(WORK_HOME)
_LONGEST = 512
_LONGEST_NAME = 255
_WHOLE = frozenset(
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
"""Directories of the root in which no image does with anything else."""
_THEMSELVES = frozenset({"/", "/home", "/media", "/mnt", "/opt", "/root", "/srv", "/tmp", WORK_HOME})
"""Directories that stay the image's, or the session's own, but may have folders in them."""


def place(wanted: str | None, name: str, *, field: str) -> str:
    """The absolute path: as wanted, below the home when it is relative; by the folder's name when None is.

    Raises: Invalid.
    """
    path = _HOME / (wanted or name)
    if any(part in (".", "..") or len(part) > _LONGEST_NAME for part in (wanted or "").split("/")):
        raise _refused(
            f"{wanted} is no path for a folder.", field, "Leave out . and .. and names over 255 letters."
        )
    if len(str(path)) > _LONGEST:
        raise _refused(f"The path is longer than {_LONGEST} characters.", field, "Choose a shorter one.")
    if str(path) in _THEMSELVES or path.parts[1] in _WHOLE:
        raise _refused(
            f"{path} belongs to the system of a session.",
            field,
            f"Choose a path below {WORK_HOME}, or one like /data.",
        )
    return str(path)


def _refused(message: str, field: str, hint: str) -> Invalid:
    return Invalid("mount.path", message, hint=hint, field=field)


def part(wanted: str, *, field: str) -> str:
    """The directory of a folder, relative to it; "" for all of it. Raises: Invalid."""
    names = wanted.strip("/").split("/") if wanted.strip("/") else []
    if any(name in ("", ".", "..") or len(name.encode()) > _LONGEST_NAME for name in names):
        raise Invalid(
            "mount.subpath",
            f"{wanted} is no directory of a folder.",
            hint="Write the names of directories with one / between them, without . and ..",
            field=field,
        )
    return "/".join(names)


def require_apart(paths: Sequence[tuple[str, str]]) -> None:
    """Return when none is another, or in another. paths: each with its field. Raises: Conflict for the later one."""
    for number, (path, field) in enumerate(paths):
        for other, _ in paths[:number]:
            if _overlap(PurePosixPath(path), PurePosixPath(other)):
                raise _overlapping(path, other, field)


def _overlap(one: PurePosixPath, other: PurePosixPath) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


def _overlapping(path: str, other: str, field: str) -> CarrelError:
    said = (
        f"Two folders would be at {path}."
        if path == other
        else f"{path} and {other} would be in one another."
    )
    return Conflict("mount.overlap", said, hint="Choose another path for one of them.", field=field)
