"""A scanner that reports what a file beside it holds, and writes down what it was asked for."""

import sys
from pathlib import Path

import orjson

SCRIPT = """
import os, sys, time
folder = sys.argv[1]
with open(folder + "/seen", "a") as seen:
    seen.write(sys.argv[2] + " " + os.environ.get("DOCKER_HOST", "") + "\\n")
while os.path.exists(folder + "/hold"):
    time.sleep(0.02)
sys.stdout.write(open(folder + "/output").read())
"""


class FakeScanner:
    """Set `output` before a scan. held: scans wait until it is False."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        (folder / "scanner.py").write_text(SCRIPT)
        self.reports()

    @property
    def command(self) -> list[str]:
        return [sys.executable, str(self._folder / "scanner.py"), str(self._folder), "{reference}"]

    @property
    def seen(self) -> list[str]:
        """Reference and engine of each scan."""
        path = self._folder / "seen"
        return path.read_text().splitlines() if path.exists() else []

    def prints(self, output: str) -> None:
        (self._folder / "output").write_text(output)

    def reports(self, *vulnerabilities: tuple[str, str]) -> None:
        """vulnerabilities: id and severity of each, all in openssl."""
        entries = [
            {
                "VulnerabilityID": name,
                "Severity": severity,
                "PkgName": "openssl",
                "InstalledVersion": "1",
                "FixedVersion": "2" if severity == "HIGH" else "",
                "CVSS": {"nvd": {"V3Score": 9.8, "V3Vector": "CVSS:3.1/AV:N"}}
                if severity == "CRITICAL"
                else {},
            }
            for name, severity in vulnerabilities
        ]
        packages = [
            {"Name": "openssl", "Version": "1", "Licenses": ["Apache-2.0"]},
            {"Name": "zlib", "Version": "3"},
        ]
        result = {"Type": "debian", "Packages": packages, "Vulnerabilities": entries}
        trivy = {"Version": "0.68"}
        document = {"SchemaVersion": 2, "ArtifactName": "x", "Trivy": trivy, "Results": [result]}
        self.prints(orjson.dumps(document).decode())

    def hold(self, *, held: bool) -> None:
        hold = self._folder / "hold"
        hold.touch() if held else hold.unlink()
