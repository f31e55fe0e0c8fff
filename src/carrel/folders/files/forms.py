"""Many small files as a web form (multipart/form-data, RFC 7578), unpacked like a tar file.

A browser sends the files of a form without reading them in a script first, at half the cost of the parts of a blob. The
first field, `files`, is a JSON array of `{"path": ..., "modified": seconds since 1970}`; the following fields are the
files, in that order.
"""

import tarfile
from collections.abc import Iterator
from email.message import Message
from functools import partial
from io import BytesIO
from typing import IO, Annotated

from multipart import MultipartError, MultipartSegment, PushMultipartParser
from pydantic import BaseModel, Field, StringConstraints, TypeAdapter, ValidationError

from carrel.core.errors import Invalid, TooLarge
from carrel.folders.files import arrivals, authorization, packs
from carrel.folders.files.arrivals import BATCH
from carrel.folders.files.schemas import PATH_PATTERN, FilesDone
from carrel.folders.files.services import FileServices
from carrel.http.body import Body
from carrel.permissions.decide import Actor
from carrel.storage.paths import names
from carrel.storage.tree import Clash

MEDIA_TYPE = "multipart/form-data"
_MOST_FILES = 1000
_MODE = 0o644


class FormFile(BaseModel):
    """Target path of a file in the form, and its modification time in seconds since 1970."""

    model_config = {"extra": "forbid"}

    path: Annotated[str, StringConstraints(pattern=PATH_PATTERN, min_length=1, max_length=4096)]
    modified: Annotated[float, Field(ge=0, lt=1 << 34)] = 0.0


_FILES = TypeAdapter(Annotated[list[FormFile], Field(max_length=_MOST_FILES)])


def is_form(body: Body) -> bool:
    """True if the body is a form."""
    return body.headers.get("content-type", "").partition(";")[0].strip().lower() == MEDIA_TYPE


async def unpack(
    services: FileServices, actor: Actor, ref: str, to: str, clash: Clash, body: Body
) -> FilesDone:
    """Unpack the files of a form into a directory.

    Raises: NotFound, Forbidden, Conflict, Refused, TooLarge, Invalid.
    """
    names(to)
    admitted = await authorization.inward(services, actor, ref)
    if not arrivals.is_small(body):
        raise TooLarge(
            "file.too_large",
            f"A form has at most {BATCH >> 20} MiB and declares its length.",
            hint="Send the files in several forms, and each large file on its own.",
        )
    content = b"".join(await arrivals.read(services, body, admitted.opened))
    await admitted.require(services, len(content), largest=0)
    entries = partial(FormEntries, content, body.headers["content-type"])
    return await packs.unpack_entries(services, admitted, entries, to, clash)


class FormEntries:
    """The files of a form as entries of an archive. Raises: Invalid."""

    def __init__(self, content: bytes, content_type: str) -> None:
        try:
            fields = list(_fields(content, _boundary(content_type)))
            about = _FILES.validate_json(fields[0] if fields else b"")
            self._left = iter(list(zip(about, fields[1:], strict=True)))
        except (MultipartError, ValidationError, ValueError):
            raise Invalid(
                "invalid.request",
                "The form is invalid or incomplete.",
                hint="Its first field, files, is a JSON array of paths and times; the files follow in that order.",
            ) from None
        self._content = b""

    def next(self) -> tarfile.TarInfo | None:
        """The next file; None at the end."""
        about, self._content = next(self._left, (None, b""))
        if about is None:
            return None
        member = tarfile.TarInfo(about.path)
        member.size, member.mode, member.mtime = len(self._content), _MODE, about.modified
        return member

    def seek(self, member: tarfile.TarInfo) -> IO[bytes]:
        """The content of this file, which is the last one."""
        return BytesIO(self._content)


def _boundary(content_type: str) -> str:
    parsed = Message()
    parsed["content-type"] = content_type
    return str(parsed.get_param("boundary", ""))


def _fields(content: bytes, boundary: str) -> Iterator[bytes]:
    """The content of each field. Raises: MultipartError, ValueError."""
    with PushMultipartParser(boundary, max_segment_count=_MOST_FILES + 1) as parser:
        pieces: list[bytes] = []
        for event in parser.parse(content):
            if isinstance(event, MultipartSegment):
                pieces = []
            elif event:
                pieces.append(bytes(event))
            else:
                yield b"".join(pieces)
