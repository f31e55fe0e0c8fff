"""What apps send uncompressed is compressed on its way to browsers that take it; everything else passes as it is."""

import gzip

import pytest
from aiohttp import web
from gateway_kit import Gate, gate

from carrel.core.ids import SessionId

__all__ = ["gate"]

SCRIPT = b"const answer = 6 * 7;\n" * 20_000


async def assets(request: web.Request) -> web.StreamResponse:
    headers = {"ETag": '"1"', "Accept-Ranges": "bytes", "Cache-Control": "max-age=60"}
    match request.path:
        case "/lab.js" | "/lab":
            kind = "text/javascript" if request.path == "/lab.js" else "text/html"
            return web.Response(body=SCRIPT, content_type=kind, headers=headers)
        case "/small.js":
            return web.Response(body=SCRIPT[:100], content_type="text/javascript", headers=headers)
        case "/image.png":
            return web.Response(body=SCRIPT, content_type="image/png", headers=headers)
        case "/packed.js":
            packed = {**headers, "Content-Encoding": "br"}
            return web.Response(body=SCRIPT, content_type="text/javascript", headers=packed)
        case "/exact.js":
            exact = {**headers, "Cache-Control": "no-transform"}
            return web.Response(body=SCRIPT, content_type="text/javascript", headers=exact)
        case "/part.js":
            return web.Response(status=206, body=SCRIPT, content_type="text/javascript", headers=headers)
    stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await stream.prepare(request)
    await stream.write(SCRIPT)
    return stream


@pytest.fixture
async def app(gate: Gate) -> tuple[SessionId, str]:
    """A session with these assets, and the cookie that opens it."""
    session = await gate.session(await gate.app(assets))
    return session, await gate.cookie(session)


@pytest.mark.parametrize("path", ["/lab.js", "/lab"])
async def test_text_of_an_app_is_compressed(gate: Gate, app: tuple[SessionId, str], path: str) -> None:
    session, cookie = app
    answer = await gate.get(session, path, cookie=cookie, headers={"Accept-Encoding": "br, gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert "Content-Length" not in answer.headers
    assert "Accept-Ranges" not in answer.headers
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert answer.headers["ETag"] == 'W/"1"'
    assert answer.headers["Cache-Control"] == "max-age=60"
    assert gzip.decompress(answer.body) == SCRIPT
    assert len(answer.body) < len(SCRIPT) / 10


@pytest.mark.parametrize(
    "path", ["/small.js", "/image.png", "/packed.js", "/exact.js", "/part.js", "/stream"]
)
async def test_other_answers_pass_as_they_are(gate: Gate, app: tuple[SessionId, str], path: str) -> None:
    session, cookie = app
    answer = await gate.get(session, path, cookie=cookie, headers={"Accept-Encoding": "gzip"})
    assert answer.headers.get("Content-Encoding") == ("br" if path == "/packed.js" else None)
    assert answer.body == (SCRIPT[:100] if path == "/small.js" else SCRIPT)


@pytest.mark.parametrize("accepted", ["identity", "br", "gzip;q=0"])
async def test_nobody_gets_what_they_do_not_take(
    gate: Gate, app: tuple[SessionId, str], accepted: str
) -> None:
    session, cookie = app
    answer = await gate.get(session, "/lab.js", cookie=cookie, headers={"Accept-Encoding": accepted})
    assert "Content-Encoding" not in answer.headers
    assert answer.headers["Content-Length"] == str(len(SCRIPT))
    assert answer.body == SCRIPT


async def test_the_head_alone_is_the_apps(gate: Gate, app: tuple[SessionId, str]) -> None:
    session, cookie = app
    answer = await gate.get(
        session, "/lab.js", cookie=cookie, method="HEAD", headers={"Accept-Encoding": "gzip"}
    )
    assert answer.headers["Content-Length"] == str(len(SCRIPT))
    assert answer.body == b""


async def test_a_large_text_is_a_download_and_keeps_its_length(
    gate: Gate, app: tuple[SessionId, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.gateway.compression.MOST_BYTES", len(SCRIPT) - 1)
    session, cookie = app
    answer = await gate.get(session, "/lab.js", cookie=cookie, headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in answer.headers
    assert int(answer.headers["Content-Length"]) == len(SCRIPT)
