"""A scanner's command has its limits, and all of its processes end with it."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from carrel.scanners.reports import ScannerReport
from carrel.scanners.scanner import Scanner, ScannerFailed

REPORTS = Path(__file__).parents[2] / "scanner_reports"


def scanner(script: str, *words: str, timeout_s: float = 20.0, memory_bytes: int = 1 << 30) -> Scanner:
    return Scanner([sys.executable, "-c", script, *words], timeout_s, memory_bytes)


async def scan(one: Scanner, reference: str = "docker.io/library/debian:12") -> ScannerReport:
    return await one.scan(reference, {"DOCKER_HOST": "unix:///run/docker.sock"})


async def test_the_reference_is_one_argument_and_no_shell_reads_it():
    script = "import sys; assert sys.argv[1:] == ['image', 'a b;$(c)'], sys.argv; print(open(%r).read())"
    result = await scan(scanner(script % str(REPORTS / "trivy.json"), "image", "{reference}"), "a b;$(c)")
    assert result.counts == {"critical": 1, "low": 1}


async def test_it_knows_the_engine_and_no_secrets(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CARREL_DATABASE_URL", "postgresql://secret")
    monkeypatch.setenv("PGPASSWORD", "secret")
    monkeypatch.setenv("TRIVY_CACHE_DIR", "/srv/trivy")
    script = (
        "import os, sys; sys.exit(repr(sorted(k for k in os.environ if k[:2] in ('CA', 'PG', 'TR', 'DO'))))"
    )
    with pytest.raises(ScannerFailed, match=r"code 1: \['DOCKER_HOST', 'TRIVY_CACHE_DIR'\]"):
        await scan(scanner(script))


async def test_a_missing_program_is_named():
    with pytest.raises(ScannerFailed, match="no-such-scanner"):
        await scan(Scanner(["no-such-scanner", "{reference}"], 20.0, 1 << 30))


async def test_the_last_line_of_its_complaints_is_kept():
    with pytest.raises(ScannerFailed, match=r"code 3: no database$"):
        await scan(scanner("import sys; print('x\\nno database\\n', file=sys.stderr); sys.exit(3)"))


async def test_output_that_is_no_report_is_an_error():
    with pytest.raises(ScannerFailed, match="not JSON"):
        await scan(scanner("print('hello')"))


async def test_too_much_output_ends_it():
    with pytest.raises(ScannerFailed, match="larger than 64"):
        await scan(scanner("import sys\nwhile True: sys.stdout.write('x' * 65536)"))


async def test_memory_is_limited():
    with pytest.raises(ScannerFailed, match="MemoryError"):
        await scan(scanner("x = bytearray(300 << 20)", memory_bytes=200 << 20))


FORKS = """
import os, sys, time
if os.fork() == 0:
    open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(60)
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def child(path: Path) -> int:
    end = time.monotonic() + 10
    while not path.exists() or not path.read_text():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)
    return int(path.read_text())


async def gone(pid: int) -> None:
    end = time.monotonic() + 10
    while alive(pid):
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


async def test_its_children_end_at_the_timeout(tmp_path: Path):
    with pytest.raises(ScannerFailed, match="after 1 seconds"):
        await scan(scanner(FORKS, str(tmp_path / "pid"), timeout_s=1.0))
    await gone(await child(tmp_path / "pid"))


AWAY = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    open(sys.argv[1], "w").write(str(os.getpid()))
    time.sleep(60)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
"""


async def test_a_child_that_left_its_group_and_keeps_its_output_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("carrel.scanners.scanner._END_S", 0.1)
    with pytest.raises(ScannerFailed, match="after 1 seconds"):
        await scan(scanner(AWAY, str(tmp_path / "pid"), timeout_s=1.0))
    os.kill(await child(tmp_path / "pid"), signal.SIGKILL)


async def test_its_children_end_when_it_is_cancelled(tmp_path: Path):
    task = asyncio.create_task(scan(scanner(FORKS, str(tmp_path / "pid"))))
    pid = await child(tmp_path / "pid")
    assert alive(pid)
    assert os.getpgid(pid) != os.getpgid(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(pid)
