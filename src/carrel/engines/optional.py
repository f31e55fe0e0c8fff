"""Optional capabilities of engines, one protocol each.

Check with `isinstance(engine, ImageStore)`; the rest of the port works without them. All of them raise
EngineUnavailable if the engine does not respond. Behaviour at the edges, tested by `conformance_optional`:

    method          again                    not there
    image           same answer              ImageUnusable
    pull_image      no-op but for news       ImageUnusable
    remove_image    success                  success; EngineError (image_in_use) while a container needs it
    build_image     same image, from cache   EngineError (build_failed)
    images_by_node  a newer list             a machine that does not respond may be absent
    tag_image       no-op                    ImageUnusable
    commit          replaces the reference   ContainerGone
    discard_commit  success                  success; EngineError (image_in_use) while a container needs it
    push_image      no-op, same digest       ImageUnusable
    discard_push    success                  success
    build_base      no-op                    ImageUnusable
    build           replaces the reference   EngineError (build_failed)
    discard_builds  success                  success
    prepare_layer   no-op                    ImageUnusable
    remove_layers   success                  success; those in use stay
    try_layer       no-op                    EngineError (app_layer_missing)
    set_limits      no-op                    ContainerGone
    pause, resume   no-op                    ContainerGone
    self_test       a newer result           -
    host_usage      a newer reading          a machine that cannot be measured is absent
    disk_space      a newer reading          a machine that cannot be measured at once is absent
    written         a newer reading          a container that does not run is absent
    reports         the same, and later ones a container of which nothing is known is absent
    connect_port    another connection       ContainerGone; closed at once or EngineError if nothing listens there
"""

import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Protocol, runtime_checkable

from carrel.core.units import format_size
from carrel.engines.port import EngineError, ProgressSink, PullCredentials


@dataclass(frozen=True, slots=True)
class ImageInfo:
    """An image of the engine. id: content id. architecture: in the engine's terms, such as "amd64"."""

    id: str
    size_bytes: int
    architecture: str
    labels: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class ImageStore(Protocol):
    """Stores images, each under any number of references."""

    async def image(self, reference: str) -> ImageInfo:
        """The local image with this reference, without a registry request. Raises: ImageUnusable."""
        ...

    async def pull_image(
        self, reference: str, progress: ProgressSink, credentials: PullCredentials | None = None
    ) -> ImageInfo:
        """Pull the image from its registry, even if an older one is present. Raises: ImageUnusable, EngineError."""
        ...

    async def remove_image(self, reference: str) -> None:
        """Remove the reference, and with the last one the image. Raises: EngineError while a container uses it."""
        ...


@dataclass(frozen=True, slots=True)
class StoredImage:
    """An image with the references to it, such as "localhost/lab/tools:1"; one may have none.

    digests: references by digest, of images from registries. size_bytes: with layers that other images share.
    """

    id: str
    references: tuple[str, ...]
    size_bytes: int
    labels: Mapping[str, str] = field(default_factory=dict)
    digests: tuple[str, ...] = ()


@runtime_checkable
class ImageListing(Protocol):
    """Lists the images on its machines."""

    async def images_by_node(self) -> Mapping[str, Sequence[StoredImage]]:
        """The images of each machine, by its name; an engine may leave out the smallest."""
        ...


@dataclass(frozen=True, slots=True)
class BuildOutput:
    """A line of a build's output. step: number of the step that starts with it, out of steps; 0: no step starts."""

    text: str
    step: int = 0
    steps: int = 0


BuildSink = Callable[[BuildOutput], None]
"""Called from the event loop; must not block."""


@runtime_checkable
class ImageBuilding(ImageStore, Protocol):
    """An image store that builds and lists images."""

    async def images(self) -> Sequence[StoredImage]:
        """All images, without intermediate build steps."""
        ...

    async def build_image(
        self, context: IO[bytes], reference: str, *, arguments: Mapping[str, str], output: BuildSink
    ) -> ImageInfo:
        """Build the Dockerfile of a tar and tag the image with the reference once all steps are done.

        arguments: for its ARG lines. Raises: EngineError (build_failed) if a step fails.
        """
        ...

    async def tag_image(self, reference: str, new: str) -> None:
        """Add a reference to the image, replacing its previous image if any. Raises: ImageUnusable."""
        ...


COMMITS = "commits"
"""Capability of nodes whose engine creates images from containers."""


@dataclass(frozen=True, slots=True)
class CommittedImage:
    """added_bytes: of its own files, without those of the image below."""

    image: ImageInfo
    added_bytes: int


