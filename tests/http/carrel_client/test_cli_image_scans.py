"""`carrel image scan` and what belongs to it, against the real application."""

import json
from pathlib import Path

import pytest
from command_line import command_line
from fake_scanner import FakeScanner
from installation import installation
from people import People

from carrel.db.database import Database


async def test_an_image_is_scanned_shown_and_exempt(
    database: Database, people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanner = FakeScanner(tmp_path / "scanner")
    scanner.reports(("CVE-1", "CRITICAL"), ("CVE-2", "HIGH"))
    monkeypatch.setenv("CARREL_IMAGE_SCANNER", " ".join(scanner.command))
    async with installation(database, people, tmp_path, controllers=True) as api:
        admin = await command_line(api, "superadmin", tmp_path)
        missing = await admin.run("image", "vulnerabilities", "debian:12")
        assert (missing.code, "has not been scanned" in missing.stderr) == (4, True)
        assert "1 critical, 1 high" in await admin.ok("image", "scan", "debian:12")
        assert "docker.io/library/debian:12" in await admin.ok("image", "scans", "--severity", "critical")
        listed = await admin.ok("image", "vulnerabilities", "debian:12", "--severity", "critical")
        assert ("CVE-1" in listed, "CVE-2" in listed) == (True, False)
        fixable = await admin.as_json("image", "vulnerabilities", "debian:12", "--fixable", "yes")
        assert [one["id"] for one in fixable["items"]] == ["CVE-2"]
        assert "9.8" in listed
        both = await admin.run("image", "vulnerabilities", "debian:12", "--csv", "-o", "json")
        assert (both.code, "exclude each other" in both.stderr) == (2, True), both
        exported = await admin.ok("image", "vulnerabilities", "debian:12", "--csv", "--fixable", "yes")
        assert [line.partition(",")[0] for line in exported.splitlines()] == ["id", "CVE-2"]
        assert "Apache-2.0" in await admin.ok("image", "packages", "debian:12", "--search", "ssl")
        sbom = json.loads(await admin.ok("image", "sbom", "debian:12"))
        assert sbom["bomFormat"] == "CycloneDX"
        await admin.ok("site", "set", "image_scan_rule=refuse")
        refused = await admin.run("session", "check", "--image", "debian:12", "--cpu", "0.1", "--mem", "64m")
        assert b"1 critical vulnerability" in refused.stdout
        assert (await admin.run("image", "exempt", "debian:12", "--reason", "x")).code == 2
        words = ("--reason", "no fix yet", "--until", "2026-12-24T00:00:00Z")
        exempt = await admin.ok("image", "exempt", "debian:12", *words)
        assert "no fix yet" in exempt
        warned = await admin.run("session", "check", "--image", "debian:12", "--cpu", "0.1", "--mem", "64m")
        assert b"It is exempt until" in warned.stdout
        ended = await admin.as_json("image", "exempt", "debian:12", "--end")
        assert ended["effect"] == "refuse"
        scanner.prints("broken")
        failed = await admin.run("image", "scan", "debian:12")
        assert (failed.code, b"not JSON" in failed.stdout) == (1, True)
        assert (await admin.run("image", "scan", "debian:12", "--cancel")).code != 0


async def test_everything_is_scanned(
    database: Database, people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_IMAGE_SCANNER", " ".join(FakeScanner(tmp_path / "scanner").command))
    async with installation(database, people, tmp_path, controllers=True) as api:
        admin = await command_line(api, "superadmin", tmp_path)
        assert "none" in await admin.ok("image", "scan", "--all")
        shown = await admin.as_json("registry", "scan", "--all")
        assert (shown["kind"], shown["total"], shown["done"]) == ("registries", 0, 0)
        assert "Not everything" in (await admin.run("image", "scan", "--all", "--cancel")).stderr
        for words in (["image", "scan"], ["image", "scan", "deb", "--all"], ["registry", "scan"]):
            assert (await admin.run(*words)).code == 2
        assert (await admin.run("registry", "scan", "--all", "--list")).code == 2
