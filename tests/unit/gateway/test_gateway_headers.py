"""What crosses the gateway, header by header."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.gateway import headers
from carrel.gateway.app_routes import SessionApp, place_of


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("jupyter-abcdefghijkl.localhost:8701", SessionApp("jupyter", "abcdefghijkl")),
        ("Jupyter-ABCDEFGHIJKL.LocalHost", SessionApp("jupyter", "abcdefghijkl")),
        ("tensor-board-abcdefghijkl.localhost", SessionApp("tensor-board", "abcdefghijkl")),
        ("jupyter-abcdefghijkl.localhost.evil.example", None),
        ("jupyter-abcdefghijkl.evil.example", None),
        ("x.jupyter-abcdefghijkl.localhost", None),
        ("jupyter-abc.localhost", None),
        ("-abcdefghijkl.localhost", None),
        ("abcdefghijkl.localhost", None),
        ("localhost:8701", None),
        ("[::1]:8701", None),
        ("[::1]", None),
        ("", None),
    ],
)
def test_host_names_one_app_of_one_session_or_nothing(host: str, expected: SessionApp | None) -> None:
    assert place_of(host, "localhost") == expected


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (b"a=1; b=2", b"a=1; b=2"),
        (b"carrel_app_web-abcdefghijkl=x", b""),
        (b"a=1;carrel_app_web-abcdefghijkl=x;  carrel_session=y ; b=2", b"a=1; b=2"),
        (b"xcarrel_app=mine", b"xcarrel_app=mine"),
    ],
)
def test_our_cookies_stay_out(sent: bytes, kept: bytes) -> None:
    assert headers.app_cookies(sent) == kept


JAR = b"carrel_of_web-abcdefghijkl_"


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (b"%bid=1; id=2; %bx=3" % (JAR, JAR), b"id=1; x=3"),
        (b"carrel_of_web-zzzzzzzzzzzz_id=1; carrel_session=y", b""),
        (b"a=1", b""),
    ],
)
def test_where_apps_share_a_host_each_gets_what_is_in_its_jar(sent: bytes, kept: bytes) -> None:
    assert headers.app_cookies(sent, JAR) == kept
    lines = headers.request_lines([(b"Cookie", sent)], replaced=None, jar=JAR)
    assert lines == ([b"Cookie: %b\r\n" % kept] if kept else [])


def test_where_apps_share_a_host_cookies_go_into_the_jar_out_of_reach_of_scripts() -> None:
    sent = [
        (b"Set-Cookie", b" id=1; Path=/; Domain=x"),
        (b"Set-Cookie", b"carrel_session=1"),
        (b"Clear-Site-Data", b"x"),
    ]
    kept = b"Set-Cookie: %bid=1; Path=/; HttpOnly\r\n" % JAR
    assert headers.response_lines(sent, JAR) == [kept, b"Referrer-Policy: same-origin\r\n"]


@pytest.mark.parametrize(
    ("value", "ours"),
    [
        (b"Basic Q0tBQkM6c2VjcmV0", True),
        (b"basic   Q0tBQkM6c2VjcmV0", True),
        (b"Basic dXNlcjpwYXNz", False),
        (b"Basic !!!", False),
        (b"Bearer Q0tBQkM6c2VjcmV0", False),
        (b"Bearer carrel_app_x", True),
        (b"bearer  carrel_personal", True),
        (b"token carrel_personal", False),
        (b"", False),
    ],
)
def test_credentials_of_carrel_are_recognised(value: bytes, ours: bool) -> None:
    assert headers.is_ours(value) is ours


def test_only_connections_own_headers_go_when_it_names_them() -> None:
    sent = [
        (b"Connection", b"close, X-Hop, Host, Cookie"),
        (b"X-Hop", b"1"),
        (b"Host", b"h"),
        (b"Cookie", b"a=1"),
    ]
    assert headers.request_lines(sent, replaced=None) == [b"Host: h\r\n", b"Cookie: a=1\r\n"]


_ATTRIBUTE = st.sampled_from(
    [b"Path=/", b"Secure", b"HttpOnly", b"Domain=localhost", b" domain =x", b"DOMAIN="]
)


@given(st.binary(max_size=20).filter(lambda name: b";" not in name), st.lists(_ATTRIBUTE, max_size=5))
def test_no_cookie_keeps_a_domain(pair: bytes, attributes: list[bytes]) -> None:
    kept = headers.host_only(b"; ".join([pair, *attributes]))
    if pair.strip().startswith(b"carrel_"):
        assert kept is None
    else:
        assert kept is not None
        assert not [part for part in kept.split(b";")[1:] if part.strip().lower().startswith(b"domain")]
        assert kept.split(b";")[0] == pair


def test_a_cookie_of_the_gateway_joins_those_of_the_browser_and_replaces_its_namesake() -> None:
    sent = [(b"Accept", b"*/*"), (b"Cookie", b"theme=dark;session=stolen; carrel_grant=x")]
    line = headers.with_cookies(b"Cookie: session=secret\r\n", sent)
    assert line == b"Cookie: session=secret; theme=dark\r\n"
    assert headers.with_cookies(b"Cookie: session=secret\r\n", []) == b"Cookie: session=secret\r\n"
