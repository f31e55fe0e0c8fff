"""What `carrel up` sets up before it serves, as far as it can be told without installing anything."""

import http.server
import socket
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.core.errors import Unavailable
from carrel.server.bootstrap import authorities, image_build, packages, recipes
from carrel.server.bootstrap.engine_setup import find_or_install_engine, ping

_CERTIFICATE = "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n"


class _Ping(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/_ping" else 404)
        self.end_headers()
        self.wfile.write(b"OK")

    def address_string(self) -> str:
        return "a unix socket has none"

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def engine_socket(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "engine.sock"
    with socketserver.UnixStreamServer(str(path), _Ping) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield path
        server.shutdown()
        thread.join()


def _refuse(_: str) -> bool:
    return False


def _silent(_: str) -> None:
    pass


def test_the_engine_named_by_docker_host_is_used(
    engine_socket: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{engine_socket}")
    assert (
        find_or_install_engine(data_dir=tmp_path, consent=_refuse, say=_silent) == f"unix://{engine_socket}"
    )


@pytest.mark.parametrize("address", ["unix:///nowhere/engine.sock", "tcp://127.0.0.1:1", "ssh://somewhere"])
def test_a_docker_host_that_does_not_answer_is_named_and_nothing_else_is_tried(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    with pytest.raises(Unavailable) as refused:
        find_or_install_engine(data_dir=tmp_path, consent=_refuse, say=_silent)
    assert refused.value.code == "engine.unreachable"
    assert address in refused.value.message


def test_a_socket_that_accepts_and_says_nothing_is_no_engine(tmp_path: Path) -> None:
    path = tmp_path / "mute.sock"
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(path))
        mute.listen()
        assert isinstance(ping(f"unix://{path}", timeout_s=0.05), TimeoutError)


def test_without_consent_nothing_is_installed_and_the_command_is_told() -> None:
    questions: list[str] = []

    def refuse(question: str) -> bool:
        questions.append(question)
        return False

    with pytest.raises(Unavailable) as refused:
        packages.install(["no-such-package"], purpose="a test", consent=refuse, say=_silent)
    assert refused.value.code == packages.NEEDS_CONSENT
    assert "apt-get install --no-install-recommends no-such-package" in refused.value.hint
    assert questions == [] or "no-such-package" in questions[0]


def test_only_authorities_beyond_the_public_ones_are_taken_and_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = sorted(Path("/usr/share/ca-certificates/mozilla").glob("*.crt"))[0].read_text()
    ours, ours_broken_otherwise = _CERTIFICATE.format("QUJD"), _CERTIFICATE.format("QU\nJD")
    bundle = tmp_path / "bundle.pem"
    bundle.write_text(f"# ours\n{ours}{public}{ours_broken_otherwise}")
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    taken = list(authorities.extra_authorities().values())
    assert taken.count(ours.encode()) == 1
    assert ours_broken_otherwise.encode() not in taken
    assert public.strip().encode() not in b"".join(taken)


def test_each_step_of_the_recipe_has_its_title() -> None:
    lines = ["# about the file", "", "ARG BASE", "# reading", "FROM x", ""]
    lines += ["# first", "# second", "RUN a; \\", "    # inside", "    b", "CMD c"]
    assert image_build.step_titles({"Dockerfile": "\n".join(lines).encode()}) == ["", "reading", "first", ""]


def test_the_recipe_is_whole() -> None:
    recipe = recipes.read_recipe("starter")
    copied = {"profile.sh", "uv.txt", "jupyter.txt", "venv.txt", "kernel.json", "jupyter_server_config.py"}
    assert copied <= recipe.keys()
    assert b"sha256:" in recipe["jupyter.txt"]
    titles = image_build.step_titles(recipe)
    assert "installing Debian packages" in titles
