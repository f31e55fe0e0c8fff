"""`./carrel bench [NAME...] [-o json] [--yes]`: measure, and print one table of ratios.

Both sides of a ratio are measured alternately in one run, on the same machine in the same state; the figures are
medians. Nothing here is a test: absolute figures depend on the machine.
"""

import asyncio
import gc
import importlib
import os
import signal
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import uvloop

from bench import programs
from bench.options import NAMES, parse
from bench.table import Line, as_json, as_table
from carrel.core.errors import Unavailable
from tools.checks.machine import Asker


async def _measured(name: str) -> list[Line]:
    """Run one benchmark; SIGTERM cancels it, so that its cleanup runs."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    lines: list[Line] = await importlib.import_module(f"bench.{name}").measure()
    return lines


def first_error(error: BaseException) -> BaseException:
    """The first error, rather than errors of the cleanup after it."""
    while True:
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
            continue
        before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if before is None:
            return error
        error = before


def main() -> int:
    options = parse(sys.argv[1:])
    names = options.names or NAMES
    try:
        programs.require(names, consent=Asker(yes=options.yes))
    except Unavailable as error:
        sys.stderr.write(f"{error.message} {error.hint}\n")
        return 2
    lines: list[Line] = []
    failed: list[str] = []
    for name in names:
        sys.stderr.write(f"measuring {name} ...\n")
        try:
            lines += uvloop.run(_measured(name))
        except Exception as error:
            traceback.print_exception(error)
            first = first_error(error)
            failed.append(f"{name} failed: {type(first).__name__}: {first}")
            sys.stderr.write(f"{failed[-1]}\n")
        gc.collect()
    if options.output == "json":
        print(as_json(lines))
    else:
        load = os.getloadavg()[0]
        print(
            f"{os.cpu_count()} cores, load {load:.1f}, Python {sys.version.split()[0]}; medians, by turns\n"
        )
        print(as_table(lines))
    for each in failed:
        sys.stderr.write(f"{each}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
