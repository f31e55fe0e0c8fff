"""The options of `./carrel bench`. Standard library only: read before anything is installed."""

from __future__ import annotations

import argparse
import difflib
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

NAMES = (
    "session_start",
    "fifty_at_once",
    "cluster_start",
    "array",
    "environment_build",
    "prompt",
    "session_logs",
    "log_flood",
    "many_logs",
    "gateway",
    "ssh",
    "isolation",
    "events",
    "session_list",
    "image_list",
    "page_list",
    "first_cell",
    "guard",
    "at_scale",
    "placing",
    "planning",
    "accelerators",
    "files",
    "cli",
    "idle",
    "usage",
    "restart",
)
BY_NAME = ("kubernetes",)
"""Measured only if named: it takes a quarter of an hour, root, and what `./carrel test --only cluster` installs."""
_EXAMPLES = """\
examples:
  ./carrel bench                           measure everything
  ./carrel bench session_start gateway     some of it
  ./carrel bench -o json
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"error: {message} (usage)\nhint: ./carrel bench --help\n")
        raise SystemExit(2)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """names, output, yes. Raises: SystemExit."""
    parser = _Parser(
        prog="carrel bench",
        description="Measure Carrel against a bare equivalent on this machine, and print a table of ratios.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    all_names = (*NAMES, *BY_NAME)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(all_names)}")
    parser.add_argument("--yes", action="store_true", help="install what is missing without asking")
    parser.add_argument(
        "-o", "--output", choices=("table", "json"), default="table", help="how to print the table"
    )
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in all_names:
            near = difflib.get_close_matches(name, all_names, n=1)
            parser.error(
                f"there is no benchmark {name!r}"
                + (f"; did you mean {near[0]}?" if near else f"; there are {', '.join(all_names)}")
            )
    return options
