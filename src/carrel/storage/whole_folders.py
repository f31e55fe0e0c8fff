"""Whole folders from one place to another, of one storage or of two.

A copy is made in the target's stage and becomes the target's files by one rename: half a folder is nowhere to be
seen. Each attempt has a name of its own there, so that one that was given up, and whose thread does not know it yet,
cannot spoil the next.
"""

import os

from carrel.storage.copies import copy_tree
from carrel.storage.paths import directory
from carrel.storage.port import Advance, Clone, FolderLocation, StorageBackend, StorageUnavailable, Tick
from carrel.storage.walk import remove_tree


def fill(
    source: StorageBackend,
    there: FolderLocation,
    target: StorageBackend,
    here: FolderLocation,
    attempt: str,
    tick: Tick,
) -> None:
    """Make the target a copy of the source, up to the last step, which is `show`.

    source, target: the same object where it is the same storage. attempt: "<what for>.<number>". Again, after it was
    shown: no-op. Raises: StorageError, OSError, what tick raises.
    """
    if source is target and isinstance(source, Clone):
        source.clone(there, here)
        return
    target.create(here)
    with (
        directory(source.files(there), "") as files,
        directory(target.stage(here), "") as stage,
        directory(target.files(here), "") as shown,
    ):
        if os.listdir(shown):
            return
        _sweep(stage, attempt, tick)
        copy_tree(files, stage, attempt, tick)


def show(target: StorageBackend, here: FolderLocation, attempt: str) -> None:
    """Make what `fill` brought the target's files. Twice, or when another attempt was faster: no-op."""
    try:
        os.rename(target.stage(here) / attempt, target.files(here))
    except FileNotFoundError:
        if not target.files(here).is_dir():
            raise StorageUnavailable(f"The folder {here.folder} is not where it was put.") from None
    except OSError:
        with directory(target.files(here), "") as shown, directory(target.stage(here), "") as stage:
            if not os.listdir(shown):
                raise
            remove_tree(stage, attempt, lambda _: None)


def rehome(storage: StorageBackend, old: FolderLocation, new: FolderLocation, tick: Tick) -> None:
    """Have a folder count against another scope's quota. Twice: no-op."""
    storage.rescope(old, new)
    tick(Advance(0, 0))


def _sweep(stage: int, attempt: str, tick: Tick) -> None:
    """Delete what other attempts at the same have left."""
    begins = attempt.rpartition(".")[0] + "."
    for name in os.listdir(stage):
        if name.startswith(begins) and name != attempt:
            remove_tree(stage, name, tick)
