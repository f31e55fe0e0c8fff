"""Files and whole trees between this machine and folders: several at a time, and gone on with when run again.

A directory goes into the place it is sent to, under its own name; with a slash behind it, only what is in it goes.
What is there already, with the same size and time, is not moved again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from carrel_client.down import Down
from carrel_client.files import Files, Uploads
from carrel_client.outcome import Bringing, Transfer
from carrel_client.sending import UploadTarget
from carrel_client.streaming import send_stream
from carrel_client.up import Up
from carrel_client.workers import Meter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    from carrel_client import models
    from carrel_client.outcome import Clash

_WORKERS = 4


class Transfers:
    """Moves files and trees between this machine and folders.

    clash, of every method: what becomes of a file whose name is taken by another: "refuse" (it fails), "replace",
    "rename" (it gets a number) or "skip"; or who is asked with its path and says so. told: hears how far it is.
    """

    def __init__(self, files: Files, uploads: Uploads) -> None:
        self._files = files
        self._uploads = uploads

    def upload(
        self,
        folder: str,
        sources: Sequence[str],
        to: str = "",
        *,
        clash: Clash = "refuse",
        follow: bool = False,
        workers: int = _WORKERS,
        parts: int = 1,
        checked: bool = False,
        told: Callable[[Meter], None] | None = None,
    ) -> Transfer:
        """Bring files and directories into a directory of a folder, which is made when it is not there.

        follow: symbolic links too, which are skipped else. parts: pieces of a large file that travel side by side.
        checked: with a checksum for each piece.
        Raises: CarrelError for what concerns all of it; what concerns one file is in the answer.
        """
        done = Transfer(Meter(told))
        place = UploadTarget(self._files, self._uploads, folder, checked=checked, parts=parts)
        walk = Up(place, clash, done, follow=follow)
        with Bringing(workers, done) as pool:
            for source in sources:
                walk.bring(pool, source, to)
            walk.finish()
        return done

    def upload_as(
        self,
        folder: str,
        source: str,
        path: str,
        *,
        clash: Clash = "refuse",
        parts: int = 1,
        checked: bool = False,
        told: Callable[[Meter], None] | None = None,
    ) -> Transfer:
        """Bring one file into a folder under another name. As `upload` else."""
        done = Transfer(Meter(told))
        place = UploadTarget(self._files, self._uploads, folder, checked=checked, parts=parts)
        walk = Up(place, clash, done, follow=True)
        with Bringing(1, done) as pool:
            walk.bring_as(pool, source, path)
            walk.finish()
        return done

    def upload_stream(
        self,
        folder: str,
        source: BinaryIO,
        path: str,
        *,
        clash: Clash = "refuse",
        told: Callable[[Meter], None] | None = None,
    ) -> Transfer:
        """Bring what can be read, until it ends, into one file of a folder; it is seen when it is whole.

        clash: without "skip"; nobody is asked. As `upload` else.
        """
        done = Transfer(Meter(told))
        place = UploadTarget(self._files, self._uploads, folder, checked=False, parts=1)
        on_clash: models.Clash = clash if clash == "replace" or clash == "rename" else "refuse"
        with Bringing(1, done) as pool:
            pool.give(path, lambda: send_stream(place, source, path, on_clash, done.meter))
        return done

    def download(
        self,
        folder: str,
        paths: Sequence[str],
        to: str = ".",
        *,
        clash: Clash = "refuse",
        workers: int = _WORKERS,
        told: Callable[[Meter], None] | None = None,
    ) -> Transfer:
        """Bring files and directories of a folder into a local directory, which is made when it is not there.

        A path "" is the whole folder, under its name; "/" is what is in it.
        Raises: as `upload`.
        """
        done = Transfer(Meter(told))
        walk = Down(self._files, folder, clash, done)
        with Bringing(workers, done) as pool:
            for path in dict.fromkeys(paths):
                walk.bring(pool, path, to)
            walk.finish()
        return done

    def download_as(
        self,
        folder: str,
        path: str,
        local: str,
        *,
        clash: Clash = "refuse",
        told: Callable[[Meter], None] | None = None,
    ) -> Transfer:
        """Bring one file of a folder here under another name."""
        done = Transfer(Meter(told))
        walk = Down(self._files, folder, clash, done)
        with Bringing(1, done) as pool:
            walk.file(pool, self._files.show(folder, path=path), local)
            walk.finish()
        return done
