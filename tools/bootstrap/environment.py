"""The Python environment in .venv, as locked in uv.lock."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

import pins
from download import authorities, index_url, unpack, uses_another_index
from screen import SetupError, run

_SOURCES = ("uv.lock", "pyproject.toml")


class Environment:
    """.venv with the server's dependencies and, if `with_tests`, those of its tests."""

    def __init__(self, root: Path, *, with_tests: bool) -> None:
        self._root = root
        self._folder = root / ".venv"
        self._stamp = self._folder / ".carrel-stamp"
        # Once installed, test tools stay: removing them would surprise developers.
        self._with_tests = with_tests or (self._folder / "bin" / "pytest").exists()

    @property
    def sentence(self) -> str:
        extra = " and test tools" if self._with_tests else ""
        return f"Python packages{extra} from {_host(index_url())} into .venv (about 200 MB)"

    def is_new(self) -> bool:
        return not self._folder.exists()

    def is_current(self) -> bool:
        try:
            return self._stamp.read_text() == self._desired()
        except OSError:
            return False

    def make(self) -> None:
        """Bring .venv up to date. Interrupted: the next call recreates it, from uv's cache."""
        unfinished = self._root / ".tools" / "venv-unfinished"
        if unfinished.exists():
            shutil.rmtree(self._folder, ignore_errors=True)
        unfinished.parent.mkdir(exist_ok=True)
        unfinished.touch()
        self._stamp.unlink(missing_ok=True)
        if uses_another_index():
            self._install_from_another_index()
        else:
            self._uv("installing Python packages", "sync", "--frozen", *self._groups())
        self._stamp.write_text(self._desired())
        unfinished.unlink()

    def _install_from_another_index(self) -> None:
        """uv.lock names files on pypi.org: export its pins and hashes, and install them from the other index."""
        listed = self._root / ".tools" / "requirements.txt"
        self._uv(
            "reading uv.lock",
            "export",
            "--frozen",
            "--no-emit-project",
            "-q",
            "-o",
            str(listed),
            *self._groups(),
        )
        if not self._folder.exists():
            self._uv("creating .venv", "venv", str(self._folder))
        self._uv(
            "installing Python packages",
            "pip",
            "sync",
            "--require-hashes",
            "--index-url",
            index_url(),
            str(listed),
        )
        self._uv(
            "installing Carrel",
            "pip",
            "install",
            "--no-deps",
            "--index-url",
            index_url(),
            "-e",
            str(self._root),
        )

    def _groups(self) -> list[str]:
        return ["--group", "dev"] if self._with_tests else ["--no-dev"]

    def _uv(self, title: str, *arguments: str) -> None:
        log = self._root / ".tools" / "log" / f"{arguments[0]}.log"
        run(title, [_uv_program(self._root), *arguments], log=log, cwd=self._root, env=self._variables())

    def _variables(self) -> dict[str, str]:
        variables = {
            **os.environ,
            "UV_PROJECT_ENVIRONMENT": str(self._folder),
            "VIRTUAL_ENV": str(self._folder),
        }
        if not self._folder.exists() and sys.version_info >= (3, 11):
            # The real path: this process may run from the .venv that was just removed.
            variables.setdefault("UV_PYTHON", os.path.realpath(sys.executable))
        bundle = authorities()
        if bundle is not None:
            variables.setdefault("SSL_CERT_FILE", str(bundle))
        return variables

    def _desired(self) -> str:
        digest = hashlib.sha256()
        for name in _SOURCES:
            digest.update((self._root / name).read_bytes())
        return f"{digest.hexdigest()} {self._with_tests}\n"


def _uv_program(root: Path) -> Path:
    """The pinned uv, downloaded on first use; if PyPI has none for this platform, the installed one."""
    wheel = pins.uv()
    if wheel is None:
        own = shutil.which("uv")
        if own is None:
            raise SetupError(
                "There is no uv for this platform on PyPI.", hint="Install uv and start again.", code=2
            )
        return Path(own)
    folder = unpack(wheel, root / ".tools" / f"uv-{wheel.version}")
    return folder / f"uv-{wheel.version}.data" / "scripts" / "uv"


def _host(url: str) -> str:
    return url.split("://")[-1].split("@")[-1].split("/")[0]
