"""Kernel limits: those shared by all sessions of a machine, which run as one user id, and those of this process.

They should be so high that a session reaches its memory limit first. docs/reference/isolation.md explains each; an
operator sets them, since they apply to the whole machine.
"""

import resource
from collections.abc import Iterator
from pathlib import Path

LEAST = {
    "fs.inotify.max_user_instances": 65536,
    "fs.inotify.max_user_watches": 1048576,
    "kernel.pty.max": 65536,
    "fs.aio-max-nr": 1048576,
}
PIPE_PAGES = "fs.pipe-user-pages-soft"
"""0 means no limit, the recommended value."""

_OPEN_FILES = 65536


def raise_open_files() -> None:
    """Raise the limit of open files to the hard limit: shells start processes with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def low(root: Path = Path("/proc/sys")) -> list[str]:
    """The limits that one session could exhaust for all, as `name=value` with sufficient values. Unreadable limits are
    omitted.

    root: the directory where the kernel exposes them.
    """
    return [f"{name}={least}" for name, least in _wanting(root)]


def remedy(engine_url: str, root: Path = Path("/proc/sys")) -> str:
    """The command that raises low limits where the sessions run; empty if none are low, or if sessions run on another
    machine.
    """
    wanting = low(root) if engine_url.startswith("unix://") else []
    return "sysctl -w " + " ".join(wanting) if wanting else ""


def _wanting(root: Path) -> Iterator[tuple[str, int]]:
    for name, least in LEAST.items():
        if (value := _read(root, name)) is not None and value < least:
            yield name, least
    if _read(root, PIPE_PAGES):
        yield PIPE_PAGES, 0


def _read(root: Path, name: str) -> int | None:
    try:
        return int((root / name.replace(".", "/")).read_text())
    except (OSError, ValueError):
        return None
