"""Operations with binary bodies: contents of files, zip files, and uploads by tus 1.0."""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Iterator, Mapping, Sequence

from carrel_client import operations
from carrel_client.errors import not_carrel
from carrel_client.operations import UNSET
from carrel_client.transport import Opened, segment
from carrel_client.wire import FilePart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_API = "/api/v1"
_OFFSETS = {"Content-Type": "application/offset+octet-stream"}
_TUS = {"Tus-Resumable": "1.0.0"}
_JOIN_TIMEOUT_S = 1800.0
_FETCH_TIMEOUT_S = 150.0
"""More than the two minutes after which the server gives up."""
_READ_TIMEOUT_S = 930.0
"""More than the quarter of an hour after which the server gives up."""


class Environments(operations.Environments):
    def send_context(self, *, content: bytes) -> models.BuildContextView:
        """Send the files of a build, as a tar file, which may be compressed."""
        import json

        headers = {"Content-Type": "application/x-tar"}
        _, text = self._transport.exchange(
            "POST", f"{_API}/environments/contexts", headers=headers, body=content
        )
        sent: models.BuildContextView = json.loads(text)
        return sent

    def fetch_context(
        self, *, url: str, key: str = UNSET, path: str = UNSET, ref: str = UNSET, token: str = UNSET
    ) -> models.BuildContextView:
        """The server fetches one commit, which takes at most two minutes."""
        patient = operations.Environments(self._transport.patient(_FETCH_TIMEOUT_S))
        return patient.fetch_context(url=url, key=key, path=path, ref=ref, token=token)

    def read_context(self, *, folder: str, path: str = UNSET) -> models.BuildContextView:
        """A directory of a folder as it is now, without what its .dockerignore names."""
        patient = operations.Environments(self._transport.patient(_READ_TIMEOUT_S))
        return patient.read_context(folder=folder, path=path)


class Files(operations.Files):
    """The files of a folder. Paths are relative to it, with / between names."""

    def download(
        self, ref: str, *, path: str, offset: int = 0, etag: str | None = None, until: int | None = None
    ) -> Opened:
        """The content of a file, to be read in a `with` block.

        offset, until: the range of bytes, without `until`. etag: if the file has changed, the status is 200 instead of
        206, with the whole file.
        """
        headers = {}
        if offset or until is not None:
            headers["Range"] = f"bytes={offset}-{'' if until is None else until - 1}"
            if etag:
                headers["If-Range"] = etag
        return self._transport.open(_folder(ref, "content"), query={"path": path}, headers=headers)

    def write(
        self, ref: str, *, path: str, content: bytes, etag: str | None = None, new: bool = False
    ) -> models.FileView:
        """Create or replace a file. etag: only if it is unchanged. new: only if it does not exist."""
        import json

        headers = {"Content-Type": "application/octet-stream"}
        headers |= {"If-Match": etag} if etag else {"If-None-Match": "*"} if new else {}
        _, text = self._transport.exchange(
            "PUT", _folder(ref, "content"), query={"path": path}, headers=headers, body=content
        )
        written: models.FileView = json.loads(text)
        return written

    def unpack(
        self, ref: str, *, body: bytes, path: str = "", clash: models.Clash = "refuse"
    ) -> models.FilesDone:
        """Unpack a tar file of small files into a directory of the folder."""
        import json

        _, text = self._transport.exchange(
            "POST",
            _folder(ref, "files", "unpack"),
            query={"path": path, "clash": clash},
            headers={"Content-Type": "application/x-tar"},
            body=body,
        )
        done: models.FilesDone = json.loads(text)
        return done

    def pack(self, ref: str, *, paths: Sequence[str]) -> Opened:
        """Small files as a tar file, to be read in a `with` block."""
        return self._transport.open(_folder(ref, "files", "pack"), sent={"paths": list(paths)})

    def archive(self, ref: str, *, paths: Sequence[str]) -> Iterator[bytes]:
        """Files and directories as a zip file, streamed; "" is the whole folder."""
        return self._transport.stream(
            _folder(ref, "archive"), query={"path": list(paths)}, patience=lambda: 60.0
        )

    def by_link(self, token: str) -> Iterator[bytes]:
        """The content behind a download link, streamed."""
        return self._transport.stream(f"{_API}/downloads/{segment(token)}", patience=lambda: 60.0)


