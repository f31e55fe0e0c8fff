"""What a container of a session has before its command begins: variables, files and a working directory. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from carrel.core.errors import Invalid
from carrel.core.units import Slots, format_slot
from carrel.engines.port import BOOTSTRAP, WORK_HOME, InitialFile, Mount, bootstrapped
from carrel.sessions import mount_paths
from carrel.sessions.spec import SessionSpec

_THREADS = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMEXPR_MAX_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "RAYON_NUM_THREADS",
    "GOMAXPROCS",
)


def require(spec: SessionSpec) -> None:
    """Check the start-up options. Raises: Invalid."""
    for role in spec.roles_in_order:
        mem = (role.slots or spec.slots).get("mem", 0)
        require_shared_memory(
            role.shm_bytes or spec.shm_bytes, mem, field="roles" if role.shm_bytes else None
        )
    if spec.workdir and {".", ".."} & set(spec.workdir.split("/")):
        raise Invalid(
            "session.workdir",
            f"{spec.workdir} is not a valid working directory.",
            hint="Do not use . or ..",
            field="workdir",
        )


def require_shared_memory(shm_bytes: int | None, mem_bytes: int, *, field: str | None = None) -> None:
    """Check that /dev/shm fits into the memory of a container. Raises: Invalid."""
    if shm_bytes and shm_bytes > mem_bytes:
        raise Invalid(
            "session.shm_too_large",
            f"Shared memory is part of the {format_slot('mem', mem_bytes)} of memory of each container.",
            hint="Request less shared memory, or more memory.",
            field=field or "shm_bytes",
        )


def preferred(spec: SessionSpec, preferences: Mapping[str, Any]) -> SessionSpec:
    """The spec with the time zone and locale that its owner prefers, if it has none."""
    return replace(
        spec,
        timezone=spec.timezone or preferences.get("timezone"),
        locale=spec.locale or preferences.get("locale"),
    )


def variables(spec: SessionSpec, slots: Slots) -> dict[str, str]:
    """Thread counts for whole CPUs, time zone and locale. The session's own variables take precedence.

    slots: of the container.
    """
    threads = str(max(1, slots.get("cpu", 0) // 1000))
    given = dict.fromkeys(_THREADS, threads)
    if spec.timezone:
        given["TZ"] = spec.timezone
    if spec.locale:
        given["LANG"] = spec.locale
    return given


def workdir(spec: SessionSpec) -> str:
    """The absolute working directory; a relative one is below the home."""
    return str(PurePosixPath(WORK_HOME) / (spec.workdir or ""))


def command(spec: SessionSpec, then: tuple[str, ...]) -> tuple[str, ...]:
    """The main process, which runs the bootstrap script first."""
    return bootstrapped(then) if spec.bootstrap else then


def files(
    spec: SessionSpec, dotfiles: Mapping[str, bytes], mounts: Sequence[Mount]
) -> tuple[InitialFile, ...]:
    """The bootstrap script, and the owner's dotfiles except those that a mount hides. dotfiles: by path in the home."""
    own = [
        InitialFile(path, content, private=True)
        for path, content in ((f"{WORK_HOME}/{name}", content) for name, content in sorted(dotfiles.items()))
        if not any(mount_paths.overlap(path, mount.target) for mount in mounts)
    ]
    if spec.bootstrap:
        script = spec.bootstrap.replace("\r\n", "\n")
        text = script if script.startswith("#!") else f"#!/bin/sh\n{script}"
        own.append(InitialFile(BOOTSTRAP, text.encode(), private=True, executable=True))
    return tuple(own)
