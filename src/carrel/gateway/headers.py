"""Which headers cross the gateway, and how they change on the way.

Towards an app: nothing that belongs to the control plane, nothing that names only this hop, nothing about the
client that the client says itself. Towards the browser: no cookie for anybody but this app's own host.
"""

import base64
import binascii
from collections.abc import Iterable, Iterator

RawHeaders = Iterable[tuple[bytes, bytes]]

COOKIE = b"carrel_app"
_OUR_COOKIES = b"carrel_"
_ACCESS_KEY = b"CK"
_HOP_BY_HOP = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"proxy-authenticate", b"proxy-authorization", b"te",
     b"trailer", b"transfer-encoding", b"upgrade"}
)  # fmt: skip
# Besides: who the client is, which only we may say, and what the control plane's page says to its server.
_NOT_TO_APPS = _HOP_BY_HOP | {
    b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-forwarded-port",
    b"x-forwarded-server", b"x-real-ip", b"x-carrel-csrf", b"content-length",
}  # fmt: skip
_LOOKED_AT = _NOT_TO_APPS | {b"cookie", b"authorization"}
_NOT_TO_BROWSERS = _HOP_BY_HOP | {b"content-length", b"x-carrel-error"}
_DEFAULT_REFERRER_POLICY = b"Referrer-Policy: same-origin\r\n"


def request_lines(headers: RawHeaders, *, replaced: bytes | None) -> list[bytes]:
    """The header lines that an app gets of a client's request, framing aside.

    replaced: lower-case name of a header that the gateway sets itself, such as b"authorization".
    """
    headers = tuple(headers)
    named = _named_by_connection(headers)
    lines = []
    for name, value in headers:
        key = name.lower()
        if key in _LOOKED_AT:
            if key == b"cookie":
                value = app_cookies(value)
                if not value:
                    continue
            elif key != b"authorization" or is_keypair(value):
                continue
        if key == replaced or key in named:
            continue
        lines.append(b"%b: %b\r\n" % (name, value))
    return lines


def response_lines(headers: RawHeaders) -> list[bytes]:
    """The header lines that a browser gets of an app's response, framing aside."""
    headers = tuple(headers)
    named = _named_by_connection(headers)
    lines = []
    has_policy = False
    for name, value in headers:
        key = name.lower()
        if key in _NOT_TO_BROWSERS or key in named:
            continue
        if key == b"set-cookie":
            cookie = host_only(value)
            if cookie is None:
                continue
            value = cookie
        elif key == b"referrer-policy":
            has_policy = True
        lines.append(b"%b: %b\r\n" % (name, value))
    if not has_policy:
        lines.append(_DEFAULT_REFERRER_POLICY)
    return lines


def first(headers: RawHeaders, wanted: bytes) -> bytes | None:
    """Value of the first header of that lower-case name."""
    return next((value for name, value in headers if name.lower() == wanted), None)


def grants_in(headers: RawHeaders) -> list[str]:
    """The values of our own cookie. A sibling origin may have planted another, hence all of them."""
    found = []
    for name, value in headers:
        if name.lower() == b"cookie" and COOKIE in value:
            found += [
                text.decode("latin-1") for key, text in _cookies(value) if key == COOKIE and text.isascii()
            ]
    return found


def app_cookies(value: bytes) -> bytes:
    """A Cookie header's value without the cookies that are ours."""
    if _OUR_COOKIES not in value:
        return value
    parts = (part.strip() for part in value.split(b";"))
    return b"; ".join(part for part in parts if part and not part.startswith(_OUR_COOKIES))


def host_only(value: bytes) -> bytes | None:
    """A Set-Cookie header's value without its Domain; None when it would set a cookie of ours."""
    name, *attributes = value.split(b";")
    if name.strip().startswith(_OUR_COOKIES):
        return None
    kept = [part for part in attributes if part.split(b"=", 1)[0].strip().lower() != b"domain"]
    return b";".join([name, *kept])


def is_keypair(authorization: bytes) -> bool:
    """Whether these are credentials for the control plane, sent here by mistake."""
    scheme, _, encoded = authorization.strip().partition(b" ")
    if scheme.lower() != b"basic":
        return False
    try:
        return base64.b64decode(encoded.strip()).startswith(_ACCESS_KEY)
    except (binascii.Error, ValueError):
        return False


def _cookies(value: bytes) -> Iterator[tuple[bytes, bytes]]:
    for part in value.split(b";"):
        key, _, text = part.strip().partition(b"=")
        yield key, text


def _named_by_connection(headers: tuple[tuple[bytes, bytes], ...]) -> frozenset[bytes]:
    """Headers that a Connection header declares to be for this hop only."""
    for name, value in headers:
        if len(name) == 10 and name.lower() == b"connection":
            named = {token.strip() for token in value.lower().split(b",")}
            return frozenset(named - {b"close", b"keep-alive", b"upgrade", b"cookie", b"host"})
    return frozenset()
