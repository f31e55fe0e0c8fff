"""Copies of whole folders, within one storage or between two.

A copy is created in the target's stage and becomes the target's files by one rename, so that a partial copy is never
visible. Each attempt has its own name there, so that an abandoned attempt whose thread still runs cannot damage the
next.
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
    """Copy the source to the target, except for the last step, `show`.

    source, target: the same object if the storage is the same. attempt: "<purpose>.<number>". Repeated after `show`:
    no-op. Raises: StorageError, OSError, exceptions of tick.
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
    """Publish the result of `fill` as the target's files. Twice, or if another attempt was faster: no-op."""
    try:
        os.rename(target.stage(here) / attempt, target.files(here))
    except FileNotFoundError:
        if not target.files(here).is_dir():
            raise StorageUnavailable(f"The folder {here.folder} is missing on its storage host.") from None
    except OSError:
        with directory(target.files(here), "") as shown, directory(target.stage(here), "") as stage:
            if not os.listdir(shown):
                raise
            remove_tree(stage, attempt, lambda _: None)


def rehome(storage: StorageBackend, old: FolderLocation, new: FolderLocation, tick: Tick) -> None:
    """Move a folder to another scope's quota. Twice: no-op."""
    storage.rescope(old, new)
    tick(Advance(0, 0))


def _sweep(stage: int, attempt: str, tick: Tick) -> None:
    """Delete the remains of other attempts of the same copy."""
    begins = attempt.rpartition(".")[0] + "."
    for name in os.listdir(stage):
        if name.startswith(begins) and name != attempt:
            remove_tree(stage, name, tick)
