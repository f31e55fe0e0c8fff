"""Output of the operator's commands: progress on standard output, errors on standard error, and exit codes."""

import sys

from carrel.core.errors import CarrelError
from carrel.server.grammar import EXIT_USAGE

EXIT_FAILED, EXIT_DOWN = 1, 5


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def complain(error: CarrelError) -> int:
    """Print the error to standard error; returns the exit code."""
    sys.stderr.write(f"error: {error.message} ({error.code})\n")
    if error.hint:
        sys.stderr.write(f"hint: {error.hint}\n")
    return EXIT_USAGE if error.code.startswith("setup.") else EXIT_FAILED
