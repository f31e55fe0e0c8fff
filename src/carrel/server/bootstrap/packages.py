"""Debian packages that a step needs, installed with the user's consent."""

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
"""Error code for a missing package without consent to install it; the message contains the command."""

_REPORT_EVERY_S = 3.0
_APT = ["apt-get", "-qy", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"]


def has_apt() -> bool:
    """True on Debian, Ubuntu and derivatives."""
    return shutil.which("apt-get") is not None and Path("/etc/debian_version").exists()


def as_root() -> list[str] | None:
    """The command prefix for running as root: empty for root, `sudo`, or None if root is not available."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    may_type_a_password = sys.stdin is not None and sys.stdin.isatty()
    if may_type_a_password or subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo"]
    return None


def install_line(packages: Sequence[str]) -> str:
    """The shell command that installs them."""
    prefix = "" if os.geteuid() == 0 else "sudo "
    return f"{prefix}apt-get install --no-install-recommends {' '.join(packages)}"


def install(packages: Sequence[str], *, purpose: str, consent: Consent, say: Say) -> None:
    """Install the packages. purpose: "a container engine", as in "Carrel needs a container engine".

    Twice: apt finds them installed and changes nothing.
    Raises: Unavailable with the exact command if there is no consent or permission, or if apt failed.
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
    """Run apt and report progress every few seconds; an error contains its last output."""
    command = [*_APT, *words]
    # apt reports status on a separate file descriptor (it closes it for the packages' scripts, so it cannot be their
    # standard output). A shell opens it because sudo passes on only the first three.
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
    """The relevant part of apt's last output: the first error and the two lines before it."""
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
