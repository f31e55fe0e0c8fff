"""Compression of what an app sends uncompressed: JupyterLab's page alone has some ten megabytes of scripts.

Only text of a known length: what an app streams must arrive when it is sent.
"""

import zlib
from collections.abc import Sequence

from carrel.gateway.headers import RawHeaders, first

LEAST_BYTES, MOST_BYTES = 1024, 16 << 20
"""Below, it does not pay; above, it is no page but a download, which would keep others waiting."""
_FASTEST = 1
_GZIP = 31
_OF_THE_PLAIN_BODY = (b"accept-ranges", b"content-digest", b"content-md5", b"digest")
_TYPES = frozenset(
    {
        b"application/javascript",
        b"application/json",
        b"application/wasm",
        b"application/xml",
        b"image/svg+xml",
    }
)


class Compression:
    """The compressed body of one response, piece by piece."""

    def __init__(self) -> None:
        self._compressor = zlib.compressobj(_FASTEST, wbits=_GZIP)

    def add(self, parts: Sequence[bytes]) -> bytes:
        """What can be sent after these parts; may be empty."""
        return b"".join(map(self._compressor.compress, parts))

    def end(self) -> bytes:
        return self._compressor.flush()


def compression(request: RawHeaders, response: RawHeaders) -> Compression | None:
    """For a whole response with a body; None: it is sent as it is."""
    accepted = first(request, b"accept-encoding") or b""
    length = first(response, b"content-length") or b"0"
    kind = (first(response, b"content-type") or b"").partition(b";")[0].strip().lower()
    unwanted = (
        not _takes_gzip(accepted)
        or not LEAST_BYTES <= int(length) <= MOST_BYTES
        or not (kind.startswith(b"text/") or kind in _TYPES or kind.endswith(b"+json"))
        or first(response, b"content-encoding") is not None
        or b"no-transform" in (first(response, b"cache-control") or b"").lower()
    )
    return None if unwanted else Compression()


def compressed_headers(response: RawHeaders) -> list[tuple[bytes, bytes]]:
    """The headers of the response once its body is compressed, which is no longer the same byte by byte."""
    kept = []
    for name, value in response:
        key = name.lower()
        if key in _OF_THE_PLAIN_BODY:
            continue
        if key == b"etag" and not value.startswith(b"W/"):
            value = b"W/" + value
        kept.append((name, value))
    return [*kept, (b"Content-Encoding", b"gzip"), (b"Vary", b"Accept-Encoding")]


def _takes_gzip(accepted: bytes) -> bool:
    for one in accepted.lower().split(b","):
        coding, _, weight = one.partition(b";")
        if coding.strip() == b"gzip":
            return weight.replace(b" ", b"") not in (b"q=0", b"q=0.0", b"q=0.00", b"q=0.000")
    return False
