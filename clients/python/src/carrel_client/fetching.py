"""Download one file; it gets its final name when it is complete."""

from __future__ import annotations

import fcntl
import glob
import os
from datetime import datetime
from hashlib import sha256
from io import BufferedWriter

from carrel_client.errors import CarrelError
from carrel_client.files import Files
from carrel_client.sending import AT_ONCE, naming
from carrel_client.wire import WireError
from carrel_client.workers import Meter, Patience

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_BLOCK = 256 << 10
_LONGEST_NAME = 255
EXECUTABLE = 0o111
_MARK = 12


def fetch(files: Files, folder: str, entry: models.FileView, local: str, meter: Meter) -> None:
    """Download the file, replacing an existing one. A partial download of an earlier run is resumed.

    Raises: CarrelError, Stopped.
    """
    unfinished = part_of(local, entry)
    with naming(local), open(unfinished, "ab") as file:
        _keep_others_out(file, local)
        _Fetching(files, folder, entry, file, meter).run()
        _finish(unfinished, entry)
        os.replace(unfinished, local)
        if (entry["size_bytes"] or 0) > AT_ONCE:
            _forget_others(unfinished)
    meter.finished()


def part_of(local: str, entry: models.FileView) -> str:
    """The path of the partial download, different for each version of the file."""
    directory, name = os.path.split(local)
    mark = sha256(f"{entry['path']}\n{entry['etag']}".encode()).hexdigest()[:_MARK]
    stem = name.encode()[: _LONGEST_NAME - 20].decode(errors="ignore")
    return os.path.join(directory, f".{stem}.{mark}.part")


def _keep_others_out(file: BufferedWriter, local: str) -> None:
    """Lock the partial download against other runs. Raises: CarrelError."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CarrelError(
            "client.busy",
            f"Another command is downloading {local}.",
            status=409,
            hint="Run this command again when the other one has ended.",
        ) from None
    except OSError:
        pass  # a file system without locks


class _Fetching:
    def __init__(
        self, files: Files, folder: str, entry: models.FileView, file: BufferedWriter, meter: Meter
    ) -> None:
        self._files = files
        self._folder = folder
        self._entry = entry
        self._file = file
        self._meter = meter
        self._have = file.tell()
        self._etag = _quoted(entry["etag"])

    def run(self) -> None:
        patience = Patience(self._meter)
        self._meter.add(self._have)
        while True:
            before = self._have
            try:
                self._read()
                return
            except CarrelError as error:
                if error.status == 416 and self._have:
                    self._forget()
                    continue
                if self._have > before:
                    patience.renew()
                patience.after(error)

    def _read(self) -> None:
        if self._have and self._have == self._entry["size_bytes"]:
            return
        opened = self._files.download(
            self._folder, path=self._entry["path"], offset=self._have, etag=self._etag
        )
        with opened as answer:
            if answer.status != 206:
                self._forget()
            self._etag = answer.headers.get("etag", self._etag)
            for block in answer.blocks(_BLOCK):
                with naming(self._file.name):
                    self._file.write(block)
                self._have += len(block)
                self._meter.add(len(block))
            # Without a Content-Length a lost connection looks like the end.
            if self._etag == _quoted(self._entry["etag"]) and self._have < (self._entry["size_bytes"] or 0):
                raise WireError("the response was incomplete")
        with naming(self._file.name):
            self._file.flush()

    def _forget(self) -> None:
        """Discard the partial download: the file has changed."""
        with naming(self._file.name):
            self._file.truncate(0)
        self._meter.add(-self._have)
        self._have = 0


def _forget_others(unfinished: str) -> None:
    """Delete partial downloads of earlier versions. Lists the directory, which is too slow for small files."""
    directory, name = os.path.split(unfinished)
    stem = name.rpartition(".part")[0].rpartition(".")[0]
    for other in glob.glob(f"{glob.escape(os.path.join(directory, stem))}.{'?' * _MARK}.part"):
        os.unlink(other)


def _finish(unfinished: str, entry: models.FileView) -> None:
    seconds = datetime.fromisoformat(entry["modified_at"]).timestamp()
    mode = os.stat(unfinished).st_mode
    # Executable for those who may read it here.
    if int(entry["mode"], 8) & 0o100:
        os.chmod(unfinished, mode | (mode >> 2 & EXECUTABLE))
    os.utime(unfinished, (seconds, seconds))


def _quoted(etag: str | None) -> str | None:
    return f'"{etag}"' if etag and not etag.endswith('"') else etag
