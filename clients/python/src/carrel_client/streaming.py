"""Upload a stream, such as a pipe, whose length is known only at its end."""

from __future__ import annotations

from contextlib import suppress

from carrel_client.errors import CarrelError
from carrel_client.sending import UploadTarget, received_bytes
from carrel_client.workers import Meter, Patience

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    from carrel_client import models

_PIECE = 8 << 20
"""Buffered until the server has received it, because a pipe cannot be read again."""


def send_stream(place: UploadTarget, source: BinaryIO, path: str, clash: models.Clash, meter: Meter) -> None:
    """Upload the stream as a file of the folder. Raises: CarrelError, Stopped."""
    upload = _begun(place, {"path": path, "clash": clash}, meter)
    try:
        offset = _brought(place, upload, source, meter)
    except BaseException:
        # It cannot be resumed: the pipe cannot be read again.
        with suppress(CarrelError):
            place.uploads.remove(place.folder, upload)
        raise
    meter.add_file(offset)
    meter.finished()


def _brought(place: UploadTarget, upload: str, source: BinaryIO, meter: Meter) -> int:
    """Send the stream to its end; returns its length."""
    offset, piece = 0, source.read(_PIECE)
    while True:
        following = source.read(_PIECE) if piece else b""
        _push(place, upload, offset, piece, meter, last=not following)
        offset += len(piece)
        if not following:
            return offset
        piece = following


def _begun(place: UploadTarget, metadata: dict[str, str], meter: Meter) -> str:
    patience = Patience(meter)
    while True:
        try:
            return place.uploads.create(place.folder, length=None, metadata=metadata)[0]
        except CarrelError as error:
            patience.after(error)


def _push(place: UploadTarget, upload: str, offset: int, piece: bytes, meter: Meter, *, last: bool) -> None:
    """Send a piece, resuming after connection failures. last: it completes the upload."""
    end = offset + len(piece)
    at, patience, ended = offset, Patience(meter), False
    while at < end or (last and not ended):
        before = at
        try:
            at = place.uploads.append(
                place.folder, upload, offset=at, body=piece[at - offset :], length=end if last else None
            )
            ended = at == end
            patience.renew()
        except CarrelError as error:
            at = received_bytes(place, upload, error, patience, at)
            if not offset <= at <= end:
                raise
        meter.add(at - before)
