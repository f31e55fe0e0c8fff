#!/usr/bin/env python3
"""Make a tiny image (about 2 MB) from Debian's static busybox, for tests that need real containers.

    python3 images/busybox/build.py work out.tar
    eval "docker import $(python3 images/busybox/build.py --changes work) out.tar carrel-tiny"

Flavours: `work` has the user `work` that Carrel's own images have; `bare` has no user and no home, as any
image off the shelf; `shellless` has only a program that is not a shell.
"""

import argparse
import io
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

FLAVOURS = ("work", "bare", "shellless", "scratch", "layer")
WORK_ID = 1000

# The multi-call binary looks at its own file name, so the file must be called busybox.
_BINARY = "bin/busybox"


def changes(flavour: str) -> list[str]:
    """Dockerfile lines for the import, which keeps no configuration of its own."""
    common = ["ENV PATH=/usr/local/bin:/usr/bin:/bin"]
    if flavour == "work":
        return [
            *common,
            "LABEL carrel.user=work",
            "LABEL carrel.image=tiny",
            "USER work",
            "WORKDIR /home/work",
        ]
    return common


def tarball(busybox: Path, flavour: str) -> bytes:
    """The root file system; the same binary and flavour always give the same bytes."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for entry, content in _entries(busybox, flavour):
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def _entries(busybox: Path, flavour: str) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    if flavour == "scratch":
        yield _file("true", 0o755), busybox.read_bytes()
        return
    if flavour == "layer":
        for folder in ("opt", "opt/carrel", "opt/carrel/bin", "opt/carrel/busybox"):
            yield _folder(folder, 0o755), b""
        yield _file("opt/carrel/busybox/busybox", 0o755), busybox.read_bytes()
        for applet in _applets(busybox):
            yield _link(f"opt/carrel/busybox/{applet}", "busybox"), b""
        yield _link("opt/carrel/bin/sh", "../busybox/busybox"), b""
        return
    for folder in ("bin", "etc", "home", "root", "usr", "usr/bin", "usr/local", "usr/local/bin", "var"):
        yield _folder(folder, 0o755), b""
    yield _folder("tmp", 0o1777), b""
    yield _file(_BINARY, 0o755), busybox.read_bytes()
    if flavour == "shellless":
        yield _link("bin/true", "busybox"), b""
        return
    for applet in _applets(busybox):
        yield _link(f"bin/{applet}", "busybox"), b""
    yield _link("usr/bin/env", "/bin/busybox"), b""
    passwd, group = b"root:x:0:0:root:/root:/bin/sh\n", b"root:x:0:\n"
    if flavour == "work":
        passwd += b"work:x:%d:%d:work:/home/work:/bin/sh\n" % (WORK_ID, WORK_ID)
        group += b"work:x:%d:\n" % WORK_ID
        home = _folder("home/work", 0o755)
        home.uid = home.gid = WORK_ID
        yield home, b""
    yield _file("etc/passwd", 0o644), passwd
    yield _file("etc/group", 0o644), group


def _applets(busybox: Path) -> list[str]:
    listed = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split() if name not in ("busybox", "linuxrc", "init")]


def _folder(name: str, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, mode
    return entry


def _file(name: str, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.mode = mode
    return entry


def _link(name: str, target: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    return entry


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("flavour", choices=FLAVOURS)
    parser.add_argument("out", type=Path, nargs="?", help="where to write the archive")
    parser.add_argument("--busybox", type=Path, default=Path("/bin/busybox"), help="a static busybox")
    parser.add_argument("--changes", action="store_true", help="print options for docker import")
    chosen = parser.parse_args()
    if chosen.changes:
        sys.stdout.write(" ".join(f"--change '{line}'" for line in changes(chosen.flavour)) + "\n")
    elif chosen.out is None:
        parser.error("say where to write the archive")
    else:
        chosen.out.write_bytes(tarball(chosen.busybox, chosen.flavour))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
