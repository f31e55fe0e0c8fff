"""The programs of a cluster, built from the Go module proxy by the modules in `kubernetes/` and `network/`.

    program = kubernetes()      # about ten minutes on a new machine, afterwards at once
    other = network()           # two minutes more

They stay in the cache of `go_programs`, by version and sources. The build needs 4 GB of disk and 3 GB of memory. As a
program, this module builds what is missing, and containerd, which takes four minutes more; with --check, it exits with
1 if something is.
"""

import hashlib
import re
import sys
from pathlib import Path

from go_programs import cache, cached, compile_package, containerd, has_containerd

_MODULES = Path(__file__).parent
_PROGRAMS = ("kubernetes", "network")
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
    return _built("kubernetes")


def network() -> Path:
    """The file with the DNS server and the agent that enforces network policies; see `kubernetes`."""
    return _built("network")


def _built(module: str) -> Path:
    number = version()
    major, minor, _ = number.split(".", 2)
    values = {"gitVersion": f"v{number}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    stamps = " ".join(
        f"-X {package}.{name}={value}" for package in _VERSIONS_IN for name, value in values.items()
    )
    return cached(
        _place(module),
        lambda made: compile_package(".", made, cwd=_MODULES / module, tags=_TAGS, stamps=stamps),
    )


def _place(module: str) -> Path:
    sources = sorted((_MODULES / module).iterdir())
    digest = hashlib.sha256(b"".join(one.read_bytes() for one in sources)).hexdigest()
    return cache() / version() / f"{module}-{digest[:12]}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(not (has_containerd() and all(_place(module).exists() for module in _PROGRAMS)))
    try:
        for each in _PROGRAMS:
            _built(each)
        containerd()
    except (RuntimeError, OSError) as error:
        sys.exit(str(error))
