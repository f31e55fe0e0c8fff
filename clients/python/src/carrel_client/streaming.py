"""What comes through a pipe on its way into a folder: its length is known when it has ended."""

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
"""So much is kept until the server has it: what comes through a pipe comes once."""


def send_stream(place: UploadTarget, source: BinaryIO, path: str, clash: models.Clash, meter: Meter) -> None:
    """Bring what can be read into a file of the folder. Raises: CarrelError, Stopped."""
    upload = _begun(place, {"path": path, "clash": clash}, meter)
    try:
        offset = _brought(place, upload, source, meter)
    except BaseException:
        # Nobody can go on with it: what came through the pipe is gone.
        with suppress(CarrelError):
            place.uploads.remove(place.folder, upload)
        raise
    meter.add_file(offset)
    meter.finished()


def _brought(place: UploadTarget, upload: str, source: BinaryIO, meter: Meter) -> int:
    """Have the server have all that can be read; how much it is."""
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
    """Have the server have a piece, wherever a line breaks. last: with it, the upload is complete."""
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
