"""`./carrel bench [NAME...] [-o json]`: measure, and print one table of ratios.

What a ratio compares is measured by turns in one run, on the same machine in the same state; the figures are
medians. Nothing here is a test: the machine decides how large the figures are.
"""

import asyncio
import gc
import importlib
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import uvloop

from bench.options import NAMES, parse
from bench.table import Line, as_json, as_table


async def _measured(name: str) -> list[Line]:
    """Also whoever is told to end cleans up first."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    lines: list[Line] = await importlib.import_module(f"bench.{name}").measure()
    return lines


def main() -> int:
    options = parse(sys.argv[1:])
    lines: list[Line] = []
    for name in options.names or NAMES:
        sys.stderr.write(f"measuring {name} ...\n")
        lines += uvloop.run(_measured(name))
        gc.collect()
    if options.output == "json":
        print(as_json(lines))
    else:
        load = os.getloadavg()[0]
        print(
            f"{os.cpu_count()} cores, load {load:.1f}, Python {sys.version.split()[0]}; medians, by turns\n"
        )
        print(as_table(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
