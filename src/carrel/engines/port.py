"""The engine port: nine methods between Carrel and a container engine.

Everything is keyed by the id of a container, which is ours (`tables/sessions.py: Container`); an engine finds its
containers again after any crash by its own labels. `list` is the truth; `watch` only hints when to read it. Behaviour
at the edges, for every implementation (conformance.py tests it):

    method   already there / again            already gone             engine away or restarted
    nodes    same answer                      -                        Unavailable
    ensure   starts it if stopped, else no-op makes it                 Unavailable; call again
             (no-op for `once` if it has run;
             afresh without IN_PLACE_RESTART)
             an image that is missing is pulled, unless its name begins with LOCAL_IMAGES
    remove   no-op while it is being removed  success                  Unavailable; call again
    list     truth at some moment in the call absent from the answer   Unavailable, never a short list
    watch    many watchers may listen         -                        ends; call list, then watch again
    exec     each call is a new process;      ContainerGone            ContainerGone or Unavailable
             no such command: 127, no program: 126, each with a sentence on stderr
    send     sends it again                   ContainerGone            ContainerGone or Unavailable
    logs     each call is a new reader;       ContainerGone            stream ends; Unavailable
             the records and their order are the same in each
    usage    cumulative since container start absent from the answer   Unavailable

If the installation's label is bound to another database (after a copy or move), every method but `watch` raises
ClaimedElsewhere, a subclass of Unavailable: a copy of an installation never touches the original's containers.

A node that the engine no longer reports is gone with its containers: `list` omits them, `remove` succeeds, and
`ensure` on it fails while it may create the same container on another node. An engine that knows a node and gets no
response from it cannot tell whether containers run there: until somebody says that it is gone, `remove`, and `ensure`
on another node, raise a retriable EngineError. Containers that return with the node are listed again.

The port must not contain concepts of one engine, such as pods, bridges or overlays.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from carrel.accelerators.port import Device, DeviceState, Sharing
from carrel.core.slots import SlotKind
from carrel.engines.references import LOCAL

ROOT_INSIDE = "root-inside"
"""Capability of nodes whose sessions may have root: it is no user of the machine, and cannot get beyond the session."""

DISK_LIMIT = "disk-limit"
"""Capability of nodes whose engine refuses what a container writes beyond its `ContainerSpec.disk_bytes`."""

IN_PLACE_RESTART = "in-place-restart"
"""Capability of nodes where a container that has ended is started again with its files and its log. Elsewhere, `ensure`
makes another one of the same id, which begins with those of a new one.
"""

ELASTIC = "elastic"
"""Capability of nodes whose engine chooses among them (`ContainerSpec.elastic`), and may add some."""

LOG_STREAMS = "log-streams"
"""Capability of nodes whose logs tell stdout and stderr apart. Elsewhere, each record is of stdout."""

OOM_EVENTS = "oom-events"
"""Capability of nodes that report a child killed by the memory limit while the main process goes on. Elsewhere,
`Observed.out_of_memory` is only of the main process.
"""

WORK_UID = 1000
WORK_HOME = "/home/work"
LOCAL_IMAGES = f"{LOCAL}/"
"""Prefix of images that exist only in the engine, without a registry."""
APP_LAYER = "/opt/carrel"
"""Where containers have the app layer (`ContainerSpec.layer`); its programs are in `bin`."""


class EngineError(Exception):
    """The engine refused. `message`: a sentence for people; `retriable`: a retry may succeed."""

    def __init__(self, message: str, *, retriable: bool, code: str = "engine_error") -> None:
        super().__init__(message)
        self.message = message
        self.retriable = retriable
        self.code = code


class EngineUnavailable(EngineError):
    """The engine does not respond."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retriable=True, code="engine_unavailable")


class ClaimedElsewhere(EngineUnavailable):
    """The installation's label is bound to another database in this engine, so its containers must not be touched."""

    def __init__(self, installation: str, place: str) -> None:
        self.place = place
        super().__init__(
            f"The containers labelled {installation} in the container engine belong to {place}, "
            "and not to this installation."
        )


