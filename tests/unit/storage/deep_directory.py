"""Directories in which tests make trees deeper than pytest can remove."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def deep_directory(path: Path) -> Iterator[Path]:
    """A new directory, removed at the end however deep it is."""
    path.mkdir()
    yield path
    subprocess.run(["rm", "-rf", path], check=True)
