"""The page's files: cached for as long as they are true, and nothing but them."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from installation import serving

from carrel.http import problems
from carrel.http.shell import Shell
from carrel.server import page


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A build, with a secret beside it."""
    root = tmp_path / "dist"
    (root / "assets").mkdir(parents=True)
    (root / "index.html").write_text("<!doctype html><title>Carrel</title>")
    (root / "favicon.svg").write_text("<svg/>")
    (root / "assets" / "app-1a2b.js").write_text("run()")
    (tmp_path / "secret").write_text("hidden")
    (root / "link").symlink_to(tmp_path / "secret")
    return root


@pytest.fixture
async def client(built: Path) -> AsyncIterator[httpx2.AsyncClient]:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    problems.install(app)
    page.install(app, built)
    app.add_middleware(Shell)
    async with serving(app) as url, httpx2.AsyncClient(base_url=url) as client:
        yield client


async def test_every_address_of_the_page_is_its_index(client: httpx2.AsyncClient):
    for path in (
        "/",
        "/sessions",
        "/sessions/",
        "/terminal/abc",
        "/data/f1",
        "/help/howto/limits",
        "/settings/two-factor",
        "/index.html",
    ):
        answer = await client.get(path)
        assert (answer.status_code, answer.text) == (200, "<!doctype html><title>Carrel</title>"), path
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["cache-control"] == "no-cache"


async def test_an_address_of_no_page_is_not_found_and_shows_the_page_that_says_so(client: httpx2.AsyncClient):
    for path in (
        "/sessions/abc/terminal",
        "/no.such.file",
        "/wp-login.php",
        "/settings/nonesuch",
        "/data/a/b",
    ):
        answer = await client.get(path, headers={"If-Modified-Since": "Fri, 31 Dec 2100 00:00:00 GMT"})
        assert (answer.status_code, answer.text) == (404, "<!doctype html><title>Carrel</title>"), path
        assert answer.headers["cache-control"] == "no-cache"


def test_the_server_knows_the_addresses_of_the_page():
    router = (Path(__file__).parents[3] / "web/src/app/router.tsx").read_text()
    paths = re.findall(r'^  path: "([^"]+)"', router, re.MULTILINE)
    absolute = {path if path.startswith("/") else f"/settings/{path}" for path in paths}
    assert {_served(path) for path in absolute} | {"/index.html"} == set(page.PAGES)


def _served(path: str) -> str:
    """`/data/$folder` of the router as `/data/$`, and `/help/$`, which has more than one part, as `/help/**`."""
    return path.removesuffix("$") + "**" if path.endswith("/$") else re.sub(r"[$][a-z]+", "$", path)


async def test_what_is_unchanged_is_not_sent_again(client: httpx2.AsyncClient, built: Path):
    first = await client.get("/")
    for header, value in (
        ("If-None-Match", first.headers["etag"]),
        ("If-Modified-Since", first.headers["last-modified"]),
    ):
        again = await client.get("/", headers={header: value})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["cache-control"] == "no-cache"
    (built / "index.html").write_text("<!doctype html><title>Another</title>")
    assert (await client.get("/", headers={"If-None-Match": first.headers["etag"]})).status_code == 200


async def test_assets_are_kept_for_ever_and_missed_ones_are_not_the_index(client: httpx2.AsyncClient):
    answer = await client.get("/assets/app-1a2b.js")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "javascript" in answer.headers["content-type"]
    missed = await client.get("/assets/app-0000.js")
    assert (missed.status_code, missed.json()["code"]) == (404, "http.not_found")


@pytest.mark.parametrize(
    ("accepted", "coding", "content"),
    [
        ("gzip, deflate, br, zstd", "br", b"as brotli"),
        ("gzip;q=0.8", "gzip", b"as gzip"),
        ("br;q=0, gzip", "gzip", b"as gzip"),
        ("", None, b"run()"),
        ("identity", None, b"run()"),
    ],
)
async def test_text_is_sent_as_the_build_compressed_it(
    client: httpx2.AsyncClient, built: Path, accepted: str, coding: str | None, content: bytes
):
    app = built / "assets" / "app-1a2b.js"
    app.with_name("app-1a2b.js.br").write_bytes(b"as brotli")
    app.with_name("app-1a2b.js.gz").write_bytes(b"as gzip")
    async with client.stream("GET", "/assets/app-1a2b.js", headers={"Accept-Encoding": accepted}) as answer:
        assert b"".join([piece async for piece in answer.aiter_raw()]) == content
    assert answer.headers.get("content-encoding") == coding
    assert answer.headers["vary"] == "Accept-Encoding"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    headers = {"Accept-Encoding": accepted, "If-None-Match": answer.headers["etag"]}
    assert (await client.get("/assets/app-1a2b.js", headers=headers)).status_code == 304
    plain = await client.get("/assets/app-1a2b.js", headers={"Accept-Encoding": "identity"})
    assert coding is None or plain.headers["etag"] != answer.headers["etag"]


async def test_head_is_get_without_the_body(client: httpx2.AsyncClient):
    answer = await client.head("/favicon.svg")
    assert (answer.status_code, answer.content, answer.headers["content-length"]) == (200, b"", "6")


async def test_pages_cannot_be_framed_or_fed_with_scripts(client: httpx2.AsyncClient):
    for path in ("/", "/assets/app-1a2b.js", "/api/nothing"):
        headers = (await client.get(path)).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'self'"
        assert policy["frame-ancestors"] == "'none'"
        assert policy["object-src"] == "'none'"
        assert policy["base-uri"] == "'none'"
        assert "script-src" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin-allow-popups"
        assert len(headers["x-request-id"]) == 16


async def raw(client: httpx2.AsyncClient, path: bytes) -> bytes:
    """The answer to exactly this path; clients would tidy it up."""
    assert client.base_url.port
    reader, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
    writer.write(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize(
    "path",
    [
        b"/../secret",
        b"/../../../../etc/passwd",
        b"/%2e%2e/secret",
        b"/..%2fsecret",
        b"/assets/..%2f..%2fsecret",
        b"//etc/passwd",
        b"///etc/passwd",
        b"/%2fetc%2fpasswd",
        b"/..\\secret",
        b"/%00",
        b"/a%00/../secret",
        b"/link",
        b"/" + b"a" * 5000,
        b"/assets/../../secret",
        b"/%ff%fe",
        b"/./././../secret",
    ],
)
async def test_nothing_beside_the_build_can_be_had(client: httpx2.AsyncClient, path: bytes):
    answer = await raw(client, path)
    assert answer.split(b" ", 2)[1] in (b"200", b"404", b"400"), answer[:200]
    assert b"hidden" not in answer
    assert b"root:" not in answer


async def test_a_page_that_is_not_built_is_said_so(tmp_path: Path):
    app = FastAPI(openapi_url=None)
    page.install(app, tmp_path / "nowhere")
    async with serving(app) as url, httpx2.AsyncClient(base_url=url) as client:
        answer = await client.get("/")
        assert (answer.status_code, "not built" in answer.text) == (503, True)
