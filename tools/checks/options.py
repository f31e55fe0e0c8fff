"""The options of `./carrel test`. Standard library only: read before anything is installed."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
# Fast ones first. Proofs that are run by hand (tests/fresh) contain no test_*.py.
_ORDER = tuple("unit store simulation conformance http crash cluster e2e programs scanners".split())
FOLDERS = tuple(
    sorted(
        {
            test.relative_to(ROOT / "tests").parts[0]
            for pattern in ("*/test_*.py", "*/*/test_*.py")
            for test in (ROOT / "tests").glob(pattern)
        },
        key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name),
    )
)
ON_REQUEST = ("cluster", "programs", "scanners")
"""Parts that run only if they are named: they first build Kubernetes, an image with all apps, or scanners."""
PARTS = ("lint", "generated", "web", "sizes", *FOLDERS)
_EXAMPLES = """\
examples:
  ./carrel test                          all checks; asks before it installs what they need
  ./carrel test --yes                    the same without questions
  ./carrel test --only lint,unit         some parts
  ./carrel test -k ceiling tests/store   passes other arguments to pytest

The last line is a summary. Exit code: 0 if all checks passed, 1 if one failed,
2 if something is missing and was not installed.
"""


class Options(NamedTuple):
    yes: bool
    parts: list[str]
    pytest: list[str]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"error: {message} (usage)\nhint: ./carrel test --help\n")
        raise SystemExit(2)


def parse(arguments: Sequence[str]) -> Options:
    """Raises: SystemExit."""
    parser = _Parser(
        prog="carrel test",
        usage="%(prog)s [--yes] [--only PART[,PART]] [PYTEST ARGUMENT ...]",
        description="Run all checks of the project.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--yes", action="store_true", help="install what is missing without asking")
    parser.add_argument("--only", metavar="PART[,PART]", help=f"some of: {', '.join(PARTS)}")
    known, rest = parser.parse_known_args(arguments)
    everything = [part for part in PARTS if part not in ON_REQUEST]
    parts = known.only.split(",") if known.only is not None else everything
    for part in parts:
        if part not in PARTS:
            near = difflib.get_close_matches(part, PARTS, n=1)
            parser.error(
                f"there is no part {part!r}"
                + (f"; did you mean {near[0]}?" if near else f"; there are {', '.join(PARTS)}")
            )
    return Options(known.yes, parts, [word for word in rest if word != "--"])
