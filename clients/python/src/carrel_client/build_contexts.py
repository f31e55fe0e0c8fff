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

from carrel_client.errors import CarrelError
from carrel_client.ignored import FILE, LONGEST, BadIgnoreFile, IgnoreRules

_LARGEST = 32 << 20


def pack(directory: Path) -> bytes:
    """A compressed tar file of what .dockerignore and .git leave. Raises: CarrelError."""
    if not directory.is_dir():
        raise CarrelError("client.no_directory", f"There is no directory {directory}.", status=404)
    rules = _rules(directory)
    size = 0
    with io.BytesIO() as buffer:
        with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
            for path, name in _paths(directory, rules):
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


def _paths(directory: Path, rules: IgnoreRules) -> Iterator[tuple[Path, str]]:
    """Files and links, with their paths within the directory."""
    for root, directories, files in os.walk(directory):
        above = Path(root).relative_to(directory)
        links = [name for name in directories if (Path(root) / name).is_symlink()]
        directories[:] = sorted(
            name for name in directories if name != ".git" and not rules.prunes((above / name).as_posix())
        )
        for name in sorted([*files, *links]):
            path, inside = Path(root) / name, (above / name).as_posix()
            if not rules.ignores(inside) and (path.is_file() or path.is_symlink()):
                yield path, inside


def _rules(directory: Path) -> IgnoreRules:
    """Raises: CarrelError."""
    try:
        with (directory / FILE).open(encoding="utf-8", errors="replace") as file:
            text = file.read(LONGEST + 1)
    except OSError:
        text = ""
    try:
        return IgnoreRules(text)
    except BadIgnoreFile as error:
        raise CarrelError(
            "build.bad_ignore_file",
            str(error),
            status=422,
            hint="Correct the rule, or leave out whole directories by one rule.",
        ) from None
