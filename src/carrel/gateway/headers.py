"""Filtering and rewriting of headers at the gateway.

Removed towards an app: control plane credentials, hop-by-hop headers, and forwarding headers set by the client. Removed
towards the browser: cookies for any other host than the app's.

A jar is the prefix of the names of one app's cookies in the browser, where apps share a host; see `app_routes.py`.
"""

import base64
import binascii
from collections.abc import Iterable, Iterator

RawHeaders = Iterable[tuple[bytes, bytes]]

_OUR_COOKIES = b"carrel_"
_ACCESS_KEY = b"CK"
_OUR_TOKENS = b"carrel_"
_APP_TOKENS = b"carrel_app_"
_APP_AUTHORIZATION = b"x-carrel-authorization"
_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
# Also forwarding headers, which only the gateway may set, and headers of the control plane's page.
_NOT_TO_APPS = _HOP_BY_HOP | {
    b"forwarded",
    b"x-forwarded-for",
    b"x-forwarded-host",
    b"x-forwarded-proto",
    b"x-forwarded-port",
    b"x-forwarded-server",
    b"x-real-ip",
    b"x-carrel-csrf",
    b"content-length",
    _APP_AUTHORIZATION,
}
_LOOKED_AT = _NOT_TO_APPS | {b"cookie", b"authorization"}
_NOT_TO_BROWSERS = _HOP_BY_HOP | {b"content-length", b"x-carrel-error"}
_FOR_THE_WHOLE_HOST = frozenset({b"clear-site-data", b"strict-transport-security"})
_DEFAULT_REFERRER_POLICY = b"Referrer-Policy: same-origin\r\n"


def request_lines(headers: RawHeaders, *, replaced: bytes | None, jar: bytes = b"") -> list[bytes]:
    """The request headers for the app, without framing.

    replaced: lower-case name of a header that the gateway sets itself, such as b"authorization".
    """
    headers = tuple(headers)
    named = _named_by_connection(headers)
    lines = []
    for name, value in headers:
        key = name.lower()
        if key in _LOOKED_AT:
            if key == b"cookie":
                value = app_cookies(value, jar)
                if not value:
                    continue
            elif key != b"authorization" or is_ours(value):
                continue
        if key == replaced or key in named:
            continue
        lines.append(b"%b: %b\r\n" % (name, value))
    return lines


def with_cookies(auth: bytes, headers: RawHeaders, jar: bytes = b"") -> bytes:
    """The gateway's own Cookie line, with the browser's cookies for the app except one of the same name."""
    own = auth.partition(b":")[2].strip()
    name = own.partition(b"=")[0]
    parts = (
        part.strip()
        for field, value in headers
        if field.lower() == b"cookie"
        for part in app_cookies(value, jar).split(b";")
    )
    others = [part for part in parts if part and part.partition(b"=")[0] != name]
    return b"Cookie: %b\r\n" % b"; ".join([own, *others])


def response_lines(headers: RawHeaders, jar: bytes = b"") -> list[bytes]:
    """The response headers for the browser, without framing."""
    headers = tuple(headers)
    named = _named_by_connection(headers)
    lines = []
    has_policy = False
    for name, value in headers:
        key = name.lower()
        if key in _NOT_TO_BROWSERS or key in named or (jar and key in _FOR_THE_WHOLE_HOST):
            continue
        if key == b"set-cookie":
            cookie = host_only(value, jar)
            if cookie is None:
                continue
            value = cookie
        elif key == b"referrer-policy":
            has_policy = True
        lines.append(b"%b: %b\r\n" % (name, value))
    if not has_policy:
        lines.append(_DEFAULT_REFERRER_POLICY)
    return lines


def first(headers: RawHeaders, field: bytes) -> bytes | None:
    """Value of the first header of that lower-case name."""
    return next((value for name, value in headers if name.lower() == field), None)


def grants_in(headers: RawHeaders, cookie: bytes) -> list[str]:
    """Candidate credentials: app tokens, then the values of Carrel's cookie with that name.

    A sibling origin may have planted another cookie of that name, hence all of them.
    """
    tokens, cookies = [], []
    for name, value in headers:
        key = name.lower()
        if key in (b"authorization", _APP_AUTHORIZATION):
            token = bearer(value)
            if token.startswith(_APP_TOKENS) and token.isascii():
                tokens.append(token.decode())
        elif key == b"cookie" and cookie in value:
            cookies += [
                text.decode("latin-1") for each, text in _cookies(value) if each == cookie and text.isascii()
            ]
    return tokens + cookies


def app_cookies(value: bytes, jar: bytes = b"") -> bytes:
    """A Cookie header's value without Carrel's cookies; with a jar, only cookies in it."""
    if not jar and _OUR_COOKIES not in value:
        return value
    parts = (part.strip() for part in value.split(b";"))
    if jar:
        return b"; ".join(part.removeprefix(jar) for part in parts if part.startswith(jar))
    return b"; ".join(part for part in parts if part and not part.startswith(_OUR_COOKIES))


def host_only(value: bytes, jar: bytes = b"") -> bytes | None:
    """A Set-Cookie header's value without its Domain; None when it would set one of Carrel's cookies.

    With a jar, the cookie is prefixed and made HttpOnly, because scripts of other apps could read it.
    """
    name, *attributes = value.split(b";")
    if name.strip().startswith(_OUR_COOKIES):
        return None
    kept = [part for part in attributes if part.split(b"=", 1)[0].strip().lower() != b"domain"]
    if jar:
        return b";".join([jar + name.strip(), *kept, b" HttpOnly"])
    return b";".join([name, *kept])


def is_ours(authorization: bytes) -> bool:
    """True for Carrel credentials: an app token, or a keypair or personal token sent by mistake."""
    if bearer(authorization).startswith(_OUR_TOKENS):
        return True
    scheme, _, encoded = authorization.strip().partition(b" ")
    if scheme.lower() != b"basic":
        return False
    try:
        return base64.b64decode(encoded.strip()).startswith(_ACCESS_KEY)
    except (binascii.Error, ValueError):
        return False


def bearer(authorization: bytes) -> bytes:
    """The token of an Authorization header with the Bearer scheme; empty for other schemes."""
    scheme, _, token = authorization.strip().partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else b""


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