@runtime_checkable
class Committing(Protocol):
    """Creates images from containers. key: of a commit; letters and digits."""

    async def commit(
        self, container: str, reference: str, key: str, *, left_out: Collection[str], progress: ProgressSink
    ) -> CommittedImage:
        """Create an image of the container's image and of what it has changed since, and tag it with the reference.

        No layer of it has the content of mounts, initial files, or anything at or below left_out, which are absolute
        paths; nor does it have the container's variables. Its processes are paused while the changes are copied.
        Raises: ContainerGone, EngineError (also disk_full).
        """
        ...

    async def commits(self) -> Collection[str]:
        """The keys of this installation's commits of which there is an image, or something unfinished."""
        ...

    async def discard_commit(self, key: str) -> None:
        """Remove the image of the commit and what is unfinished of it. Raises: EngineError (image_in_use)."""
        ...


PUSHES = "pushes"
"""Capability of nodes whose engine pushes images to registries."""


@runtime_checkable
class ImagePushing(Protocol):
    """Pushes images to registries."""

    async def push_image(
        self,
        reference: str,
        target: str,
        progress: ProgressSink,
        credentials: PullCredentials | None = None,
    ) -> str:
        """Push the image under another name, with a tag; returns its digest there. Layers that are there are not sent.
        A name that is there stays as it is; otherwise the engine does not keep it, and no container starts from it. One
        push to a target at a time.

        Raises: ImageUnusable, EngineError (see `pushing`: another image has the name; it was not pushed).
        """
        ...

    async def discard_push(self, reference: str, target: str) -> None:
        """Remove the name that an interrupted push of the image has left; one that was there before stays."""
        ...


BUILDS = "builds"
"""Capability of nodes whose engine builds images of files that users wrote."""


@dataclass(frozen=True, slots=True)
class BuildMarks:
    """Lines of a Dockerfile. stage: the first one of each stage, after FROM. image: the last one of all."""

    stage: str
    image: str


@dataclass(frozen=True, slots=True)
class BuildLimits:
    """cpu_millis, mem_bytes, disk_bytes: of each step. time_s: of the whole build."""

    cpu_millis: int
    mem_bytes: int
    disk_bytes: int
    time_s: int


@runtime_checkable
class LimitedBuilding(Committing, Protocol):
    """Builds images of files that users wrote. The image is that of a commit: `commits`, `discard_commit`.

    group: of builds that share cached steps, and no others do.
    """

    def build_marks(self, group: str, key: str) -> BuildMarks:
        """What `build` expects in the Dockerfile, so that nothing of it is lost."""
        ...

    async def build_base(
        self, image: str, credentials: PullCredentials | None, output: BuildSink, *, always: bool = False
    ) -> int:
        """Have an image for FROM ready; its size in bytes. always: as `ContainerSpec.pull_always`.

        Raises: ImageUnusable, EngineError.
        """
        ...

    async def build(
        self,
        context: IO[bytes],
        reference: str,
        key: str,
        *,
        group: str,
        arguments: Mapping[str, str],
        limits: BuildLimits,
        output: BuildSink,
    ) -> CommittedImage:
        """Build the Dockerfile of a tar within limits, with the network of a session, and tag it with the reference.

        added_bytes: with the image below. Cancelled, or its process killed: no step goes on. Raises: EngineError
        (build_failed, disk_full).
        """
        ...

    async def builds(self) -> Collection[str]:
        """The groups of this installation of which there are cached steps, or anything unfinished."""
        ...

    async def discard_builds(self, group: str) -> None:
        """Remove what is unfinished of a group, and cached steps of which there is no image."""
        ...


@runtime_checkable
class LayerMounting(ImageBuilding, Protocol):
    """Mounts the content of images into containers: `ContainerSpec.layer`."""

    async def prepare_layer(self, reference: str) -> None:
        """Have what `ensure` mounts ready, so that no start takes longer because of it. Interrupted: nothing
        incomplete is ever mounted, and the next call begins again.

        Raises: ImageUnusable if the engine does not have the image; EngineError.
        """
        ...

    async def remove_layers(self, repository: str, *, kept: str = "") -> None:
        """Delete what was prepared from images of this repository except that one, and what interrupted calls left."""
        ...


@runtime_checkable
class LayerPulling(Protocol):
    """Mounts the content of an image that an administrator has named, and that its nodes pull, into containers."""

    @property
    def layer(self) -> str:
        """Its reference; empty: none is named."""
        ...

    async def try_layer(self, reference: str, credentials: PullCredentials | None) -> str:
        """How containers have it, as a sentence; tried out if that is not known. reference: that of `layer`, or where a
        mirror has it.

        Raises: EngineError (app_layer_missing) if they cannot have it.
        """
        ...


