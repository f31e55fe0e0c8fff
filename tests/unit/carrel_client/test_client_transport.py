"""Requests of the SDK against servers that answer, misbehave, or are not there."""

import socket

import pytest
from carrel_client import CarrelError
from carrel_client.client import ApiClient
from carrel_client.transport import Transport
from carrel_client.wire import Connection, ServerAddress
from people import wait_until
from scripted_server import answer, api_server, wire_server

from carrel.builds import git_fetch
from carrel.folders.files.folder_access import LONG_S


def _transport(url: str, *, timeout_s: float = 5.0, pauses: list[float] | None = None) -> Transport:
    return Transport(
        url,
        keypair=("AK", "secret"),
        timeout_s=timeout_s,
        pause=(pauses if pauses is not None else []).append,
    )


def _get(url: str, path: str = "/") -> bytes:
    connection = Connection(ServerAddress(url), connect_timeout_s=5)
    try:
        return connection.ask("GET", path, {}, None, timeout_s=5).read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("bytes_sent", "body"),
    [
        (answer(b"whole"), b"whole"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: r\r\n\r\n",
            b"abcde",
        ),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", b"until the end"),
        (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + answer(b"after"), b"after"),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", b""),
    ],
)
def test_a_body_is_read_however_its_end_is_marked(bytes_sent: bytes, body: bytes) -> None:
    with wire_server([bytes_sent]) as wire:
        assert _get(wire.url) == body


@pytest.mark.parametrize(
    "bytes_sent",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nbroken",
        b"",
    ],
)
def test_a_broken_answer_is_an_error_and_never_half_a_body(bytes_sent: bytes) -> None:
    with wire_server([bytes_sent]) as wire, pytest.raises(ConnectionError):
        _get(wire.url)


def test_a_problem_becomes_an_error_with_its_code_hint_and_field() -> None:
    problem = {
        "code": "session.name_taken",
        "detail": "Taken.",
        "hint": "Another.",
        "field": "name",
        "request_id": "r1",
    }
    with wire_server([answer(problem, status="409 Conflict")]) as wire, pytest.raises(CarrelError) as raised:
        _transport(wire.url).call("POST", "/x", body={}, key="k")
    error = raised.value
    assert (error.code, error.detail, error.hint, error.field, error.status, error.request_id) == (
        "session.name_taken",
        "Taken.",
        "Another.",
        "name",
        409,
        "r1",
    )


def test_an_error_that_is_no_problem_is_still_readable() -> None:
    page = answer(b"<h1>Bad gateway</h1>", status="502 Bad Gateway")
    with wire_server([page]) as wire, pytest.raises(CarrelError) as raised:
        _transport(wire.url).call("GET", "/x")
    assert (raised.value.code, raised.value.status) == ("http.502", 502)


def test_a_page_in_place_of_the_api_is_named_as_such() -> None:
    with wire_server([answer(b"<!doctype html>")]) as wire, pytest.raises(CarrelError) as raised:
        _transport(wire.url).call("GET", "/x")
    assert raised.value.code == "client.not_carrel"


def test_a_redirect_says_where_the_server_is() -> None:
    moved = answer(status="308 Permanent Redirect", headers="Location: https://elsewhere.example/\r\n")
    with wire_server([moved]) as wire, pytest.raises(CarrelError) as raised:
        _transport(wire.url).call("GET", "/x")
    assert "https://elsewhere.example/" in raised.value.detail


def test_requests_share_a_kept_connection() -> None:
    with wire_server([answer([1]), answer([2])]) as wire:
        transport = _transport(wire.url)
        assert [transport.call("GET", "/a"), transport.call("GET", "/b")] == [[1], [2]]


def test_a_kept_connection_that_went_stale_is_replaced_without_a_pause() -> None:
    pauses: list[float] = []
    with wire_server([answer([1])], [answer([2])]) as wire:
        transport = _transport(wire.url, pauses=pauses)
        transport.call("GET", "/a")
        assert transport.call("GET", "/b") == [2]
    assert pauses == []


