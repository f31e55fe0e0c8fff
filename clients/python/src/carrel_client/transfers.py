"""Parallel transfers of files and directory trees between this machine and folders, resumed when repeated.

A directory is copied under its own name; with a trailing slash, only its contents are. Files that the target already
has with the same size and time are skipped.
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
    """Transfers files and directory trees between this machine and folders.

    clash, of every method: what to do with a file whose name is taken: "refuse" (it fails), "replace", "rename" (add a
    number) or "skip"; or a function that gets its path and returns one of these. told: called with the progress.
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
        """Upload files and directories into a directory of a folder, created if missing.

        follow: follow symbolic links, which are otherwise skipped. parts: parallel parts of a large file. checked: send
        a checksum with each part.
        Raises: CarrelError for errors that affect the whole transfer; errors of single files are in the result.
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
        """Upload one file under another name; otherwise as `upload`."""
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
        """Upload a stream to its end as one file, visible when it is complete. clash: neither "skip" nor a function.

        Otherwise as `upload`.
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
        """Download files and directories of a folder into a local directory, created if missing.

        The path "" is the whole folder, under its name; "/" is its contents. Raises: as `upload`.
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
        """Download one file under another name."""
        done = Transfer(Meter(told))
        walk = Down(self._files, folder, clash, done)
        with Bringing(1, done) as pool:
            walk.file(pool, self._files.show(folder, path=path), local)
            walk.finish()
        return done
