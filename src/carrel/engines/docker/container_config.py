"""Conversion of a `ContainerSpec` to a container: configuration, names and labels, and session home."""

import hashlib
import io
import json
import tarfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from carrel.accelerators import visible_devices
from carrel.accelerators.port import NOTHING, Attachment
from carrel.engines import accelerator_use
from carrel.engines.accelerated import environment
from carrel.engines.accelerator_use import NO_DEVICES, Held
from carrel.engines.docker import attached, near_cpus, rights, seccomp
from carrel.engines.docker.mounts import binds
from carrel.engines.port import APP_LAYER, IDLE, WORK_HOME, WORK_UID, ContainerSpec
from carrel.engines.references import never_an_id

LABEL_INSTALLATION = "carrel.installation"
LABEL_ID = "carrel.id"
LABEL_EPOCH = "carrel.epoch"
LABEL_NETWORK = "carrel.network"
"""Of containers and networks: the id of the `PrivateNetwork`."""
LABEL_FILES = "carrel.files"
"""The paths of its initial files, as JSON, which an image of the container lacks."""
LABEL_CPUS = "carrel.cpus"
"""The processors on which it runs, unless on all: see `near_cpus`."""
LABEL_DEVICES = "carrel.devices"
"""Its accelerators: see `accelerator_use`."""
LABEL_SHARES = "carrel.shares"
"""How its shares of accelerators are enforced; empty: it has none that are. See `device_shares`."""
LABEL_COMMIT = "carrel.commit"
"""Of images: the key of the commit."""
LABEL_COMMIT_OF = "carrel.commit.of"
"""Of the same: the installation."""
LABEL_SCRATCH = "carrel.commit.scratch"
"""Of what is to be removed: the key of the commit."""
LABEL_USER = "carrel.user"
"""Images with this label set to "work" already have the user and the home."""

_HOME = PurePosixPath(WORK_HOME)
_MIB = 1 << 20
_SHM_MAX = 1024 * _MIB
_SHM_MIN = 64 * _MIB


@dataclass(frozen=True, slots=True)
class Names:
    """Names of this installation's objects in a shared daemon."""

    installation: str

    @property
    def label(self) -> str:
        return f"{LABEL_INSTALLATION}={self.installation}"

    @property
    def network(self) -> str:
        return f"carrel-{self.installation}"

    @property
    def bridge(self) -> str:
        """Name of the network device: 11 characters, so that a suffix of 4 fits the kernel's limit of 15."""
        return "crl" + hashlib.sha256(self.installation.encode()).hexdigest()[:8]

    def container(self, container: str) -> str:
        return f"carrel-{self.installation}-{container}"

    def private_network(self, network: str) -> str:
        return f"carrel-{self.installation}-network-{network}"


