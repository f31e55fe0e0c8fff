"""Trivy and Grype, and a small database of each, built from the Go module proxy.

    program = TRIVY.program()      # some minutes on a new machine, afterwards at once
    variables = TRIVY.variables(folder)

They stay in the cache beside that of `go_programs`, by version and sources.
"""

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from go_programs import cache, cached, compile_package, source

_DATABASES = Path(__file__).with_name("databases")


@dataclass(frozen=True)
class ScannerProgram:
    """module: of Go. stamps: of the linker, which name the version. commands: by format of the output."""

    name: str
    module: str
    version: str
    stamps: str
    commands: Mapping[str, str]

    def program(self) -> Path:
        """The program; built if it is missing. Raises: RuntimeError with the end of the build's output."""
        return cached(
            self._place / self.name,
            lambda made: compile_package(
                f"./cmd/{self.name}", made, cwd=source(self.module, self.version), stamps=self.stamps
            ),
        )

    def command(self, form: str) -> list[str]:
        """As a site sets it."""
        return [str(self.program()), *self.commands[form].split()]

    def variables(self, folder: Path) -> Mapping[str, str]:
        """The environment in which it has the database, without a network. folder: for it."""
        write = {"trivy": self._trivy, "grype": self._grype}
        return write[self.name](folder)

    @property
    def _place(self) -> Path:
        return cache().parent / "scanners" / f"{self.name}-{self.version}"

    def _writer(self) -> Path:
        """The program that writes the database."""
        written = _DATABASES / f"{self.name}.go"
        digest = hashlib.sha256(written.read_bytes()).hexdigest()[:12]
        return cached(self._place / f"database-{digest}", lambda made: self._compile_writer(written, made))

    def _compile_writer(self, written: Path, made: Path) -> None:
        # With the versions of what the scanner is made of. Modules are read-only.
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / "module"
            shutil.copytree(source(self.module, self.version), copy, copy_function=shutil.copyfile)
            (copy / "cmd").chmod(0o755)
            package = copy / "cmd" / "database"
            package.mkdir()
            shutil.copyfile(written, package / "main.go")
            compile_package("./cmd/database", made, cwd=copy)

    def _trivy(self, folder: Path) -> Mapping[str, str]:
        subprocess.run([self._writer(), folder / "db"], check=True)
        return {
            "TRIVY_CACHE_DIR": str(folder),
            "TRIVY_SKIP_DB_UPDATE": "true",
            "TRIVY_OFFLINE_SCAN": "true",
            "TRIVY_SKIP_VERSION_CHECK": "true",
        }

    def _grype(self, folder: Path) -> Mapping[str, str]:
        written = folder / "written"
        written.mkdir(parents=True)
        subprocess.run([self._writer(), written], check=True)
        with tarfile.open(folder / "database.tar.gz", "w:gz") as archive:
            archive.add(written / "vulnerability.db", "vulnerability.db")
        variables = {
            "GRYPE_DB_CACHE_DIR": str(folder / "cache"),
            "GRYPE_DB_AUTO_UPDATE": "false",
            "GRYPE_CHECK_FOR_APP_UPDATE": "false",
        }
        words = [self.program(), "db", "import", folder / "database.tar.gz"]
        subprocess.run(words, check=True, env=variables, capture_output=True)
        return variables


TRIVY = ScannerProgram(
    "trivy",
    "github.com/aquasecurity/trivy",
    "0.74.0",
    "-X github.com/aquasecurity/trivy/pkg/version/app.ver=0.74.0",
    {
        "json": "image --quiet --format json --list-all-pkgs --scanners vuln {reference}",
        "cyclonedx": "image --quiet --format cyclonedx --scanners vuln {reference}",
    },
)
GRYPE = ScannerProgram(
    "grype",
    "github.com/anchore/grype",
    "0.121.2",
    "-X main.version=0.121.2",
    {"json": "-o json docker:{reference}", "cyclonedx": "-o cyclonedx-json docker:{reference}"},
)
