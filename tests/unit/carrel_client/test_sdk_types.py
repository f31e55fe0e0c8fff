"""What a program sees of the SDK under mypy --strict: the examples of the documents, and mistakes that are found."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs/howto/scripts.md").read_text(), re.DOTALL)

TYPES = """\
from collections.abc import AsyncIterator, Iterator
from datetime import datetime

from carrel_client import AsyncCarrel, AsyncSession, Carrel, ExecResult, Session

def use(client: Carrel) -> None:
    session: Session = client.sessions.create("starter", cpu=1.5, mem="4g").wait()
    result: ExecResult = session.exec(["true"])
    code: int = result.exit_code
    since: datetime | None = session.started_at
    found: Iterator[Session] = client.sessions.list(state="live")
    lines: Iterator[str] = session.logs(follow=True)

async def use_async(client: AsyncCarrel) -> None:
    session: AsyncSession = await client.sessions.create("starter", cpu="500m", mem=1 << 30)
    found: AsyncIterator[AsyncSession] = client.sessions.list()
    code: int = (await session.exec(["true"])).exit_code
"""
MISTAKES = """\
from carrel_client import Carrel
client = Carrel("http://localhost", token="t")
client.sessions.create("starter", cpus=2)
client.sessions.get("x").wait(until="runing")
client.sessions.get("x").exec("ls")["stdout"]
"""


def test_programs_are_checked_strictly(tmp_path: Path):
    """One run of mypy for all of it: it is what takes the time."""
    for number, example in enumerate(EXAMPLES):
        (tmp_path / f"example_{number}.py").write_text(example)
    (tmp_path / "types_.py").write_text(TYPES)
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}/cache", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    faults = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line.split(":")[1] for line in faults if line.startswith("mistakes.py")] == ["3", "4", "5"], (
        done.stdout
    )
    assert [line for line in faults if not line.startswith("mistakes.py")] == []