def test_a_create_is_repeated_with_the_same_key_after_the_connection_breaks() -> None:
    pauses: list[float] = []
    with wire_server([b""], [b""], [answer({"id": "s"}, status="201 Created")]) as wire:
        client = ApiClient(wire.url, "AK", "secret")
        client.transport._pause = pauses.append
        client.sessions.create(image="starter", slots={"cpu": 1, "mem": 1})
    keys = [
        line
        for request in wire.requests
        for line in request.split(b"\r\n")
        if line.startswith(b"Idempotency")
    ]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert pauses == sorted(pauses)
    assert len(pauses) == 2


def test_a_post_without_a_key_is_sent_once() -> None:
    with wire_server([b""], [answer({})]) as wire, pytest.raises(CarrelError) as raised:
        _transport(wire.url).call("POST", "/x")
    assert raised.value.code == "client.unreachable"
    assert len(wire.requests) == 1


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_bytes_are_sent_once_also_over_a_kept_connection(method: str) -> None:
    # The second answer is lost: the server may have done it.
    with wire_server([answer(1), b""], [answer(b"x")]) as wire:
        transport = _transport(wire.url)
        transport.call("GET", "/x")
        with pytest.raises(CarrelError, match=r"client\.unreachable"):
            transport.exchange(method, "/x", body=b"y")
        assert len(wire.requests) == 2


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_bytes_do_not_go_over_a_connection_that_is_closed(method: str) -> None:
    with wire_server([answer(1)], [answer(b"x")]) as wire:
        transport = _transport(wire.url)
        transport.call("GET", "/x")
        wait_until(lambda: not transport._idle[0].quiet)
        assert transport.exchange(method, "/x", body=b"y")[1] == b"x"


def test_few_connections_are_kept() -> None:
    with api_server({"POST /x": (200, {})}) as api:
        transport = _transport(api.url)
        for _ in range(40):
            transport.call("POST", "/x")
        assert 0 < len(transport._idle) < 40
        transport.close()


def test_nobody_listening_is_unreachable_after_bounded_tries() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    pauses: list[float] = []
    with pytest.raises(CarrelError) as raised:
        _transport(f"http://127.0.0.1:{port}", pauses=pauses).call("GET", "/x")
    assert raised.value.code == "client.unreachable"
    assert raised.value.status == 503
    assert len(pauses) == 2


def test_silence_is_a_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(CarrelError) as raised:
            _transport(url, timeout_s=0.05).call("GET", "/x")
    assert (raised.value.code, raised.value.status) == ("client.timeout", 504)


def test_what_the_server_reads_first_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []
    monkeypatch.setattr(Transport, "call", lambda transport, *_, **__: limits.append(transport.timeout_s))
    with ApiClient("http://127.0.0.1:9") as client:
        client.environments.fetch_context(url="https://git.example.org/lab")
        client.environments.read_context(folder="data")
        client.environments.quotas()
    assert limits[0] > git_fetch.LONGEST_S
    assert limits[1] > LONG_S
    assert limits[2] == 60


def test_a_proxy_is_asked_for_a_tunnel_and_shown_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    with wire_server([b"HTTP/1.1 200 Connection established\r\n\r\n", answer([7])]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("http://", "http://me:pa%40ss@"))
        monkeypatch.delenv("no_proxy", raising=False)
        assert _transport("http://carrel.invalid:8700").call("GET", "/x") == [7]
    assert proxy.requests[0].startswith(b"CONNECT carrel.invalid:8700 HTTP/1.1")
    assert b"Proxy-Authorization: Basic bWU6cGFAc3M=" in proxy.requests[0]
    assert b"secret" not in proxy.requests[0]


def test_no_proxy_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with wire_server([answer([7])]) as wire:
        assert _transport(wire.url).call("GET", "/x") == [7]


@pytest.mark.parametrize(
    "url", ["ftp://host", "carrel.example", "http://", "http://user@host", "http://host/?q=1"]
)
def test_an_address_that_cannot_be_one_is_refused(url: str) -> None:
    with pytest.raises(CarrelError) as raised:
        ApiClient(url)
    assert raised.value.code == "client.bad_url"


def test_a_path_in_front_is_kept_and_segments_are_quoted() -> None:
    with wire_server([answer({})]) as wire:
        ApiClient(f"{wire.url}/behind/", "AK", "s").sessions.show("a/b c")
    assert wire.requests[0].startswith(b"GET /behind/api/v1/sessions/a%2Fb%20c HTTP/1.1")
