"""The engine port: eight methods between Carrel and whatever runs containers.

Everything is keyed by the id of a container, which is ours (`tables/sessions.py: Container`); an engine finds its
containers again after any crash by the labels it wrote itself. `list` is the truth; `watch` only says when
to look. Behaviour at the edges, for every implementation (conformance.py tests it):

    method   already there / again            already gone             engine away or restarted
    nodes    same answer                      -                        Unavailable
    ensure   starts it if stopped, else no-op makes it                 Unavailable; call again
             an image that is missing is pulled, unless its name begins with LOCAL_IMAGES
    remove   no-op while it is being removed  success                  Unavailable; call again
    list     truth at some moment in the call absent from the answer   Unavailable, never a short list
    watch    many watchers may listen         -                        ends; call list, then watch again
    exec     each call is a new process;      ContainerGone            ContainerGone or Unavailable
             no such command: 127, no program: 126, each with a sentence on stderr
    logs     each call reads from its start   ContainerGone            stream ends; Unavailable
    usage    cumulative since container start absent from the answer   Unavailable

Where the installation's label is bound to another database (it is a copy, or was moved), every method but `watch`
raises ClaimedElsewhere, which is an Unavailable: a copy of an installation never touches the original's containers.

A node that the engine no longer names is gone with what is on it: `list` leaves that out, `remove` succeeds, `ensure`
for it is refused and makes the same container elsewhere. What comes back with the node is listed again.

Nothing here may name one engine's concepts: what a pod, a bridge or an overlay is stays below this line.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from carrel.accelerators.port import Device
from carrel.core.slots import SlotKind
from carrel.engines.references import LOCAL

WORK_UID = 1000
WORK_HOME = "/home/work"
LOCAL_IMAGES = f"{LOCAL}/"
"""How the names of images begin that exist nowhere but in the engine: no registry is asked for them."""


class EngineError(Exception):
    """The engine said no. `message` is a sentence for people; `retriable` tells whether later may help."""

    def __init__(self, message: str, *, retriable: bool, code: str = "engine_error") -> None:
        super().__init__(message)
        self.message = message
        self.retriable = retriable
        self.code = code


class EngineUnavailable(EngineError):
    """The engine does not answer."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retriable=True, code="engine_unavailable")


class ClaimedElsewhere(EngineUnavailable):
    """The installation's label is bound to another database in this engine: nothing there is ours to touch."""

    def __init__(self, installation: str, place: str) -> None:
        self.place = place
        super().__init__(
            f"The containers labelled {installation} in the container engine belong to {place}, "
            "and not to this installation."
        )


class ImageUnusable(EngineError):
    """The image does not exist, may not be pulled, or cannot run here (no shell, wrong architecture)."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retriable=False, code="image_unusable")


def require_pullable(image: str) -> None:
    """Let an image that the engine lacks be asked for in a registry, but not one that was made on the machine.

    Raises: ImageUnusable.
    """
    if image.startswith(LOCAL_IMAGES):
        raise ImageUnusable(
            f"The image {image} was made on this machine and is not there any more; no registry has it. "
            "Whoever runs the server can make the starter image again by restarting it with carrel up."
        )


class MountUnusable(EngineError):
    """A directory cannot be put into the container: it is not on the machine, or something is in its place there."""

    def __init__(self, message: str, *, retriable: bool) -> None:
        super().__init__(message, retriable=retriable, code="mount_unusable")


class ContainerGone(EngineError):
    """There is no running container with that id."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retriable=False, code="container_gone")


@dataclass(frozen=True, slots=True)
class Claimant:
    """The database that an installation's label stands for in an engine that others may use too.

    fingerprint: tells where the database is, so that a copy of it has another one. place: the same for people.
    """

    fingerprint: str
    place: str


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """A machine of this engine. capabilities: what was probed, as words (see each engine's docstring)."""

    name: str
    architecture: str
    slots: Mapping[str, int]
    """What the machine has: `cpu` millicores, `mem` bytes, and what its accelerators offer, by `slot_kinds`."""
    engine: str
    """Name and version for people, such as "Docker 20.10.24"."""
    capabilities: frozenset[str] = frozenset()
    devices: tuple[Device, ...] = ()
    slot_kinds: tuple[SlotKind, ...] = ()
    """Of the families of its devices."""
    images: frozenset[str] = frozenset()
    """References of the images that are there."""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mount:
    """A directory of the machine inside the container, at an absolute path there; directories on the way to it that are
    below the home belong to the session's user.

    source: absolute; one that is not there is refused, never made. subpath: what is seen at the target is only this
    directory below the source; no symbolic link in it leads to anything of the machine, whoever plants one and
    whenever. read_only: nothing inside can change that. No target is another's, or below another's.
    """

    source: str
    target: str
    subpath: str = ""
    read_only: bool = False


