"""Which certificates and keys are refused before anything starts, and what addresses are with one."""

import json
import ssl
import threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from own_authority import certificates

from carrel.core.errors import Invalid
from carrel.server import certificate
from carrel.server.grammar import parse
from carrel.server.remembered import effective_settings
from carrel.server.settings import Settings
from carrel.server.up import answers

NOW = datetime.now(UTC)


def refusal(folder: Path, key: Path | None = None) -> str:
    with pytest.raises(Invalid) as refused:
        certificate.require(str(folder / "server.pem"), str(key or folder / "server.key"), now=NOW)
    assert refused.value.code == "setup.tls"
    assert refused.value.hint
    return refused.value.message


def test_a_good_pair_is_taken_with_its_names(tmp_path: Path) -> None:
    certificates(tmp_path, "carrel.test", "*.apps.carrel.test")
    pair = certificate.require(str(tmp_path / "server.pem"), str(tmp_path / "server.key"), now=NOW)
    assert pair.names == ("carrel.test", "*.apps.carrel.test", "127.0.0.1")
    assert [pair.covers(host) for host in ("Carrel.test", "a.apps.carrel.test", "127.0.0.1")] == [True] * 3
    assert [pair.covers(host) for host in ("x.test", "a.b.apps.carrel.test", "apps.carrel.test")] == [
        False
    ] * 3


def test_a_key_of_another_certificate_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    certificates(tmp_path)
    certificates(other)
    assert "does not belong to the first certificate in" in refusal(tmp_path, other / "server.key")


@pytest.mark.parametrize(("days", "message"), [((-9, -2), "expired on"), ((2, 9), "is not valid before")])
def test_a_certificate_that_does_not_hold_now_is_refused(
    tmp_path: Path, days: tuple[int, int], message: str
) -> None:
    certificates(tmp_path, days=days)
    assert message in refusal(tmp_path)


def test_what_is_no_certificate_and_no_key_is_refused(tmp_path: Path) -> None:
    certificates(tmp_path)
    (tmp_path / "junk").write_text("junk\n")
    (tmp_path / "junk").chmod(0o600)
    assert "holds no private key" in refusal(tmp_path, tmp_path / "junk")
    (tmp_path / "server.pem").write_text("junk\n")
    assert "contains no PEM certificate" in refusal(tmp_path)


def test_a_key_with_a_password_is_refused_and_nobody_is_asked_for_it(tmp_path: Path) -> None:
    certificates(tmp_path)
    key = serialization.load_pem_private_key((tmp_path / "server.key").read_bytes(), None)
    (tmp_path / "server.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    assert "without a password" in refusal(tmp_path)


def test_the_address_is_the_certificates_first_name_where_the_host_says_nothing(tmp_path: Path) -> None:
    certificates(tmp_path, "*.apps.carrel.test", "carrel.test")
    files = {"tls_cert": str(tmp_path / "server.pem"), "tls_key": str(tmp_path / "server.key")}
    settings = Settings(host="0.0.0.0", port=443, gateway_port=8443, apps_domain="apps.carrel.test", **files)
    assert settings.effective_public_url == "https://carrel.test"
    assert settings.effective_apps_url == "https://apps.carrel.test:8443"
    assert Settings(host="192.0.2.7", **files).effective_public_url == "https://192.0.2.7:8700"
    assert Settings(host="2001:db8::7").effective_public_url == "http://[2001:db8::7]:8700"
    assert Settings(port=80).effective_public_url == "http://localhost"


def test_a_relative_path_is_of_where_it_was_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Settings(tls_cert="server.pem").tls_cert == str(tmp_path / "server.pem")


def test_the_two_are_remembered_and_forgotten_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificates(tmp_path)
    files = {"CARREL_TLS_CERT": str(tmp_path / "server.pem"), "CARREL_TLS_KEY": str(tmp_path / "server.key")}
    (tmp_path / "run.json").write_text(json.dumps({"environment": files}))

    def settled(*options: str) -> tuple[str, str]:
        settings = effective_settings(parse(["up", "--data-dir", str(tmp_path), *options]))
        return settings.tls_cert, settings.tls_key

    assert settled() == (files["CARREL_TLS_CERT"], files["CARREL_TLS_KEY"])
    assert settled("--no-tls") == ("", "")
    monkeypatch.setenv("CARREL_TLS_CERT", "")
    assert settled() == ("", "")


class _Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


def test_our_own_port_is_asked_whatever_name_its_certificate_is_for(tmp_path: Path) -> None:
    certificates(tmp_path, "carrel.test")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "server.pem", tmp_path / "server.key")
    with HTTPServer(("127.0.0.1", 0), _Healthy) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        reached = [
            answers("127.0.0.1", server.server_port, path, scheme="https") for path in ("/health", "/no")
        ]
        server.shutdown()
    assert reached == [True, False]
