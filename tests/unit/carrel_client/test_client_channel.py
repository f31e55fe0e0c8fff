"""Commands and terminals over WebSockets, against a server that pushes back."""

import itertools
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from carrel_client import CarrelError
from carrel_client.channel import ChannelBroken
from carrel_client.client import ApiClient
from carrel_client.execution import STDERR, STDOUT, RemoteTerminal
from carrel_client.forwarding import Forward, LocalPorts
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

_SIZE = 10 << 20


@contextmanager
def _socket_server(
    handler: Callable[[ServerConnection], None],
    refuse: Callable[[ServerConnection, Request], Response | None] | None = None,
) -> Iterator[ApiClient]:
    listener = socket.create_server(("127.0.0.1", 0))
    # Small, so that a few megabytes are more than the kernel holds between the two sides.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
    with serve(handler, sock=listener, process_request=refuse, max_size=None, compression=None) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        port = server.socket.getsockname()[1]
        yield ApiClient(f"http://127.0.0.1:{port}", "AK", "secret", timeout_s=10)
        server.shutdown()
        thread.join(5)


def _cat(peer: ServerConnection) -> None:
    """Echoes, and reads nothing while what it echoes is not taken."""
    json.loads(peer.recv())
    for message in peer:
        if isinstance(message, str):
            break
        peer.send(b"\x01" + message)
    peer.send('{"type":"exit","code":0}')


