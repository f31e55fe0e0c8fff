"""Resource usage of an idle control plane: supervisor, fork server, API, gateway and PostgreSQL."""

import asyncio
import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import psutil

from bench.control_plane import ControlPlane, control_plane
from bench.table import Line

_SETTLE_S = 10.0
_WATCH_S = 30.0


async def measure() -> list[Line]:
    async with control_plane() as own:
        async with own.client() as client:
            assert (await client.get("/sessions")).status_code == 200
        await asyncio.sleep(_SETTLE_S)
        before = cpu_seconds(chain(*processes_of(own).values()))
        await asyncio.sleep(_WATCH_S)
        percent = (cpu_seconds(chain(*processes_of(own).values())) - before) / _WATCH_S * 100
        parts = {name: sum(map(pss_mib, processes)) for name, processes in processes_of(own).items()}
    mib = sum(parts.values())
    shares = ", ".join(f"{name} {amount:.0f}" for name, amount in parts.items())
    return [
        Line("idle memory", f"{mib:.0f} MiB", f"PSS: {shares}", goal=300, value=mib),
        Line("idle CPU", f"{percent:.1f} %", f"of one core, over {_WATCH_S:.0f} s", goal=2, value=percent),
    ]


def processes_of(own: ControlPlane) -> dict[str, list[psutil.Process]]:
    processes: dict[str, list[psutil.Process]] = {"supervisor": [psutil.Process(own.supervisor)]}
    for child in processes["supervisor"][0].children():
        if name := re.search(r"carrel\.server\.(?:role )?(\w+)", " ".join(child.cmdline())):
            processes[name[1].replace("_", " ")] = [child]
    processes["PostgreSQL"] = postgres_of(own.data_dir)
    return processes


def postgres_of(data_dir: Path) -> list[psutil.Process]:
    """The processes of an installation's embedded PostgreSQL."""
    pid = int((data_dir / "postgres" / "data" / "postmaster.pid").read_text().split()[0])
    return [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]


def cpu_seconds(processes: Iterable[psutil.Process]) -> float:
    """Of those that still run."""
    return sum(sum(process.cpu_times()[:2]) for process in processes if process.is_running())


def pss_mib(process: psutil.Process) -> float:
    for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0
