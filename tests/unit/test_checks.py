"""What `./carrel test` does for its parts, and makes of their reports."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

CHECKS = Path(__file__).parents[2] / "tools" / "checks"


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(CHECKS))
    spec = importlib.util.spec_from_file_location("checks", CHECKS / "__main__.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_tests_start_keeps_its_compiled_modules(
    checks: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "STATE", tmp_path / "state")
    (tmp_path / "loaded.py").write_text("")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **checks.compiled_code()}
    subprocess.run([sys.executable, "-c", "import loaded"], cwd=tmp_path, env=environment, check=True)
    assert [each.name.split(".")[0] for each in (tmp_path / "state").rglob("loaded.*.pyc")] == ["loaded"]
    assert not (tmp_path / "__pycache__").exists()


def test_what_was_skipped_is_named_with_its_reason(checks: ModuleType, tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(
        '<testsuites><testsuite><testcase classname="tests.http.test_a" name="test_mounts">'
        '<skipped type="pytest.skip" message="mounting needs root">a.py:1</skipped></testcase>'
        '<testcase classname="tests.http.test_a" name="test_reads"/>'
        '<testcase classname="tests.http.test_a" name="test_writes"><failure message="no"/></testcase>'
        "</testsuite></testsuites>"
    )
    tally = checks.Tally()
    checks.count(report, tally)
    assert tally.passed == 1
    assert tally.failed == ["tests.http.test_a::test_writes"]
    assert tally.skipped == ["tests.http.test_a::test_mounts: mounting needs root"]
