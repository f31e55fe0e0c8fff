"""Reference programs of the benchmarks, installed by apt after consent."""

import os
import shutil
import subprocess
from collections.abc import Collection

from carrel.server.bootstrap import Consent
from carrel.server.bootstrap.packages import as_root, install
from tools.checks.machine import say

PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
_PACKAGES = {
    "files": {
        "nginx": "nginx-light",
        "curl": "curl",
        "zip": "zip",
        "chromium-headless-shell": "chromium-headless-shell",
    },
    "page_list": {"chromium-headless-shell": "chromium-headless-shell"},
    "first_cell": {"chromium-headless-shell": "chromium-headless-shell"},
}
"""By benchmark: the programs that it runs, and the package of each."""


def require(names: Collection[str], *, consent: Consent) -> None:
    """Check that the programs of these benchmarks are installed.

    Raises: Unavailable, with the command to install them.
    """
    missing = [
        package
        for name in names
        for program, package in _PACKAGES.get(name, {}).items()
        if shutil.which(program, path=PATH) is None
    ]
    if not missing:
        return
    install(missing, purpose="what the benchmark compares with", consent=consent, say=say)
    if "nginx-light" in missing:
        # The package starts a server of its own, which is not needed.
        script = "service nginx stop; update-rc.d nginx disable"
        subprocess.run([*(as_root() or []), "sh", "-c", script], check=False, capture_output=True)
