"""The one Debian package that the first command itself may need."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from download import authorities
from screen import SetupError, run

_APT = ["apt-get", "-qy", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"]


class Authorities:
    """ca-certificates: without it no https address can be trusted. apt itself works over http.

    Its installation also trusts local authorities in /usr/local/share/ca-certificates.
    """

    sentence = "ca-certificates from Debian by apt"

    def __init__(self, root: Path) -> None:
        self._root = root

    def is_new(self) -> bool:
        return True

    def is_current(self) -> bool:
        return authorities() is not None

    def make(self) -> None:
        command = [*_APT, "install", "--no-install-recommends", "ca-certificates"]
        if shutil.which("apt-get") is None:
            raise SetupError(
                "This machine has no certificate authorities.", hint="Set SSL_CERT_FILE.", code=2
            )
        prefix: list[str] = []
        if os.geteuid() != 0:
            if shutil.which("sudo") is None:
                raise SetupError(
                    "This machine has no certificate authorities, and this user is not allowed to install them.",
                    hint=f"Ask an administrator to run: {' '.join(command)}",
                    code=2,
                )
            prefix = ["sudo"]
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for title, words in (
            ("reading Debian's package lists", [*_APT, "update"]),
            ("installing ca-certificates", command),
        ):
            log = self._root / ".tools" / "log" / "apt.log"
            run(title, [*prefix, *words], log=log, cwd=self._root, env=environment)
