"""tus 1.0 headers. Source: https://tus.io/protocols/resumable-upload, version 1.0.0."""

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from typing import Any

from carrel.core.errors import CarrelError
from carrel.storage.tree import Clash

VERSION = "1.0.0"
EXTENSIONS = (
    "creation",
    "creation-with-upload",
    "creation-defer-length",
    "termination",
    "checksum",
    "expiration",
    "concatenation",
)
ALGORITHMS = ("sha1", "sha256", "md5")
OFFSET_TYPE = "application/offset+octet-stream"
LARGEST = (1 << 63) - 1
_MOST_PARTS = 1000
_SECONDS = re.compile(r"\d{1,10}(\.\d{1,9})?", re.ASCII)


class BadRequest(CarrelError):
    status = 400


class WrongVersion(CarrelError):
    status = 412


class WrongType(CarrelError):
    status = 415


class ChecksumMismatch(CarrelError):
    """Status 460 is defined by the protocol."""

    status = 460


@dataclass(frozen=True)
class Checksum:
    algorithm: str
    digest: bytes

    def begun(self) -> Any:
        return hashlib.new(self.algorithm, usedforsecurity=False)

    def require(self, received: bytes) -> None:
        """Raises: ChecksumMismatch."""
        if received != self.digest:
            raise ChecksumMismatch(
                "upload.checksum",
                "The checksum does not match the received data.",
                hint="Send this part again.",
            )


@dataclass(frozen=True)
class Creation:
    """length: None while the client does not know it. parts: ids of the parts to concatenate; otherwise none.

    has_body: the request carries the first bytes. path: "" for a partial upload.
    """

    length: int | None
    metadata: str
    path: str
    clash: Clash
    partial: bool
    parts: tuple[str, ...]
    has_body: bool
    checksum: Checksum | None


def require_version(headers: Mapping[str, str]) -> None:
    """Raises: WrongVersion."""
    if headers.get("tus-resumable") != VERSION:
        raise WrongVersion(
            "upload.version",
            f"The server supports version {VERSION} of tus.",
            hint=f"Send Tus-Resumable: {VERSION}.",
            field="Tus-Resumable",
        )


def creation(headers: Mapping[str, str]) -> Creation:
    """The requested upload. Raises: BadRequest, WrongType."""
    metadata_text = headers.get("upload-metadata", "")
    metadata = _metadata(metadata_text)
    partial, parts = _concat(headers.get("upload-concat", ""))
    length = number(headers, "upload-length")
    deferred = headers.get("upload-defer-length")
    if deferred not in (None, "1"):
        raise _bad("Upload-Defer-Length", "is 1 or left out")
    if parts:
        if length is not None or deferred:
            raise _bad("Upload-Length", "is left out when parts are put together")
    elif (length is None) is (deferred is None):
        raise _bad("Upload-Length", "or Upload-Defer-Length must be there, and not both")
    path = path_of(metadata_text)
    if not path and not partial:
        raise _bad("Upload-Metadata", "must have path, where the file is to be")
    has_body = "content-type" in headers and not parts
    if has_body:
        require_type(headers)
    clash = _clash(metadata.get("clash", Clash.REFUSE), "Upload-Metadata")
    modified_ns(metadata_text)
    return Creation(
        length, metadata_text, "" if partial else path, clash, partial, parts, has_body, checksum(headers)
    )


def path_of(metadata_text: str) -> str:
    """The target path of the file; "" if not specified. Raises: BadRequest."""
    metadata = _metadata(metadata_text)
    return metadata.get("path") or metadata.get("filename") or ""


def modified_ns(metadata_text: str) -> int | None:
    """The modification time of the client's file, if sent. Raises: BadRequest."""
    text = _metadata(metadata_text).get("modified")
    if text is None:
        return None
    if not _SECONDS.fullmatch(text):
        raise _bad("Upload-Metadata", "has as modified seconds since 1970, as 1700000000.25")
    seconds, _, fraction = text.partition(".")
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0"))


def executable(metadata_text: str) -> bool:
    """True if the client's file is executable."""
    return _metadata(metadata_text).get("executable") == "1"


def require_type(headers: Mapping[str, str]) -> None:
    """Raises: WrongType."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() != OFFSET_TYPE:
        raise WrongType(
            "upload.type", f"The content type of upload data is {OFFSET_TYPE}.", field="Content-Type"
        )


def clash(headers: Mapping[str, str]) -> Clash | None:
    """A policy for a taken name that overrides the one of the upload. Raises: BadRequest."""
    text = headers.get("carrel-clash")
    return None if text is None else _clash(text, "Carrel-Clash")


def number(headers: Mapping[str, str], name: str) -> int | None:
    """A header with a byte count. Raises: BadRequest."""
    text = headers.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > 19 or int(text) > LARGEST:
        raise _bad(name.title(), "is a number of bytes")
    return int(text)


def checksum(headers: Mapping[str, str]) -> Checksum | None:
    """The expected checksum of the body of this request. Raises: BadRequest."""
    text = headers.get("upload-checksum")
    if text is None:
        return None
    algorithm, _, encoded = text.strip().partition(" ")
    if algorithm not in ALGORITHMS:
        raise _bad("Upload-Checksum", f"begins with one of {', '.join(ALGORITHMS)}")
    result = Checksum(algorithm, _decoded(encoded, "Upload-Checksum"))
    if len(result.digest) != result.begun().digest_size:
        raise _bad("Upload-Checksum", "is not as long as its algorithm makes it")
    return result


def missing(header: str) -> BadRequest:
    return _bad(header, "is missing")


def date(at: datetime) -> str:
    """Format a date for Upload-Expires."""
    return format_datetime(at, usegmt=True)


def _metadata(text: str) -> dict[str, str]:
    metadata: dict[str, str] = {}
    for pair in text.split(",") if text.strip() else ():
        key, _, value = pair.strip().partition(" ")
        if not key or key in metadata:
            raise _bad("Upload-Metadata", "has pairs of a name, which comes once, and a value in base64")
        try:
            metadata[key] = _decoded(value, "Upload-Metadata").decode()
        except UnicodeDecodeError:
            raise _bad("Upload-Metadata", "holds UTF-8") from None
    return metadata


def _concat(text: str) -> tuple[bool, tuple[str, ...]]:
    """Whether the upload is partial; the ids of the parts of a final one."""
    if text in ("", "partial"):
        return bool(text), ()
    kind, _, urls = text.partition(";")
    parts = tuple(url.rstrip("/").rpartition("/")[2] for url in urls.split())
    if kind != "final" or not 0 < len(parts) <= _MOST_PARTS:
        raise _bad("Upload-Concat", f"is partial, or final; and 1 to {_MOST_PARTS} addresses")
    return False, parts


def _clash(text: str, header: str) -> Clash:
    try:
        return Clash(text)
    except ValueError:
        raise _bad(header, f"has as clash one of {', '.join(Clash)}") from None


def _decoded(text: str, header: str) -> bytes:
    try:
        return base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        raise _bad(header, "has its values in base64") from None


def _bad(header: str, sentence: str) -> BadRequest:
    return BadRequest(
        "upload.header", f"{header} {sentence}.", hint="See docs/reference/uploads.md.", field=header
    )
