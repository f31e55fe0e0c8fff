"""Limits of the kernel: those that all sessions of a machine share, since they run as one user id, and our own.

Where they are high, the memory limit of a session is what it meets first. docs/reference/isolation.md explains each;
an operator sets them, since they hold for the whole machine.
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
"""0 means no limit, which is what it should be."""

_OPEN_FILES = 65536


def raise_open_files() -> None:
    """Let this process open as many files as its hard limit allows: shells start processes with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def low(root: Path = Path("/proc/sys")) -> list[str]:
    """The limits that one session could use up for all, as `name=value` that would do. What cannot be read is left out.

    root: where the kernel shows them.
    """
    return [f"{name}={least}" for name, least in _wanting(root)]


def remedy(engine_url: str, root: Path = Path("/proc/sys")) -> str:
    """The command that raises what is low where the sessions run; empty: nothing is, or they run on another machine."""
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
