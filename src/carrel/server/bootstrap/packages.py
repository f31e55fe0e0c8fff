"""Debian packages that a step needs, installed after the person agreed."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from carrel.core.errors import Unavailable
from carrel.server.bootstrap import Consent, Say

NEEDS_CONSENT = "setup.needs_consent"
"""Error code when something is missing and nobody agreed to install it; the message says how to do it."""

_REPORT_EVERY_S = 3.0
_APT = ["apt-get", "-qy", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"]


def has_apt() -> bool:
    """True on Debian, Ubuntu and what is made from them."""
    return shutil.which("apt-get") is not None and Path("/etc/debian_version").exists()


def as_root() -> list[str] | None:
    """The words before a command that make it run as root: none for root, `sudo`, or None when we cannot."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    may_type_a_password = sys.stdin is not None and sys.stdin.isatty()
    if may_type_a_password or subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo"]
    return None


def install_line(packages: Sequence[str]) -> str:
    """The command a person would type to install them."""
    prefix = "" if os.geteuid() == 0 else "sudo "
    return f"{prefix}apt-get install --no-install-recommends {' '.join(packages)}"


def install(packages: Sequence[str], *, purpose: str, consent: Consent, say: Say) -> None:
    """Have these packages installed. purpose: "a container engine", as in "Carrel needs a container engine".

    Twice: apt finds them there and changes nothing.
    Raises: Unavailable, with the exact command, when nobody agreed, we may not, or apt failed.
    """
    command = install_line(packages)
    prefix = as_root()
    if prefix is None:
        raise Unavailable(
            NEEDS_CONSENT,
            f"Carrel needs {purpose}, and this user may not install packages.",
            hint=f"Ask an administrator to run: {command}",
        )
    if not consent(f"install {', '.join(packages)} by apt, for {purpose}"):
        raise Unavailable(
            NEEDS_CONSENT,
            f"Carrel needs {purpose}.",
            hint=f"Run: {command}   or start again with --yes",
        )
    say(f"installing {', '.join(packages)} by apt")
    _run_apt(prefix, "update", what="reading the package lists", say=say)
    _run_apt(prefix, "install", "--no-install-recommends", *packages, what="installing packages", say=say)


def _run_apt(prefix: Sequence[str], *words: str, what: str, say: Say) -> None:
    """Run apt and say where it is every few seconds; its last words are in the error when it fails."""
    command = [*_APT, *words]
    # Its state comes on a descriptor of its own (apt takes that away from the packages' scripts, so it cannot
    # be their standard output), opened by a shell because sudo hands on the first three only.
    shell = [*prefix, "sh", "-c", 'exec "$@" 3>&1 1>&2', "apt", *command, "-o", "APT::Status-Fd=3"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            [*shell, "-o", "Dpkg::Use-Pty=0"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
            errors="replace",
        )
        assert process.stdout is not None
        reported_at = time.monotonic()
        for line in process.stdout:
            percent = _percent(line.strip())
            if percent and time.monotonic() - reported_at > _REPORT_EVERY_S:
                reported_at = time.monotonic()
                say(f"{what}: {percent}")
        if process.wait() == 0:
            return
        output.seek(0)
        complaints = " / ".join(_complaints(output.read().splitlines()))
    by_hand = " ".join([*prefix, *command])
    raise Unavailable(
        "setup.apt_failed", f"apt failed while {what}: {complaints}", hint=f"Try by hand: {by_hand}"
    )


def _complaints(lines: Sequence[str]) -> list[str]:
    """What a person needs of apt's last words: the first error and the two lines that led to it."""
    first = next(
        (number for number, line in enumerate(lines) if line.startswith(("E:", "dpkg: error"))), None
    )
    return list(lines[-4:] if first is None else lines[max(0, first - 2) : first + 2])


def _percent(line: str) -> str | None:
    """Text such as "45 %, Unpacking runc" from a line of apt's status, `kind:package:percent:text`."""
    parts = line.split(":", 3)
    if len(parts) != 4 or parts[0] not in ("dlstatus", "pmstatus"):
        return None
    return f"{float(parts[2]):.0f} %, {parts[3]}"