class ImageUnusable(EngineError):
    """The image does not exist, cannot be pulled, or cannot run here (no shell, wrong architecture)."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retriable=False, code="image_unusable")


def require_pullable(image: str) -> None:
    """Check that a missing image may be pulled; images built on the machine have no registry.

    Raises: ImageUnusable.
    """
    if image.startswith(LOCAL_IMAGES):
        raise ImageUnusable(
            f"The image {image} was built on this machine and no longer exists; no registry has it. "
            "An operator can rebuild the starter image by restarting Carrel with carrel up."
        )


class MachineAwaited(EngineError):
    """No node that the engine may choose has room for the container, which it goes on starting once there is one.
    message: the engine's own words.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, retriable=True, code="no_machine")


class MountUnusable(EngineError):
    """A directory cannot be mounted: it is missing on the machine, or its target is occupied."""

    def __init__(self, message: str, *, retriable: bool) -> None:
        super().__init__(message, retriable=retriable, code="mount_unusable")


class QuotaExhausted(EngineError):
    """The engine admits nothing more for now, on any of its nodes."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retriable=True, code="quota_exhausted")


class CommandBegun(EngineError):
    """The engine cannot start a container with `once`, whose process it may have started before."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retriable=False)


class ContainerGone(EngineError):
    """There is no running container with that id."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retriable=False, code="container_gone")


@dataclass(frozen=True, slots=True)
class Claimant:
    """The database that an installation's label is bound to on a shared engine.

    fingerprint: identifies the location of the database, so a copy has a different one. place: the location for
    people.
    """

    fingerprint: str
    place: str


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """A machine of this engine. capabilities: probed features (see each engine's docstring)."""

    name: str
    architecture: str
    slots: Mapping[str, int]
    """Physical capacity: `cpu` millicores, `mem` bytes, and accelerator slots by `slot_kinds`."""
    engine: str
    """Name and version for people, such as "Docker 20.10.24"."""
    capabilities: frozenset[str] = frozenset()
    devices: tuple[Device, ...] = ()
    """Those that containers can get."""
    device_states: tuple[DeviceState, ...] = ()
    """Also of devices that are out of order; empty if the engine does not know its devices' condition."""
    slot_kinds: tuple[SlotKind, ...] = ()
    """Slot kinds of its device families."""
    images: frozenset[str] = frozenset()
    """References of the images present."""
    labels: Mapping[str, str] = field(default_factory=dict)
    closed: str = ""
    """Why the engine places nothing new here, as a clause such as "cordoned in the cluster"; empty if it does."""
    sharing: Sharing | None = None
    """How shares of its accelerators are enforced; None: it has none that could be shared."""
    ending: bool = False
    """It was announced that the machine is taken away soon. `closed` says so."""


@dataclass(frozen=True, slots=True)
class LabelRequirement:
    """What a node's labels must have. values: one of them is required; None: any. negated: the opposite, which a node
    without the label meets too.
    """

    key: str
    values: frozenset[str] | None = None
    negated: bool = False

    def met_by(self, labels: Mapping[str, str]) -> bool:
        """True if a node with these labels meets it."""
        meets = self.key in labels and (self.values is None or labels[self.key] in self.values)
        return meets is not self.negated


@dataclass(frozen=True, slots=True)
class Volume:
    """Storage that the engine mounts itself, on any of its nodes; see `volumes`. attributes: names and values."""

    kind: str
    name: str
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Mount:
    """A directory mounted into the container at an absolute path; parent directories below the home belong to the
    session's user.

    source: absolute, on the machine or in the volume; a missing one is an error and never becomes a mount. subpath:
    mount only this directory below the source; symbolic links in it never resolve outside of the source, whenever they
    are created. read_only: cannot be changed from inside. volume: None for a directory of the machine; an engine that
    mounts no such volumes raises MountUnusable. Targets are neither equal nor nested.
    """

    source: str
    target: str
    subpath: str = ""
    read_only: bool = False
    volume: Volume | None = None


@dataclass(frozen=True, slots=True)
class PrivateNetwork:
    """A network of several containers, which reach each other on every port, by name; no other session reaches them.

    id: the same for all of them. host: the name of this one. hosts: the names of all. It exists while one of its
    containers does.
    """

    id: str
    host: str
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InitialFile:
    """A file that a container has before its first start. path: absolute.

    private: owned by the session's user and accessible to nobody else; otherwise owned by root and readable.
    New directories belong to the session's user below the home, and to root elsewhere.
    """

    path: str
    content: bytes = field(repr=False)
    private: bool = False
    executable: bool = False


BOOTSTRAP = "/etc/carrel/bootstrap"
"""An initial file: the program that `bootstrapped` runs."""
BOOTSTRAP_FAILED = 213
"""Exit code of a main process whose bootstrap script failed."""
_BOOTSTRAPPED = (
    "/bin/sh",
    "-c",
    f"if [ -s {BOOTSTRAP} ]; then {BOOTSTRAP}; code=$?; if [ $code != 0 ]; then"
    f' echo "The bootstrap script failed with exit code $code." >&2; exit {BOOTSTRAP_FAILED}; fi;'
    f' : > {BOOTSTRAP}; fi; exec "$@"',
    "sh",
)


def bootstrapped(command: tuple[str, ...]) -> tuple[str, ...]:
    """A main process that becomes the command after the bootstrap script has succeeded once in the container."""
    return (*_BOOTSTRAPPED, *command)


def after_bootstrap(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """The command that a main process of `bootstrapped` becomes; None for others."""
    return command[len(_BOOTSTRAPPED) :] if command[: len(_BOOTSTRAPPED)] == _BOOTSTRAPPED else None


STARTED_BEFORE = 214
"""Exit code of a main process of `run_once` in a container where it has begun before."""
_RUN_ONCE = (
    "/bin/sh",
    "-c",
    'if ! (set -C; : > "$1") 2>/dev/null; then if [ -e "$1" ]; then'
    f' echo "The command has begun before; it is not run twice." >&2; exit {STARTED_BEFORE}; fi;'
    ' echo "The start of the command cannot be recorded in $1." >&2; exit 126; fi; shift; exec "$@"',
    "sh",
)


def run_once(container: str, command: tuple[str, ...]) -> tuple[str, ...]:
    """A main process that becomes the command in the first start of this container only.

    An engine that is killed during a start may forget it. The mark is a file in the home, named by the container's id
    because images are made from containers.
    """
    return (*_RUN_ONCE, f"{WORK_HOME}/.started-{container}", *command)


def after_run_once(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """The mark and the command of a main process of `run_once`; None for others."""
    return command[len(_RUN_ONCE) :] if command[: len(_RUN_ONCE)] == _RUN_ONCE else None


IDLE = (
    "/bin/sh",
    "-c",
    "trap 'exit 0' TERM INT HUP QUIT USR1 USR2; while /bin/sh -c 'kill -STOP $$' & wait $!; do :; done",
)
"""A main process that idles until the container is removed and needs only the image's shell.

The shell stays PID 1: it reaps orphans while it waits, and exits immediately on every signal that ends sessions. Its
child stops itself, so no `sleep` is needed.
"""


@dataclass(frozen=True, slots=True)
class PullCredentials:
    """For a pull from a registry. host: of the image's reference."""

    host: str
    username: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """The desired state of a container. Two specs with the same id are the same container."""

    id: str
    image: str
    slots: Mapping[str, int]
    """Enforced limits: `cpu` millicores, `mem` bytes (no swap)."""
    devices: Mapping[str, int] = field(default_factory=dict)
    """Attached accelerators: device id -> thousandths of it."""
    node: str = ""
    """Name of the node to run on; empty if the engine has only one, or chooses it."""
    elastic: tuple[LabelRequirement, ...] | None = None
    """What the labels of the node must have if the engine chooses it, and may add a machine; None: it does not."""
    avoided: frozenset[str] = frozenset()
    """Names of nodes that the engine must not choose."""
    together: bool = False
    """The engine chooses one node for all containers of the private network."""
    env: Mapping[str, str] = field(default_factory=dict)
    hostname: str = "session"
    command: tuple[str, ...] = IDLE
    """Main process, replacing the image's."""
    stdin: bool = False
    """The main process reads what `send` sends on its standard input; otherwise its input is empty."""
    once: bool = False
    """The main process must not run twice: `ensure` does not start a container that has been started before."""
    ports: tuple[int, ...] = ()
    """Ports that the gateway may connect to; an engine that needs a tunnel opens it for these."""
    mounts: tuple[Mount, ...] = ()
    network: PrivateNetwork | None = None
    files: tuple[InitialFile, ...] = ()
    shm_bytes: int | None = None
    """Size of /dev/shm, which counts as memory of the container; None: the engine's choice."""
    disk_bytes: int | None = None
    """The most that it may write outside its folders; has no effect on a node without DISK_LIMIT. None: no limit."""
    workdir: str = WORK_HOME
    """Working directory of its processes, absolute; created for the session's user if it is missing below the home."""
    pids_limit: int = 1024
    runtime: str = ""
    """The container runtime, of those that its node has; empty: the engine's usual one."""
    root: bool = False
    """Set-user-id programs work, and `sudo` needs no password. Refused on a node without ROOT_INSIDE."""
    pull: PullCredentials | None = None
    """To pull the image with, if it is missing; None: without. An engine that takes none pulls with its own."""
    pull_always: bool = False
    """Pull the image also where its node has it, perhaps for others: the registry decides who may have it."""
    helper: bool = False
    """It is no session's, but made for a check: what its runtime needs for itself comes on top of its slots."""
    layer: str = ""
    """Reference of the image of an app layer, which it has read-only at APP_LAYER; only for engines that are
    `optional.LayerMounting`, where it has the layer's /bin/sh and a /tmp if the image lacks them, or
    `optional.LayerPulling`.
    """
    layer_pull: PullCredentials | None = None
    """To pull the layer's image with, by engines that pull it."""
    epoch: int = 0
    """Fencing epoch of the requesting leader, stored as a label."""


class ObservedState(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    EXITED = "exited"


@dataclass(frozen=True, slots=True)
class Observed:
    """The observed state of one of our containers."""

    id: str
    state: ObservedState
    address: str | None
    """Host that the gateway can connect to while RUNNING; otherwise None. RUNNING without one: only through the engine,
    if it is `optional.PortForwarding`."""
    exit_code: int | None = None
    out_of_memory: bool = False
    """A process (main or child, see OOM_EVENTS) was killed by the memory limit since the last start."""
    reason: str = ""
    """Why the engine ended it, as a sentence; empty if it ended by itself, or if that is not known."""
    epoch: int = 0
    started_at: datetime | None = None
    node: str = ""
    """Name of the node that the engine chose, once it has; of others perhaps too."""
    evicted: bool = False
    """The engine has ended it, or is ending it, to free its node; nobody asked for that here."""
    image_id: str = field(default="", compare=False)
    """The engine's own id of the image that it runs; only `ensure` tells."""
    image_digest: str = field(default="", compare=False)
    """The digest of that image in the registry of its reference, such as sha256:...; only `ensure` tells. Empty if no
    registry has it, or if that is not known."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of `ensure`. phase: "pull" (fraction 0..1 if known), then "start"; at any time "event": a sentence on
    something unusual.
    """

    phase: str
    fraction: float | None = None
    text: str = ""


ProgressSink = Callable[[Progress], None]
"""Called often and from the event loop; must not block."""


Permit = Callable[[], Awaitable[None]]
"""Awaited right before a main process is started; its exception prevents the start."""


@dataclass(frozen=True, slots=True)
class ContainerUsage:
    """A reading. cpu_ns: CPU time used since start, nanoseconds. mem_bytes: in use now, no page cache.

    The others are None if not measurable, never a fake zero. accelerator_percent, accelerator_mem_percent: mean
    utilisation of the devices that it holds alone, and of their memory what it uses; None if one of them is not known.
    read_bytes, write_bytes: I/O on disks since start. rx_bytes, tx_bytes: received and sent by its networks since
    start. disk_bytes: what it wrote outside its folders and still occupies; may be a few minutes old.
    """

    id: str
    cpu_ns: int
    mem_bytes: int
    accelerator_percent: int | None = None
    accelerator_mem_percent: int | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None
    rx_bytes: int | None = None
    tx_bytes: int | None = None
    disk_bytes: int | None = None


class LogRecord(NamedTuple):
    """A line of the output of a main process, with its line break.

    A line longer than the engine's limit comes in several records, of which only the last has a line break. at: when
    the engine received it: RFC 3339 in UTC with nine decimals, so that it sorts as text. stream: 1 = stdout, 2 =
    stderr.
    """

    at: bytes
    stream: int
    content: bytes


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
        """Write to its stdin; waits while the process does not read (back pressure)."""
        ...

    async def close_stdin(self) -> None:
        """End of input. Twice: no-op."""
        ...

    async def resize(self, size: TerminalSize) -> None:
        """New terminal size; no-op without a terminal."""
        ...

    async def exit_code(self) -> int:
        """Wait for the process to end; returns its exit code."""
        ...


class Engine(Protocol):
    """Nine methods; see the module's table for their edges."""

    async def nodes(self) -> Sequence[NodeInfo]:
        """The machines of this engine with capacity and capabilities."""
        ...

    async def ensure(
        self, spec: ContainerSpec, progress: ProgressSink, permit: Permit | None = None
    ) -> Observed:
        """Pull the image if missing, create and start the container; return once it is RUNNING, or EXITED if it runs
        `once` and has ended.

        permit: awaited after the container exists and before it is started, so that a replaced leader starts nothing.
        Raises: ImageUnusable, MountUnusable, EngineUnavailable, EngineError. `remove` or the next `ensure` of the
        same id cleans up after a failed call.
        """
        ...

    async def remove(self, container: str, *, grace_s: float, signal: str = "SIGTERM") -> None:
        """Stop it (the signal to its main process, then SIGKILL after the grace period) and delete all resources of
        the id. grace_s 0: SIGKILL at once.

        Twice, or absent: success. Returns only when nothing is left.
        """
        ...

    async def list(self) -> Sequence[Observed]:
        """All containers of this installation, running or not. Empty only if there are none.

        While the engine is watched, changes that others make may follow a moment later.
        """
        ...

    def watch(self) -> AsyncIterator[str]:
        """Ids whose state changed, as a hint; ends when the engine becomes unavailable."""
        ...

    def exec(
        self, container: str, command: Sequence[str], *, env: Mapping[str, str], terminal: TerminalSize | None
    ) -> AbstractAsyncContextManager[ExecStream]:
        """Run a process as the session's user in the container's working directory.

        Leaving the context while it runs sends SIGHUP to it and its children if it has no terminal, and only detaches
        if it has one. Background processes stay. A missing command ends with exit code 127 and a sentence on stderr
        (`refused.missing`), a file that is not executable with 126 (`refused.forbidden`); stdout stays empty.
        Raises: ContainerGone, EngineUnavailable.
        """
        ...

    async def send(self, container: str, content: bytes) -> None:
        """Write to the standard input of the main process; it waits there until it is read.

        Raises: ContainerGone, EngineUnavailable; EngineError for one that was made without `ContainerSpec.stdin`.
        """
        ...

    def logs(
        self, container: str, *, follow: bool, tail: int | None = None, since: bytes | None = None
    ) -> AsyncIterator[Sequence[LogRecord]]:
        """Output of the main process, stdout and stderr in order of arrival, in batches that are never empty.

        follow: until the container ends. tail: last records only. since: only records received then or later, as in
        `LogRecord.at`. Old output may be missing: an engine keeps a limited amount.
        """
        ...

    async def usage(self) -> Sequence[ContainerUsage]:
        """One reading for each running container, in one sweep.

        An engine with many machines may read a part of them at a time, by turns.
        """
        ...
