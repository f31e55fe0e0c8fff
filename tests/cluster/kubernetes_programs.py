"""The programs of Kubernetes, built from the Go module proxy by the module in `kubernetes/`.

    program = kubernetes()      # about ten minutes on a new machine, afterwards at once

They stay in a cache outside of the checkout, by version; CARREL_CLUSTER_CACHE names another place. The build needs Go
1.26, 4 GB of disk and 3 GB of memory.
"""

import fcntl
import os
import re
import shutil
import subprocess
from pathlib import Path

_MODULE = Path(__file__).parent / "kubernetes"
_TAGS = "selinux,notest,grpcnotrace"
_VERSIONS_IN = ("k8s.io/client-go/pkg/version", "k8s.io/component-base/version")


def version() -> str:
    """The version that the module requires, such as "1.36.3"."""
    match = re.search(r"k8s\.io/kubernetes v(\S+)", (_MODULE / "go.mod").read_text())
    assert match is not None
    return match[1]


def kubernetes() -> Path:
    """The file with all programs; built if it is missing. Raises: RuntimeError with the end of the build's output."""
    cache = Path(os.environ.get("CARREL_CLUSTER_CACHE") or Path.home() / ".cache/carrel/cluster")
    program = cache / version() / "kubernetes"
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    with (program.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            _build(program)
    return program


def _build(program: Path) -> None:
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if go is None:
        raise RuntimeError("Kubernetes is built with Go 1.26 or newer, which is not installed.")
    number = version()
    major, minor, _ = number.split(".", 2)
    values = {"gitVersion": f"v{number}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    stamps = [f"-X {package}.{name}={value}" for package in _VERSIONS_IN for name, value in values.items()]
    unfinished = program.with_suffix(".new")
    options = ["-p", "2", "-trimpath", "-tags", _TAGS, "-ldflags", " ".join(["-s", "-w", *stamps])]
    built = subprocess.run(
        [go, "build", *options, "-o", str(unfinished), "."],
        cwd=_MODULE,
        # Collecting garbage less often saves a tenth of the time.
        env={**os.environ, "CGO_ENABLED": "0", "GOGC": "400"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if built.returncode:
        raise RuntimeError(f"Kubernetes {number} could not be built:\n{built.stdout[-3000:]}")
    unfinished.rename(program)
