"""Programs and files of published Go modules: Helm, Docker Compose, KWOK, runsc, containerd, and definitions of custom
resources.

They stay in a cache outside of the checkout, by version; CARREL_CLUSTER_CACHE names another place. A build takes
minutes on a new machine. Without Go 1.26, it takes Go from the module proxy too.
"""

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

_HELM = "3.22.0"
_COMPOSE = "2.40.3"
_KWOK = "0.8.0"
_GVISOR = "0.0.0-20260905035102-160fafc42237"
_CONTAINERD = "2.4.2"
_PARTS_OF_CONTAINERD = ("containerd", "containerd-shim-runc-v2")
# Collecting garbage less often saves a tenth of the time.
_ENVIRONMENT = {"CGO_ENABLED": "0", "GOGC": "400"}
_OPTIONS = ("-p", "2", "-trimpath")
_STRIPPED = "-s -w"
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


def helm() -> Path:
    """The program; built if it is missing. Raises: RuntimeError with the end of the build's output."""
    return cached(
        cache() / f"helm-{_HELM}/helm",
        lambda made: compile_package("./cmd/helm", made, cwd=source("helm.sh/helm/v3", _HELM)),
    )


def compose() -> Path:
    """Docker Compose, for which no Docker command is needed; see `helm`."""
    module = "github.com/docker/compose/v2"
    return cached(
        cache() / f"compose-{_COMPOSE}/docker-compose",
        lambda made: compile_package("./cmd", made, cwd=source(module, _COMPOSE)),
    )


def kwok() -> Path:
    """KWOK, which simulates nodes and their pods; see `helm`."""
    return cached(
        cache() / f"kwok-{_KWOK}/kwok",
        lambda made: compile_package("./cmd/kwok", made, cwd=source_of_kwok()),
    )


def runsc() -> Path:
    """gVisor's runtime; see `helm`."""
    return cached(
        cache() / f"gvisor-{_GVISOR}/runsc",
        lambda made: compile_package("./runsc", made, cwd=source("gvisor.dev/gvisor", _GVISOR)),
    )


def containerd() -> Path:
    """The directory with containerd and its shim for runc; see `helm`."""
    for name in _PARTS_OF_CONTAINERD:
        cached(_place_of_containerd() / name, lambda made, name=name: _compile_containerd(name, made))  # type: ignore[misc]
    return _place_of_containerd()


def has_containerd() -> bool:
    """True if `containerd` returns at once."""
    return all((_place_of_containerd() / name).exists() for name in _PARTS_OF_CONTAINERD)


def _place_of_containerd() -> Path:
    return cache() / f"containerd-{_CONTAINERD}"


def _compile_containerd(name: str, made: Path) -> None:
    module = "github.com/containerd/containerd/v2"
    stamp = f"-X {module}/version.Version={_CONTAINERD}"
    compile_package(f"./cmd/{name}", made, cwd=source(module, _CONTAINERD), stamps=stamp)


def source_of_kwok() -> Path:
    """Where the stages are by which it simulates. Raises: RuntimeError."""
    return source("sigs.k8s.io/kwok", _KWOK)


def source(module: str, version: str) -> Path:
    """The directory with a module's files, read-only. Raises: RuntimeError."""
    described = json.loads(_run_go("mod", "download", "-json", f"{module}@v{version}"))
    return Path(described["Dir"])


def cache() -> Path:
    """The directory of all that is built."""
    return Path(os.environ.get("CARREL_CLUSTER_CACHE") or Path.home() / ".cache/carrel/cluster")


def cached(program: Path, build: Callable[[Path], None]) -> Path:
    """This file in the cache; built if it is missing, once. build: writes it."""
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    with (program.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            unfinished = program.with_suffix(".new")
            build(unfinished)
            unfinished.rename(program)
    return program


def compile_package(package: str, program: Path, *, cwd: Path, tags: str = "", stamps: str = "") -> None:
    """Build with the versions that the go.mod and go.sum of the module at `cwd` name. Raises: RuntimeError."""
    options = [*_OPTIONS, *(["-tags", tags] if tags else []), "-ldflags", f"{_STRIPPED} {stamps}"]
    _run_go("build", *options, "-o", str(program), package, cwd=cwd)


def _run_go(*words: str, cwd: Path = Path("/")) -> str:
    done = subprocess.run(
        [_go(), *words],
        cwd=cwd,
        env={**os.environ, **_ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"go {' '.join(words)}:\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done.stdout


def _go() -> str:
    """The machine's Go if it is new enough, or one in the cache. Raises: RuntimeError."""
    for program in (shutil.which("go"), shutil.which("go", path="/usr/local/go/bin")):
        if program and _version_of(program) >= _GO_NEEDED:
            return program
    folder = cache() / f"go-{_GO}"
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
