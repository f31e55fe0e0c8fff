"""Root inside a container, on a daemon that remaps users: root of the container is nobody on the machine.

The main process and commands still run as `work`, without capabilities; set-user-id programs such as sudo give them
these, which apply to the container's own files and processes only.
"""

import io
import re
import tarfile
from collections.abc import Mapping
from typing import Any

from carrel.engines.port import WORK_UID, ContainerSpec, EngineError

CAPABILITIES = (
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETUID",
)
"""What sudo and package managers need. Without NET_RAW, with which a session could send packets in the name of
others, and without any that administer networks, mounts, or the system.
"""
_SUDOERS = f"#{WORK_UID} ALL=(ALL:ALL) NOPASSWD: ALL\n".encode()
"""By number: in an image with a user of that number, its name is not `work`."""
_LOCKED_ROOT = re.compile(rb"^root:[^:]*:", re.MULTILINE)


def has_remapping(info: Mapping[str, Any]) -> bool:
    """True if root of a container is another user on the machine: the daemon remaps users, or is rootless."""
    options = " ".join(info.get("SecurityOptions") or ())
    return "name=userns" in options or "name=rootless" in options


def require(spec: ContainerSpec, info: Mapping[str, Any]) -> None:
    """Check that root of the container would not be root of the machine. info: of the daemon. Raises: EngineError."""
    if spec.root and not has_remapping(info):
        raise EngineError(
            "The container engine does not remap users, so a session cannot have root.",
            retriable=False,
            code="root_unsupported",
        )


def add_sudo(tar: tarfile.TarFile) -> None:
    """Let user 1000 use sudo without a password, also if sudo is installed later."""
    directory = tarfile.TarInfo("etc/sudoers.d")
    directory.type, directory.mode = tarfile.DIRTYPE, 0o750
    tar.addfile(directory)
    entry = tarfile.TarInfo("etc/sudoers.d/carrel")
    entry.mode, entry.size = 0o440, len(_SUDOERS)
    tar.addfile(entry, io.BytesIO(_SUDOERS))


def without_password(passwd: bytes) -> bytes:
    """The passwd file with no password for root, so that `su` works in an image without sudo."""
    return _LOCKED_ROOT.sub(b"root::", passwd, count=1)
