"""Programs and files of published Go modules: Helm, Docker Compose, and definitions of custom resources.

They stay in the cache of `kubernetes_programs`, by version. A build takes minutes on a new machine.
"""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

_HELM = "3.22.0"
_COMPOSE = "2.40.3"
# Collecting garbage less often saves a tenth of the time.
_ENVIRONMENT = {"CGO_ENABLED": "0", "GOGC": "400"}
_OPTIONS = ("-p", "2", "-trimpath", "-ldflags", "-s -w")


def helm() -> Path:
    """The program; built if it is missing. Raises: RuntimeError with the end of the build's output."""
    return _cached(f"helm-{_HELM}", "helm", lambda made: _build("helm.sh/helm/v3", _HELM, "./cmd/helm", made))


def compose() -> Path:
    """Docker Compose, for which no Docker command is needed; see `helm`."""
    package = "github.com/docker/compose/v2"
    return _cached(
        f"compose-{_COMPOSE}", "docker-compose", lambda made: _build(package, _COMPOSE, "./cmd", made)
    )


def source(module: str, version: str) -> Path:
    """The directory with a module's files, read-only. Raises: RuntimeError."""
    described = json.loads(_go("mod", "download", "-json", f"{module}@v{version}"))
    return Path(described["Dir"])


def _cached(folder: str, name: str, build: Callable[[Path], None]) -> Path:
    cache = Path(os.environ.get("CARREL_CLUSTER_CACHE") or Path.home() / ".cache/carrel/cluster")
    program = cache / folder / name
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


def _build(module: str, version: str, package: str, program: Path) -> None:
    """Build with the versions that the module's own go.mod and go.sum name."""
    _go("build", *_OPTIONS, "-o", str(program), package, cwd=source(module, version))


def _go(*words: str, cwd: Path = Path("/")) -> str:
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if go is None:
        raise RuntimeError("The programs are built with Go 1.26 or newer, which is not installed.")
    done = subprocess.run(
        [go, *words],
        cwd=cwd,
        env={**os.environ, **_ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"go {' '.join(words)}:\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done.stdout
