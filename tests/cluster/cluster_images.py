"""Image archives for nodes without a registry, in the format of `docker save`."""

import hashlib
import io
import json
import platform
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tiny_image import built

PAUSE = "localhost/carrel-cluster/pause:1"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def tiny(flavour: str) -> str:
    """The reference of a flavour of the tiny image on the nodes; see `tiny_image`."""
    return f"localhost/carrel-cluster/tiny:{flavour}"


def write_archives(folder: Path) -> None:
    """Write the archives that every cluster has: pause, and flavours of the tiny image."""
    path = {"Env": ["PATH=/usr/local/bin:/usr/bin:/bin"]}
    bare, _ = built("bare")
    pause = {**path, "Entrypoint": ["/bin/busybox", "sleep", "2147483647"]}
    (folder / "pause.tar").write_bytes(_archive(PAUSE, bare, pause))
    for flavour in ("work", "bare", "shellless", "layer"):
        settings = {**path, "User": "work", "WorkingDir": "/home/work"} if flavour == "work" else path
        (folder / f"{flavour}.tar").write_bytes(_archive(tiny(flavour), built(flavour)[0], settings))


def save(reference: str, folder: Path) -> None:
    """Write the archive of an image of the machine's Docker."""
    name = hashlib.sha256(reference.encode()).hexdigest()[:12]
    subprocess.run(["docker", "save", "-o", str(folder / f"{name}.tar"), reference], check=True)


def save_as_layer(reference: str, folder: Path, *, without: Sequence[str]) -> None:
    """Write the archive of an image of the machine's Docker as one layer, without these directories.

    Nodes unpack and delete a large image in minutes.
    """
    excluded = [f"--exclude=./{one}" for one in without]
    pack = ["tar", "--one-file-system", "--numeric-owner", *excluded, "-C", "/", "-cf", "-", "."]
    started = ["docker", "run", "--rm", "--network=none", "--user=root", reference, *pack]
    layer = subprocess.run(started, check=True, capture_output=True).stdout
    inspect = ["docker", "inspect", "--format={{json .Config}}", reference]
    config = json.loads(subprocess.run(inspect, check=True, capture_output=True).stdout)
    settings = {name: config[name] for name in ("Env", "User", "WorkingDir")}
    (folder / "layer.tar").write_bytes(_archive(reference, layer, settings))


def _archive(reference: str, layer: bytes, settings: Mapping[str, object]) -> bytes:
    config = json.dumps(
        {
            "architecture": _ARCHITECTURES[platform.machine()],
            "os": "linux",
            "config": settings,
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        }
    ).encode()
    name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = [{"Config": name, "RepoTags": [reference], "Layers": ["layer.tar"]}]
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path, content in (
            (name, config),
            ("layer.tar", layer),
            ("manifest.json", json.dumps(manifest).encode()),
        ):
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return out.getvalue()