class UploadState:
    """The progress of an upload. length: None while unknown. metadata: as given at its creation."""

    __slots__ = ("length", "metadata", "offset")

    def __init__(self, offset: int, length: int | None, metadata: Mapping[str, str]) -> None:
        self.offset = offset
        self.length = length
        self.metadata = metadata


class Uploads(operations.Uploads):
    """Single requests of uploads. `Transfers.upload` uploads whole files and trees."""

    def options(self, ref: str) -> dict[str, str]:
        """The server's tus extensions, as headers."""
        return self._transport.exchange("OPTIONS", _folder(ref, "uploads"), headers=_TUS)[0]

    def create(
        self,
        ref: str,
        *,
        length: int | None,
        metadata: Mapping[str, str],
        body: bytes | None = None,
        partial: bool = False,
    ) -> tuple[str, int]:
        """The id of a new upload, and how many bytes of the body the server has.

        length: None if only the last request tells it. metadata: `path`, optionally `clash` and `modified`. partial: a
        part of an upload that `join` completes.
        """
        known = {"Upload-Defer-Length": "1"} if length is None else {"Upload-Length": str(length)}
        headers = _TUS | known | {"Upload-Metadata": _spelled(metadata)}
        headers |= {"Upload-Concat": "partial"} if partial else {}
        headers |= _OFFSETS if body is not None else {}
        answer, _ = self._transport.exchange(
            "POST", _folder(ref, "uploads"), headers=headers, body=body or b""
        )
        return _made(answer), int(answer.get("upload-offset", "0"))

    def join(self, ref: str, *, parts: Sequence[str], metadata: Mapping[str, str]) -> str:
        """Join partial uploads to a file; returns the id of the upload."""
        places = " ".join(_folder(ref, "uploads", part) for part in parts)
        headers = _TUS | {"Upload-Concat": f"final;{places}", "Upload-Metadata": _spelled(metadata)}
        answer, _ = self._transport.exchange(
            "POST", _folder(ref, "uploads"), headers=headers, body=b"", timeout_s=_JOIN_TIMEOUT_S
        )
        return _made(answer)

    def show(self, ref: str, upload: str) -> UploadState:
        """The progress of the upload."""
        answer, _ = self._transport.exchange("HEAD", _folder(ref, "uploads", upload), headers=_TUS)
        length = answer.get("upload-length", "")
        return UploadState(
            self._arrived(answer),
            int(length) if length else None,
            _metadata(answer.get("upload-metadata", "")),
        )

    def append(
        self,
        ref: str,
        upload: str,
        *,
        offset: int,
        body: bytes | FilePart,
        checksum: str | None = None,
        length: int | None = None,
    ) -> int:
        """Append bytes; returns the new offset.

        checksum: of the body, "sha1" and its digest in base64. length: of the whole file, if not given before.
        """
        headers = _TUS | _OFFSETS | {"Upload-Offset": str(offset)}
        headers |= {} if length is None else {"Upload-Length": str(length)}
        headers |= {"Upload-Checksum": checksum} if checksum else {}
        answer, _ = self._transport.exchange(
            "PATCH", _folder(ref, "uploads", upload), headers=headers, body=body
        )
        return self._arrived(answer)

    def remove(self, ref: str, upload: str) -> None:
        """Abort an upload."""
        self._transport.exchange("DELETE", _folder(ref, "uploads", upload), headers=_TUS)

    def _arrived(self, answer: Mapping[str, str]) -> int:
        offset = answer.get("upload-offset", "")
        if not offset.isdecimal():
            raise not_carrel(self._transport.target.url)
        return int(offset)


def _folder(ref: str, *parts: str) -> str:
    return "/".join([f"{_API}/vfolders", *map(segment, (ref, *parts))])


def _made(answer: Mapping[str, str]) -> str:
    return answer.get("location", "").rstrip("/").rpartition("/")[2]


def _spelled(metadata: Mapping[str, str]) -> str:
    pairs = (f"{key} {b2a_base64(value.encode(), newline=False).decode()}" for key, value in metadata.items())
    return ",".join(pairs)


def _metadata(text: str) -> dict[str, str]:
    pairs = (pair.strip().partition(" ") for pair in text.split(",") if pair.strip())
    return {key: a2b_base64(value).decode("utf-8", "replace") for key, _, value in pairs}
