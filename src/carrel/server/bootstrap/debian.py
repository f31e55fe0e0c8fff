"""A minimal Debian image built from packages, for machines where no image registry responds."""

import asyncio
import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import IO

from carrel.core.errors import Unavailable
from carrel.server.bootstrap import Consent, Say
from carrel.server.bootstrap.packages import NEEDS_CONSENT, has_apt, install
from carrel.server.bootstrap.progress import ProgressLines
from carrel.storage import scratch

RELEASE = "bookworm"
_PREFIX = "carrel-debian-"
_PACKAGES = ["mmdebstrap", "debian-archive-keyring"]
_SECURITY = "http://deb.debian.org/debian-security"
_DOCKERFILE = b'FROM scratch\nADD rootfs.tar /\nCMD ["bash"]\n'


def install_tools(*, consent: Consent, say: Say) -> None:
    """Install mmdebstrap on this machine.

    Raises: Unavailable with instructions if it cannot be installed.
    """
    if shutil.which("mmdebstrap"):
        return
    if not has_apt():
        raise Unavailable(
            NEEDS_CONSENT,
            "The starter image needs a Debian base: no registry answers, and this is no Debian machine.",
            hint="Load an image named debian:bookworm-slim into the engine manually (docker load).",
        )
    purpose = "a starter image made from packages, since no image registry answers"
    install(_PACKAGES, purpose=purpose, consent=consent, say=say)


async def write_build_context(target: IO[bytes], *, mirror: str, shown: ProgressLines) -> None:
    """Write a build context for the minimal Debian image to `target` as a tar, rewound.

    Raises: Unavailable with the last output of mmdebstrap.
    """
    await asyncio.to_thread(remove_leftovers)
    with scratch.scratch(_PREFIX) as (folder, lock):
        # Without root, mmdebstrap has other user ids, which pass through it.
        os.chmod(folder, 0o711)
        root = folder / "rootfs.tar"
        shown.show("making a bare Debian from packages")
        await _mmdebstrap(root, mirror=mirror, lock=lock)
        with tarfile.open(fileobj=target, mode="w") as context:
            entry = tarfile.TarInfo("Dockerfile")
            entry.size = len(_DOCKERFILE)
            context.addfile(entry, io.BytesIO(_DOCKERFILE))
            context.add(root, arcname="rootfs.tar")
        target.seek(0)


def remove_leftovers(parent: Path | None = None) -> None:
    """Delete directories of builds that were killed, in the directory for temporary files. Twice: no-op.

    A build holds a lock, and so does its mmdebstrap. What it has mounted is in a mount namespace of its own.
    """
    scratch.remove_leftovers(_PREFIX, parent)


def _confined() -> list[str]:
    """What precedes a command that ends with this process, even a killed one, and whose mounts nobody else sees."""
    command = ["setpriv", "--pdeathsig", "TERM"]
    own_mounts = ["unshare", "--mount"]
    if (
        os.geteuid() == 0
        and subprocess.run([*own_mounts, "true"], check=False, capture_output=True).returncode == 0
    ):
        command += own_mounts
    return command


async def _mmdebstrap(target: Path, *, mirror: str, lock: int) -> None:
    sources = [
        f"deb {mirror} {RELEASE} main",
        f"deb {mirror} {RELEASE}-updates main",
        f"deb {_SECURITY} {RELEASE}-security main",
    ]
    # Without root, mmdebstrap creates its own user namespace, so no sudo is needed; root is only faster.
    mode = "root" if os.geteuid() == 0 else "auto"
    excluded = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("man", "info", "locale", "doc")]
    process = await asyncio.create_subprocess_exec(
        *_confined(),
        "mmdebstrap",
        f"--mode={mode}",
        "--variant=minbase",
        "--format=tar",
        '--aptopt=Acquire::Languages "none"',
        "--dpkgopt=force-unsafe-io",
        *excluded,
        "--dpkgopt=path-include=/usr/share/doc/*/copyright",
        RELEASE,
        str(target),
        *sources,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(target.parent)},
        pass_fds=[lock],
    )
    try:
        _, complaints = await process.communicate()
    except asyncio.CancelledError:
        process.terminate()
        # Not wait(), which does not return while a full pipe is not read.
        await process.communicate()
        raise
    if process.returncode != 0:
        last = complaints.decode(errors="replace").strip().splitlines()[-5:]
        raise Unavailable(
            "starter.base_failed",
            f"mmdebstrap could not make a Debian base: {' / '.join(last)}",
            hint="Check that the Debian mirror can be reached (CARREL_DEBIAN_MIRROR names another one).",
        )
