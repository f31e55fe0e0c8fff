"""What `./carrel test` makes of the reports of its parts."""

import importlib.util
from pathlib import Path

import pytest

CHECKS = Path(__file__).parents[2] / "tools" / "checks"


def test_what_was_skipped_is_named_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(CHECKS))
    spec = importlib.util.spec_from_file_location("checks", CHECKS / "__main__.py")
    assert spec
    assert spec.loader
    checks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checks)
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
