"""The programs of a cluster, built from the Go module proxy by the modules in `kubernetes/` and `network/`.

    program = kubernetes()      # about ten minutes on a new machine, afterwards at once
    other = network()           # two minutes more

They stay in a cache outside of the checkout, by version and sources; CARREL_CLUSTER_CACHE names another place. The
build needs 4 GB of disk and 3 GB of memory. Without Go 1.26, it takes Go from the proxy too. As a program, this module
builds what is missing; with --check, it exits with 1 if something is.
"""

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

_MODULES = Path(__file__).parent
_PROGRAMS = ("kubernetes", "network")
_TAGS = "selinux,notest,grpcnotrace"
_VERSIONS_IN = ("k8s.io/client-go/pkg/version", "k8s.io/component-base/version")
_GO_NEEDED = (1, 26)
_GO = "1.26.8"
_PROXY = "https://proxy.golang.org"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_GO_SHA256 = {
    "amd64": "30c2b1bf7dcc88d3eb0a1364e47ddd9128edb3110a30e8a0ef61cd5856b31de7",
    "arm64": "02b36b6787b3ac767668f630e2998df45a3b1f9ffee08d1bf3ef6487cd658d99",
}
"""Of the proxy's archive of that version."""
_ANSWER_S = 60


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
    program = _place(module)
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    with (program.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            _build(_MODULES / module, program, _go())
    return program


def _cache() -> Path:
    return Path(os.environ.get("CARREL_CLUSTER_CACHE") or Path.home() / ".cache/carrel/cluster")


def _place(module: str) -> Path:
    sources = sorted((_MODULES / module).iterdir())
    digest = hashlib.sha256(b"".join(one.read_bytes() for one in sources)).hexdigest()
    return _cache() / version() / f"{module}-{digest[:12]}"


def _build(module: Path, program: Path, go: str) -> None:
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


def _go() -> str:
    """The machine's Go if it is new enough, or one in the cache. Raises: RuntimeError."""
    for program in (shutil.which("go"), shutil.which("go", path="/usr/local/go/bin")):
        if program and _version_of(program) >= _GO_NEEDED:
            return program
    folder = _cache() / f"go-{_GO}"
    if not folder.exists():
        _fetch_go(folder)
    return str(folder / "bin/go")


def _version_of(go: str) -> tuple[int, ...]:
    shown = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in re.findall(r"\d+", shown)[:2])


def _fetch_go(folder: Path) -> None:
    """Unpack the proxy's archive of the toolchain into the folder."""
    architecture = _ARCHITECTURES[platform.machine()]
    name = f"v0.0.1-go{_GO}.linux-{architecture}"
    proxy = re.split(r"[,|]", os.environ.get("GOPROXY") or _PROXY)[0]
    archive, unfinished = folder.with_suffix(".zip"), folder.with_suffix(".new")
    archive.parent.mkdir(parents=True, exist_ok=True)
    with (
        urllib.request.urlopen(f"{proxy}/golang.org/toolchain/@v/{name}.zip", timeout=_ANSWER_S) as answer,
        archive.open("wb") as file,
    ):
        shutil.copyfileobj(answer, file)
    if hashlib.sha256(archive.read_bytes()).hexdigest() != _GO_SHA256[architecture]:
        raise RuntimeError(f"The archive of Go {_GO} from {proxy} is not the one that is expected.")
    shutil.rmtree(unfinished, ignore_errors=True)
    with zipfile.ZipFile(archive) as content:
        content.extractall(unfinished)
    [root] = unfinished.glob("golang.org/toolchain@*")
    # Archives of modules have no modes.
    for program in (*root.glob("bin/*"), *root.glob("pkg/tool/*/*")):
        program.chmod(0o755)
    root.rename(folder)
    shutil.rmtree(unfinished)
    archive.unlink()


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(not all(_place(module).exists() for module in _PROGRAMS))
    try:
        for each in _PROGRAMS:
            _built(each)
    except (RuntimeError, OSError) as error:
        sys.exit(str(error))