IDLE = ("/bin/sh", "-c", "trap 'exit 0' TERM; while /bin/sh -c 'kill -STOP $$' & wait $!; do :; done")
"""A main process that does nothing until the container is removed, with no program of the image but its shell.

The shell stays PID 1: it reaps orphans while it waits, and leaves at once when asked. Its child stops itself,
which needs no `sleep`.
"""


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """One container as it must be. Two specs with the same id are the same container."""

    id: str
    image: str
    slots: Mapping[str, int]
    """Enforced limits: `cpu` millicores, `mem` bytes (no swap)."""
    devices: Mapping[str, int] = field(default_factory=dict)
    """Accelerators that it gets: device id -> thousandths of it."""
    node: str = ""
    """Name of the node to run on; empty where the engine has only one."""
    env: Mapping[str, str] = field(default_factory=dict)
    hostname: str = "session"
    command: tuple[str, ...] = IDLE
    """Main process, in place of the image's own."""
    ports: tuple[int, ...] = ()
    """Ports that the gateway may dial; an engine that needs a tunnel opens it for these."""
    mounts: tuple[Mount, ...] = ()
    pids_limit: int = 1024
    epoch: int = 0
    """Fencing epoch of the leader that asked, kept as a label."""


class ObservedState(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    EXITED = "exited"


@dataclass(frozen=True, slots=True)
class Observed:
    """One of our containers, as the engine sees it now."""

    id: str
    state: ObservedState
    address: str | None
    """Host that the gateway can dial, any port, while RUNNING; else None."""
    exit_code: int | None = None
    out_of_memory: bool = False
    """A process of the container was killed by its memory limit since it last started (main or child)."""
    epoch: int = 0
    started_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """Where `ensure` is. phase: "pull" (fraction 0..1 when known), then "start"."""

    phase: str
    fraction: float | None = None
    text: str = ""


ProgressSink = Callable[[Progress], None]
"""Called often and from the event loop; must not block."""


@dataclass(frozen=True, slots=True)
class ContainerUsage:
    """A reading. cpu_ns: CPU time used since start, nanoseconds. mem_bytes: in use now, no page cache.

    accelerator_percent, accelerator_mem_percent: how busy, and how full, the one of its devices is that is so most;
    None where that cannot be measured, never a made-up zero.
    """

    id: str
    cpu_ns: int
    mem_bytes: int
    accelerator_percent: int | None = None
    accelerator_mem_percent: int | None = None


@dataclass(frozen=True, slots=True)
class TerminalSize:
    cols: int = 80
    rows: int = 24


class ExecStream(Protocol):
    """A process inside a container, as two byte streams. With a terminal, everything is stdout."""

    def output(self) -> AsyncIterator[tuple[int, bytes]]:
        """Pairs (1 = stdout, 2 = stderr; bytes) until the process ends. Iterate once."""
        ...

    async def write(self, chunk: bytes) -> None:
        """Send to its stdin; waits while the process is not reading (back-pressure)."""
        ...

    async def close_stdin(self) -> None:
        """End of input. Twice: no-op."""
        ...

    async def resize(self, size: TerminalSize) -> None:
        """New terminal size; no-op without a terminal."""
        ...

    async def exit_code(self) -> int:
        """The exit code; waits until the process has ended."""
        ...


class Engine(Protocol):
    """Eight methods; see the module's table for their edges."""

    async def nodes(self) -> Sequence[NodeInfo]:
        """The machines of this engine, with what each has and can."""
        ...

    async def ensure(self, spec: ContainerSpec, progress: ProgressSink) -> Observed:
        """Make it run: pull the image if missing, create, start; return once it is RUNNING.

        Raises: ImageUnusable, MountUnusable, EngineUnavailable, EngineError. What a failed call leaves behind,
        `remove` or the next `ensure` of the same id cleans up.
        """
        ...

    async def remove(self, container: str, *, grace_s: float) -> None:
        """Stop it (ask, then kill after the grace) and delete all that belongs to the id.

        Twice, or when there is none: success. Returns only when nothing of it is left.
        """
        ...

    async def list(self) -> Sequence[Observed]:
        """All containers of this installation, running or not. Empty only when there really is none."""
        ...

    def watch(self) -> AsyncIterator[str]:
        """Ids whose state changed, as a hint; ends when the engine goes away."""
        ...

    def exec(
        self, container: str, command: Sequence[str], *, env: Mapping[str, str], terminal: TerminalSize | None
    ) -> AbstractAsyncContextManager[ExecStream]:
        """Run a process as the session's user in its home directory.

        Leaving the context while it runs hangs up on it (SIGHUP, also to its children) when it has no
        terminal, and only detaches from it when it has one. What it leaves in the background stays.
        A command that is not there ends with exit code 127 and a sentence on stderr (`refused.missing`), a
        file that may not be executed with 126 and one (`refused.forbidden`); stdout stays empty.
        Raises: ContainerGone, EngineUnavailable.
        """
        ...

    def logs(self, container: str, *, follow: bool, tail: int | None) -> AsyncIterator[bytes]:
        """Raw output of the main process, stdout and stderr in order of arrival; tail: last so many lines.

        follow: goes on until the container ends.
        """
        ...

    async def usage(self) -> Sequence[ContainerUsage]:
        """One reading for each running container, in one sweep."""
        ...
