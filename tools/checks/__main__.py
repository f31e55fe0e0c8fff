"""`./carrel test`: every check of the project, and a summary line at the end.

Exit code: 0 when all passed, 1 when something failed, 2 when a requirement is missing and nobody agreed to install it.
"""

import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from machine import Asker, prepare, say, without_clusters
from options import FOLDERS, ROOT, parse

from carrel.core.errors import Unavailable

STATE = ROOT / ".tools" / "checks"
# Tests that restart daemons mostly wait and measure shares of a core: they run serially, before others use the same
# core. The others also wait, for databases and clocks: three at a time keep two cores busy. Browser tests run
# without others: two at a time, each with an installation of its own, keep both cores busy.
CONTAINERS = ("conformance", "crash", "cluster")
BROWSER = ("e2e", "programs")


@dataclass
class Tally:
    passed: int = 0
    skipped: list[str] = field(default_factory=list)
    """Names of checks, with reasons."""
    failed: list[str] = field(default_factory=list)


def main() -> int:
    options = parse(sys.argv[1:])
    began = time.monotonic()
    if sys.dont_write_bytecode:
        os.environ.update(compiled_code())
    tally = Tally()
    folders = [name for name in options.parts if name in FOLDERS]
    if "cluster" in folders and (reason := without_clusters()):
        folders.remove("cluster")
        tally.skipped.append(f"cluster: {reason}")
    # 1. Questions before long-running steps.
    try:
        variables = prepare(folders, consent=Asker(yes=options.yes), state=STATE)
    except Unavailable as error:
        say(f"{error.message}\n{error.hint}")
        return 2
    # 2. Fast checks, all of them even when one fails.
    with ThreadPoolExecutor() as beside:
        page = beside.submit(web, tally) if "web" in options.parts else None
        for part, check in (("lint", lint), ("generated", generated), ("sizes", sizes)):
            if part in options.parts:
                check(tally)
        if page:
            page.result()
    # 3. Tests.
    environment = {**os.environ, **variables}
    if {"conformance", "e2e"} & {*folders}:
        # Once per version, in minutes: tests that need it wait for it.
        subprocess.Popen(
            ["nice", "-n", "10", sys.executable, str(ROOT / "tests" / "layer_image.py")],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    if options.pytest:
        run_pytest(folders, options.pytest, environment, tally)
    else:
        rest = [name for name in folders if name not in CONTAINERS + BROWSER]
        with ThreadPoolExecutor() as beside:
            quiet = [name for name in folders if name in CONTAINERS]
            behind = beside.submit(run_pytest, quiet, [], environment, tally, log=STATE / "containers.log")
            run_pytest(
                rest, ["-n", "3", "--dist", "worksteal"], environment, tally, before=("nice", "-n", "10")
            )
            behind.result()
        journeys = [name for name in folders if name in BROWSER]
        run_pytest(journeys, ["-n", "2", "--dist", "worksteal"], environment, tally)
    # 4. Summary.
    for name in tally.skipped:
        print(f"skipped {name}")
    for name in tally.failed:
        print(f"FAILED {name}")
    skipped = f", {len(tally.skipped)} skipped" if tally.skipped else ""
    print(f"{tally.passed} passed, {len(tally.failed)} failed{skipped} in {time.monotonic() - began:.0f} s")
    return 1 if tally.failed else 0


def compiled_code() -> dict[str, str]:
    """Variables that make Python cache compiled modules, even if it must not write them beside the sources.

    Without the cache, each of the many servers that the tests start spends seconds of CPU time on compiling.
    """
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(STATE / "python")}


def lint(tally: Tally) -> None:
    python = sys.executable
    step(tally, "ruff", [python, "-m", "ruff", "check", "."])
    step(tally, "ruff format", [python, "-m", "ruff", "format", "--check", "."])
    step(tally, "import-linter", [str(Path(python).parent / "lint-imports")])
    step(tally, "mypy", [python, "-m", "mypy"])
    for folder in ("bootstrap", "checks"):
        step(
            tally,
            f"mypy tools/{folder}",
            [python, "-m", "mypy", "--strict", "."],
            folder=ROOT / "tools" / folder,
        )


def generated(tally: Tally) -> None:
    """Check that generated files are up to date."""
    made = (
        "openapi",
        "python_client",
        "python_async",
        "cli_docs",
        "reference",
        "web_client",
        "make_migration",
        "chart",
    )
    for tool in (f"{name}.py" for name in made):
        step(tally, f"tools/{tool}", [sys.executable, f"tools/{tool}", "--check"])
    step(tally, "openapi.json: redocly", ["npm", "run", "--silent", "lint:api"], folder=ROOT / "web")


def web(tally: Tally) -> None:
    """The page was already built from these sources."""
    step(tally, "web: types, style, catalogues", ["npm", "run", "check"], folder=ROOT / "web")
    step(tally, "web: vitest", ["npm", "test"], folder=ROOT / "web")


def sizes(tally: Tally) -> None:
    step(tally, "sizes", [sys.executable, "tools/sizes.py"])


def step(tally: Tally, name: str, command: Sequence[str], *, folder: Path = ROOT) -> None:
    """Run a step; its output is shown when it has ended, so that outputs do not mix."""
    began = time.monotonic()
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    result = "ok" if done.returncode == 0 else "FAILED"
    print(f"\n== {name}\n{done.stdout}== {name}: {result} in {time.monotonic() - began:.1f} s", flush=True)
    if done.returncode == 0:
        tally.passed += 1
    else:
        tally.failed.append(name)


def run_pytest(
    folders: Sequence[str],
    extra: Sequence[str],
    environment: dict[str, str],
    tally: Tally,
    *,
    log: Path | None = None,
    before: Sequence[str] = (),
) -> None:
    """log: receives the output until the end, so that outputs do not mix.

    before: a command that runs pytest.
    """
    if not folders:
        return
    print(f"\n== pytest {' '.join(folders)}", flush=True)
    report = STATE / f"junit-{folders[0]}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    # A test that hangs dumps its stack before the run is stopped from outside.
    options = [f"--junitxml={report}", "-o", "faulthandler_timeout=240", "--durations=10"]
    names_paths = any((ROOT / word.split("::")[0]).exists() for word in extra)
    paths = [] if names_paths else [f"tests/{name}" for name in folders]
    with log.open("wb") if log else nullcontext() as output:
        code = subprocess.run(
            [*before, sys.executable, "-m", "pytest", *options, *paths, *extra],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            check=False,
        ).returncode
    if log:
        print(f"\n== pytest {' '.join(folders)}\n{log.read_text(errors='replace')}", flush=True)
    if report.exists():
        count(report, tally)
    if code != 0 and not (report.exists() and tally.failed):
        tally.failed.append(f"pytest {folders[0]} ended with code {code}")


def count(report: Path, tally: Tally) -> None:
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            tally.failed.append(name)
        elif (skipped := case.find("skipped")) is not None:
            tally.skipped.append(f"{name}: {skipped.get('message')}")
        else:
            tally.passed += 1


if __name__ == "__main__":
    sys.exit(main())
