"""The programs of a cluster, built from the Go module proxy by the modules in `kubernetes/` and `network/`.

    program = kubernetes()      # about ten minutes on a new machine, afterwards at once
    other = network()           # two minutes more

They stay in a cache outside of the checkout, by version; CARREL_CLUSTER_CACHE names another place. The build needs Go
1.26, 4 GB of disk and 3 GB of memory.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

_MODULES = Path(__file__).parent
_TAGS = "selinux,notest,grpcnotrace"
_VERSIONS_IN = ("k8s.io/client-go/pkg/version", "k8s.io/component-base/version")


def version() -> str:
    """The version that the module requires, such as "1.36.3"."""
    match = re.search(r"k8s\.io/kubernetes v(\S+)", (_MODULES / "kubernetes/go.mod").read_text())
    assert match is not None
    return match[1]


def kubernetes() -> Path:
    """The file with all programs of Kubernetes; built if it is missing.

    Raises: RuntimeError with the end of the build's output.
    """
    return _built("kubernetes", "kubernetes")


def network() -> Path:
    """The file with the DNS server and the agent that enforces network policies; see `kubernetes`."""
    sources = sorted((_MODULES / "network").iterdir())
    digest = hashlib.sha256(b"".join(one.read_bytes() for one in sources)).hexdigest()
    return _built("network", f"network-{digest[:12]}")


def _built(module: str, name: str) -> Path:
    cache = Path(os.environ.get("CARREL_CLUSTER_CACHE") or Path.home() / ".cache/carrel/cluster")
    program = cache / version() / name
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    with (program.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            _build(_MODULES / module, program)
    return program


def _build(module: Path, program: Path) -> None:
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if go is None:
        raise RuntimeError("The cluster is built with Go 1.26 or newer, which is not installed.")
    number = version()
    major, minor, _ = number.split(".", 2)
    values = {"gitVersion": f"v{number}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    stamps = [f"-X {package}.{name}={value}" for package in _VERSIONS_IN for name, value in values.items()]
    unfinished = program.with_suffix(".new")
    options = ["-p", "2", "-trimpath", "-tags", _TAGS, "-ldflags", " ".join(["-s", "-w", *stamps])]
    built = subprocess.run(
        [go, "build", *options, "-o", str(unfinished), "."],
        cwd=module,
        # Collecting garbage less often saves a tenth of the time.
        env={**os.environ, "CGO_ENABLED": "0", "GOGC": "400"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if built.returncode:
        raise RuntimeError(f"{module.name} could not be built:\n{built.stdout[-3000:]}")
    unfinished.rename(program)