LIVE_LIMITS = "live-limits"
"""Capability of nodes whose engine changes the limits of running containers."""


@runtime_checkable
class LiveLimits(Protocol):
    """Changes the limits of a running container."""

    async def set_limits(self, container: str, slots: Mapping[str, int]) -> None:
        """Set its limits. slots: `cpu` millicores, `mem` bytes; omitted slots keep their limits.

        Raises: ContainerGone; EngineError (limits_refused) for less memory than it uses.
        """
        ...


def limits_below_use(used_bytes: int) -> EngineError:
    """The error for less memory than a container uses: the kernel would kill its processes, or refuse."""
    return EngineError(
        f"It uses {format_size(used_bytes)} of memory, more than it would have.",
        retriable=False,
        code="limits_refused",
    )


@runtime_checkable
class Pausing(Protocol):
    """Pauses and resumes the processes of a container. A paused container counts as RUNNING."""

    async def pause(self, container: str) -> None:
        """Suspend all its processes until `resume`. Raises: ContainerGone."""
        ...

    async def resume(self, container: str) -> None:
        """Resume them. Raises: ContainerGone."""
        ...


@dataclass(frozen=True, slots=True)
class HostUsage:
    """A reading of a whole machine: sessions and everything else on it.

    node: its name in `nodes`. cpu_ns, received_bytes, sent_bytes, read_bytes, written_bytes: since boot, of the
    processors, the network interfaces and the disks. mem_bytes: in use now, no page cache. disk_used_bytes,
    disk_size_bytes: of the file system that has the containers.
    """

    node: str
    cpu_ns: int
    mem_bytes: int
    received_bytes: int
    sent_bytes: int
    read_bytes: int
    written_bytes: int
    disk_used_bytes: int
    disk_size_bytes: int


@runtime_checkable
class HostMetering(Protocol):
    """Measures the machines of the engine."""

    async def host_usage(self) -> Sequence[HostUsage]:
        """One reading for each machine that can be measured."""
        ...


@dataclass(frozen=True, slots=True)
class DiskSpace:
    """Of the file system that has the containers of a node."""

    node: str
    used_bytes: int
    size_bytes: int


@runtime_checkable
class DiskMetering(Protocol):
    """Measures disks at once, to act before one that fills quickly is full."""

    async def disk_space(self) -> Sequence[DiskSpace]:
        """One reading for each machine on which it costs next to nothing."""
        ...

    async def written(self) -> Mapping[str, int]:
        """Bytes outside folders, by container, measured now, which may take as long as walking all those files."""
        ...


@runtime_checkable
class Reporting(Protocol):
    """Knows what happened to containers, also to those that it no longer lists."""

    async def reports(self, containers: Collection[str]) -> Mapping[str, Sequence[str]]:
        """What happened to them lately and is not usual, as sentences, the latest last."""
        ...


@runtime_checkable
class SideBySide(Protocol):
    """Has machines that work side by side: so many containers are started, and removed, at the same time."""

    @property
    def at_once(self) -> int: ...


USER_NAMESPACES = "user-namespaces"
"""Capability of nodes where the users of a session are others outside it."""

NETWORK_POLICY = "network-policy"
"""Capability of nodes whose sessions are kept from each other and from the cluster, as a self-test has found."""


@runtime_checkable
class Remote(Protocol):
    """Reached over a network."""

    @property
    def protected(self) -> bool:
        """False if somebody between us and the engine can read and change what passes; known once it has responded."""
        ...


@runtime_checkable
class SelfTesting(Protocol):
    """Tries out what it cannot know."""

    async def self_test(self) -> str:
        """Try out what sessions are kept from, for less than a minute; the result in sentences. Nodes have the
        capabilities afterwards, in all processes.

        Raises: EngineError if it cannot be tried out.
        """
        ...


FORWARDED = "forwarded-ports"
"""Capability of nodes whose containers have no address that can be reached: apps are slower through the engine."""


@runtime_checkable
class PortForwarding(Protocol):
    """Connects to ports of containers through the engine, for those without an `Observed.address`. Slower."""

    async def connect_port(self, container: str, port: int) -> socket.socket:
        """A connected, non-blocking stream socket; either end closes both directions.

        Raises: ContainerGone; EngineError if nothing listens there, unless the engine closes the connection instead.
        """
        ...

    async def reachable(self) -> bool | None:
        """True if this process can connect to addresses of containers; None if there is none to try."""
        ...