def test_ten_megabytes_go_both_ways_at_once() -> None:
    content = bytes(range(256)) * (_SIZE // 256)
    with _socket_server(_cat) as client:
        done = client.sessions.run("s", ["cat"], stdin=content)
    assert done.exit_code == 0
    assert done.stdout == content


def test_a_greeting_that_arrives_with_the_first_message_reaches_the_local_program() -> None:
    def greet(peer: ServerConnection) -> None:
        with peer.protocol_mutex:  # both, and the end, in one block
            peer.protocol.send_text(b'{"type":"ready"}')
            peer.protocol.send_binary(b"220 hello")
            peer.protocol.send_close(1000)
            peer.socket.sendall(b"".join(peer.protocol.data_to_send()))

    with _socket_server(greet) as client:
        ports = LocalPorts(client.transport, "s", [Forward(0, 25)])
        threading.Thread(target=ports.run, daemon=True).start()
        with socket.create_connection(("127.0.0.1", ports.forwards[0].local), 10) as local:
            assert local.recv(100) == b"220 hello"
        ports.close()


def test_ports_end_quietly_when_another_thread_closes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[threading.Thread | None] = []
    monkeypatch.setattr(threading, "excepthook", lambda of: failed.append(of.thread))
    with _socket_server(_cat) as client:
        for used in (False, True):
            ports = LocalPorts(client.transport, "s", [Forward(0, 25), Forward(0, 26)])
            running = threading.Thread(target=ports.run, daemon=True)
            running.start()
            if used:
                socket.create_connection(("127.0.0.1", ports.forwards[0].local), 10).close()
            ports.close()
            ports.close()
            running.join(10)
            assert not running.is_alive()
            assert running not in failed
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", ports.forwards[0].local), 10)


def test_streams_and_the_exit_code_arrive_apart() -> None:
    def handler(peer: ServerConnection) -> None:
        assert json.loads(peer.recv())["command"] == ["sh", "-c", "x"]
        peer.send(b"\x01out")
        peer.send(b"\x02err")
        peer.send([b"\x01in ", b"parts"])
        peer.send('{"type":"exit","code":7}')

    with _socket_server(handler) as client, client.sessions.exec("s", ["sh", "-c", "x"]) as execution:
        outputs = list(execution)
    assert outputs == [(STDOUT, b"out"), (STDERR, b"err"), (STDOUT, b"in parts")]
    assert execution.exit_code == 7


@pytest.mark.parametrize(("close", "status"), [(4401, 401), (4403, 403), (4404, 404), (4409, 409)])
def test_a_refusal_by_close_code_is_the_error_that_http_would_give(close: int, status: int) -> None:
    def handler(peer: ServerConnection) -> None:
        peer.close(close, '{"code":"session.some","detail":"No."}')

    with _socket_server(handler) as client, pytest.raises(CarrelError) as raised:
        client.sessions.run("s", ["true"])
    assert (raised.value.code, raised.value.detail, raised.value.status) == ("session.some", "No.", status)


def test_a_refusal_before_the_handshake_is_the_problem_in_its_body() -> None:
    def refuse(peer: ServerConnection, request: Request) -> Response:
        assert request.headers["Authorization"] == "Basic QUs6c2VjcmV0"
        assert "Origin" not in request.headers
        body = b'{"code":"session.not_found","detail":"There is none."}'
        return Response(404, "Not Found", Headers({"Content-Length": str(len(body))}), body)

    with _socket_server(lambda peer: None, refuse) as client, pytest.raises(CarrelError) as raised:
        client.sessions.run("s", ["true"])
    assert (raised.value.code, raised.value.status) == ("session.not_found", 404)


def test_a_command_whose_connection_breaks_is_an_error_and_no_exit_code() -> None:
    def handler(peer: ServerConnection) -> None:
        peer.recv()
        peer.send(b"\x01half")
        peer.socket.shutdown(socket.SHUT_RDWR)

    with _socket_server(handler) as client, pytest.raises(CarrelError) as raised:
        client.sessions.run("s", ["true"])
    assert (raised.value.code, raised.value.status) == ("client.connection_lost", 503)


def test_nobody_listening_is_unreachable() -> None:
    with pytest.raises(CarrelError) as raised:
        ApiClient("http://127.0.0.1:9", "AK", "s").sessions.run("s", ["true"])
    assert raised.value.code == "client.unreachable"


def _until(terminal: RemoteTerminal, expected: bytes) -> bytes:
    seen = b""
    while expected not in seen:
        outputs, _ = terminal.step(timeout_s=5)
        seen += b"".join(output.content for output in outputs)
    return seen


def test_a_terminal_joins_again_where_its_output_stopped() -> None:
    paths: list[str] = []

    def handler(peer: ServerConnection) -> None:
        assert peer.request is not None
        paths.append(peer.request.path)
        if len(paths) == 1:
            peer.send('{"type":"ready","terminal":"t1","offset":100}')
            peer.send(b"12345")
            peer.recv()
            peer.socket.shutdown(socket.SHUT_RDWR)
        else:
            peer.send('{"type":"ready","terminal":"t1","offset":105}')
            peer.send(b"67890")
            assert json.loads(peer.recv()) == {"type": "resize", "cols": 120, "rows": 40}
            peer.send('{"type":"exit","code":3}')

    with _socket_server(handler) as client:
        terminal = client.sessions.terminal("s", cols=80, rows=24)
        _until(terminal, b"12345")
        terminal.send(b"x")
        with pytest.raises(ChannelBroken):
            _until(terminal, b"never")
        terminal.rejoin()
        _until(terminal, b"67890")
        assert not terminal.fresh
        terminal.resize(120, 40)
        while terminal.exit_code is None:
            terminal.step(timeout_s=5)
    assert terminal.exit_code == 3
    assert "terminal=t1&offset=105" in paths[1]


def test_a_terminal_that_is_gone_says_that_its_shell_is_fresh() -> None:
    def handler(peer: ServerConnection) -> None:
        peer.send('{"type":"gone"}')
        peer.send('{"type":"ready","terminal":"t2","offset":0}')
        peer.send(b"$ ")
        try:
            peer.recv()
        except ConnectionClosed:
            pass

    with _socket_server(handler) as client:
        terminal = client.sessions.terminal("s", cols=80, rows=24, terminal_id="t1")
        _until(terminal, b"$ ")
        assert terminal.fresh
        assert terminal.id == "t2"
        terminal.close()


@pytest.fixture
def silent_terminal() -> Iterator[RemoteTerminal]:
    """A terminal whose server falls silent once it is ready; half a minute passes at each look at the clock."""
    over = threading.Event()

    def handler(peer: ServerConnection) -> None:
        peer.send('{"type":"ready","terminal":"t1","offset":0}')
        with peer.protocol_mutex:
            over.wait(20)

    ticks = itertools.count(0.0, 30.0)
    with _socket_server(handler) as client:
        terminal = client.sessions.terminal("s")
        while terminal.id is None:
            terminal.step(timeout_s=5)
        terminal._channel._clock = lambda: next(ticks)
        yield terminal
        terminal.close()
        over.set()


def _look(terminal: RemoteTerminal, times: int) -> None:
    for _ in range(times):
        terminal.step(timeout_s=0)


def test_silence_breaks_a_connection(silent_terminal: RemoteTerminal) -> None:
    with pytest.raises(ChannelBroken):
        _look(silent_terminal, 6)


def test_silence_behind_much_unread_input_is_excused(silent_terminal: RemoteTerminal) -> None:
    silent_terminal.send(bytes(1 << 20))
    _look(silent_terminal, 6)
