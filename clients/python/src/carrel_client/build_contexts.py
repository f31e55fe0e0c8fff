"""Files of builds of environments: a directory, or a Git repository, as a tar file."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from carrel_client import ignored
from carrel_client.errors import CarrelError

_LARGEST = 32 << 20


def pack(directory: Path) -> bytes:
    """A compressed tar file of what .dockerignore and .git leave. Raises: CarrelError."""
    if not directory.is_dir():
        raise CarrelError("client.no_directory", f"There is no directory {directory}.", status=404)
    rules = _rules(directory)
    size = 0
    with io.BytesIO() as buffer:
        with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
            for path in _paths(directory):
                name = path.relative_to(directory).as_posix()
                if name != ignored.FILE and ignored.is_ignored(name, rules):
                    continue
                size += path.lstat().st_size
                if size > _LARGEST:
                    raise CarrelError(
                        "build.context_too_large",
                        f"{directory} has more than {_LARGEST >> 20} MiB.",
                        status=413,
                        hint="Leave out what the build does not need by .dockerignore, and keep data in folders.",
                    )
                archive.add(path, arcname=name, recursive=False)
        return buffer.getvalue()


@contextlib.contextmanager
def cloned(url: str, ref: str | None) -> Iterator[tuple[Path, str]]:
    """A copy of the repository, by the Git of this machine with its credentials, and its commit.

    Raises: CarrelError.
    """
    if url.startswith("-") or (ref or "").startswith("-"):
        raise CarrelError("client.bad_git", f"{url} is no address of a repository.", status=422)
    with tempfile.TemporaryDirectory(prefix="carrel-build-") as place:
        if ref is None:
            _git("clone", "--quiet", "--depth", "1", "--", url, place)
        else:
            # A commit is no name for clone.
            _git("-C", place, "init", "--quiet")
            _git("-C", place, "fetch", "--quiet", "--depth", "1", "--", url, ref)
            _git("-C", place, "checkout", "--quiet", "FETCH_HEAD")
        yield Path(place), _git("-C", place, "rev-parse", "HEAD").strip()


def _git(*arguments: str) -> str:
    try:
        ran = subprocess.run(
            ["git", *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
        )
    except FileNotFoundError:
        raise CarrelError(
            "client.no_git", "There is no git on this machine.", status=422, hint="Install it."
        ) from None
    if ran.returncode:
        raise CarrelError(
            "client.git_failed",
            f"git {arguments[0] if arguments[0] != '-C' else arguments[2]} failed: {ran.stderr.strip()[-300:]}",
            status=422,
            hint="Check the address and the branch, and whether you may read it.",
        )
    return ran.stdout


def _paths(directory: Path) -> Iterator[Path]:
    for root, directories, files in os.walk(directory):
        directories[:] = sorted(name for name in directories if name != ".git")
        links = [name for name in directories if (Path(root) / name).is_symlink()]
        for name in sorted([*files, *links]):
            path = Path(root) / name
            if path.is_file() or path.is_symlink():
                yield path


def _rules(directory: Path) -> list[str]:
    try:
        return ignored.rules((directory / ignored.FILE).read_text())
    except OSError:
        return []
