"""Storages of their own for the conformance suite, taken away afterwards."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from carrel.storage.port import StorageBackend


class OfRoot:
    """A harness for whatever keeps folders below a directory."""

    def __init__(self, make: Callable[[Path], StorageBackend], root: Path) -> None:
        self._make = make
        self._root = root
        self.backend = make(root)
        self.backend.probe()
        self.backend.claim()

    def another(self) -> StorageBackend:
        return self._make(self._root)

    def settle(self) -> None:
        os.sync()


@contextmanager
def rooted_at(root: Path, make: Callable[[Path], StorageBackend]) -> Iterator[OfRoot]:
    """Such a harness, until the block ends; what is left then is too deep for pytest to remove."""
    yield OfRoot(make, root)
    subprocess.run(["rm", "-rf", root], check=True)