def configuration(
    spec: ContainerSpec,
    names: Names,
    attachment: Attachment = NOTHING,
    *,
    network: str,
    with_init: bool,
    with_profile: bool,
    storage: Mapping[str, str] | None = None,
    layer: Mapping[str, object] | None = None,
    cpus: str = "",
    held: Held = NO_DEVICES,
    shares: str = "",
) -> dict[str, object]:
    """The body of the daemon's container create request.

    An unprivileged process: user 1000, no capabilities and, unless it has root inside, no way to gain them, Carrel's
    seccomp profile or the daemon's own (with_profile), separate namespaces, memory without swap, CPU quota, limits on
    processes and on per-user kernel resources, bounded logs. attachment: of its accelerators. storage: options of its
    root file system. layer: the mount of its app layer. cpus: on which it runs; empty: on all. held: its accelerators.
    shares: how shares of them are enforced.
    """
    mem_bytes = spec.slots.get("mem", 0)
    host: dict[str, object] = {
        "NetworkMode": network,
        "CapDrop": ["ALL"],
        "SecurityOpt": [
            *(() if spec.root else ("no-new-privileges:true",)),
            *([f"seccomp={seccomp.profile()}"] if with_profile else ()),
        ],
        "PidsLimit": spec.pids_limit,
        # If the host runs out of memory, the kernel kills processes of sessions before those of the host.
        "OomScoreAdj": 500,
        # What is not yet collected (`sessions/logs`) must fit: a reader that is more than one file behind loses output.
        "LogConfig": {"Type": "json-file", "Config": {"max-size": "32m", "max-file": "2"}},
        "RestartPolicy": {"Name": "no"},
    }
    if mem_bytes:
        shm_bytes = min(max(mem_bytes // 2, _SHM_MIN), _SHM_MAX)
        host["ShmSize"] = spec.shm_bytes or shm_bytes
    elif spec.shm_bytes:
        host["ShmSize"] = spec.shm_bytes
    if mounts := [*binds(spec.mounts), *attached.binds(attachment), *([layer] if layer else ())]:
        host["Mounts"] = mounts
    host |= limits(spec.slots)
    if cpus:
        host["CpusetCpus"] = cpus
    near = {LABEL_CPUS: near_cpus.label(cpus, spec.slots.get("cpu", 0))} if cpus else {}
    if storage:
        host["StorageOpt"] = dict(storage)
    if spec.command != IDLE and with_init:
        host["Init"] = True
    host |= attached.host_config(attachment)
    if spec.root:
        host["CapAdd"] = [*rights.CAPABILITIES, *attachment.capabilities]
    named = {"Aliases": [spec.network.host]} if spec.network else {}
    of_network = {LABEL_NETWORK: spec.network.id} if spec.network else {}
    return {
        "Image": never_an_id(spec.image),
        "Hostname": spec.hostname,
        "User": f"{WORK_UID}:{WORK_UID}",
        "WorkingDir": spec.workdir,
        "Env": _env({**_interface(spec), **environment(spec, attachment)}),
        # As entry point, not as command, so that the image's entry point does not wrap it.
        "Entrypoint": list(spec.command),
        "Cmd": [],
        "OpenStdin": spec.stdin,
        "StopSignal": "SIGTERM",
        "Healthcheck": {"Test": ["NONE"]},
        "Labels": {
            LABEL_INSTALLATION: names.installation,
            LABEL_ID: spec.id,
            LABEL_EPOCH: str(spec.epoch),
            LABEL_DEVICES: accelerator_use.to_label(held),
            LABEL_SHARES: shares,
            LABEL_FILES: json.dumps([file.path for file in spec.files]),
            # Not those of its image.
            **dict.fromkeys((LABEL_COMMIT, LABEL_COMMIT_OF, LABEL_SCRATCH), ""),
            **of_network,
            **near,
        },
        "HostConfig": host,
        "NetworkingConfig": {"EndpointsConfig": {network: named}} if named else {},
    }


def _interface(spec: ContainerSpec) -> Mapping[str, str]:
    """Where collective libraries reach the other containers: the engine calls the only network of each eth0.

    Sources: NVIDIA, "NCCL environment variables", which RCCL reads too (=: this name, not all that begin with it);
    Intel, "HCCL environment variables"; PyTorch, "torch.distributed".
    """
    if spec.network is None:
        return {}
    return {"NCCL_SOCKET_IFNAME": "=eth0", "HCCL_SOCKET_IFNAME": "eth0", "GLOO_SOCKET_IFNAME": "eth0"}


def _env(variables: Mapping[str, str]) -> list[str]:
    """Names without a value are removed from those of the image."""
    removed = (name for name in visible_devices.OF_SHARES if name not in variables)
    return [*(f"{name}={value}" for name, value in variables.items()), *removed]


def limits(slots: Mapping[str, int]) -> dict[str, object]:
    """The HostConfig limits for these slots; omitted slots set nothing."""
    options: dict[str, object] = {}
    if mem_bytes := slots.get("mem", 0):
        options |= {"Memory": mem_bytes, "MemorySwap": mem_bytes}
    if millis := slots.get("cpu", 0):
        # The quota is the limit; the shares divide a contended CPU in the same proportion.
        options |= {"NanoCpus": millis * 1_000_000, "CpuShares": max(millis * 1024 // 1000, 2)}
    return options


def home_archive(
    passwd: bytes | None, group: bytes | None, *, root: bool = False, missing: Collection[str] = ()
) -> bytes:
    """A tar for the root of a container whose image lacks the user `work`: its home, passwd and group entries.

    passwd, group: the image's own files, None if missing or not regular files. root: `work` may become root. missing:
    of OF_LAYER, what the image lacks and the container's app layer makes up for.
    """
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        home = tarfile.TarInfo(str(PurePosixPath(WORK_HOME).relative_to("/")))
        home.type, home.mode, home.uid, home.gid = tarfile.DIRTYPE, 0o755, WORK_UID, WORK_UID
        tar.addfile(home)
        if root:
            rights.add_sudo(tar)
        _add_missing(tar, missing)
        if passwd is not None:
            content = rights.without_password(passwd) if root else passwd
            # sudo rejects accounts whose password should be in /etc/shadow (x) and is not.
            password = "*" if root else "x"
            work = f"work:{password}:{WORK_UID}:{WORK_UID}:work:{WORK_HOME}:/bin/sh\n"
            line = "" if _names_id(passwd) else work
            if line or content != passwd:
                _add(tar, "etc/passwd", content, line)
        if group is not None and not _names_id(group):
            _add(tar, "etc/group", group, f"work:x:{WORK_UID}:\n")
    return out.getvalue()


OF_LAYER = ("/bin", "/bin/sh", "/tmp")
"""What programs of an app layer need in any image."""


def _add_missing(tar: tarfile.TarFile, missing: Collection[str]) -> None:
    for path in OF_LAYER:
        if path in missing:
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if path == "/tmp" else 0o755
            if path == "/bin/sh":
                entry.type, entry.linkname = tarfile.SYMTYPE, f"{APP_LAYER}/bin/sh"
            tar.addfile(entry)


def files_archive(spec: ContainerSpec) -> bytes | None:
    """A tar for the root of a new container: its initial files, and its working directory; None if there are none.

    New directories belong to the user below the home, and to root elsewhere; a mounted working directory is not
    created.
    """
    directories = list(_directories(spec))
    if not spec.files and not directories:
        return None
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for directory in directories:
            entry = tarfile.TarInfo(str(directory.relative_to("/")))
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            entry.uid = entry.gid = WORK_UID if _HOME in directory.parents else 0
            tar.addfile(entry)
        for file in spec.files:
            entry = tarfile.TarInfo(file.path.lstrip("/"))
            entry.size, entry.mode = len(file.content), 0o600 if file.private else 0o644
            entry.mode |= (0o100 if file.private else 0o111) if file.executable else 0
            if file.private:
                entry.uid = entry.gid = WORK_UID
            tar.addfile(entry, io.BytesIO(file.content))
    return out.getvalue()


def _directories(spec: ContainerSpec) -> Iterator[PurePosixPath]:
    """The directories that are created, parents first; those at the root and the home itself are there already."""
    workdir = PurePosixPath(spec.workdir)
    of_files = {parent for file in spec.files for parent in PurePosixPath(file.path).parents}
    made = {one for one in of_files if len(one.parts) > 2 and one != _HOME}
    if not any(workdir.is_relative_to(mount.target) for mount in spec.mounts):
        made |= {one for one in (workdir, *workdir.parents) if _HOME in one.parents}
    return iter(sorted(made))


def _names_id(database: bytes) -> bool:
    """True if a line of passwd or group has our name or number; both have the number in the third field."""
    rows = [line.split(b":") for line in database.splitlines()]
    return any(row[0] == b"work" or (len(row) > 2 and row[2] == str(WORK_UID).encode()) for row in rows)


def _add(tar: tarfile.TarFile, name: str, before: bytes, line: str) -> None:
    content = before + (b"" if before.endswith(b"\n") or not before else b"\n") + line.encode()
    entry = tarfile.TarInfo(name)
    entry.mode, entry.size = 0o644, len(content)
    tar.addfile(entry, io.BytesIO(content))


def plain_file(archive: bytes) -> bytes | None:
    """Content of the only member of an archive; None if it is a link or a directory."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        member = tar.next()
        if member is None or not member.isreg():
            return None
        reader = tar.extractfile(member)
        return reader.read() if reader else None
